import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What begins with a dot is not read by dnsmasq. */
const COMPLETE = '.complete';
const isHosts = (name: string): boolean => !name.startsWith('.');

/**
 * The folder that dnsmasq looks into. Files are put there whole, by renaming: dnsmasq notices that at once, forgets what the
 * file said before and reads it again, between two answers. A link that is turned, as a kubelet does it, goes unnoticed.
 */
export class HostsFolder {
  readonly #folder: string;
  /** File → what it shall hold; nothing when it shall go. Only the newest wish of a file is carried out. */
  readonly #wanted = new Map<string, string | undefined>();
  readonly #written = new Map<string, string>();
  #work: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  put(file: string, text: string): void {
    this.#wish(file, text);
  }

  remove(file: string): void {
    this.#wish(file, undefined);
  }

  /** Says that everything is here: what an earlier run left and nobody put since is removed first. */
  async complete(): Promise<void> {
    await this.settled();
    for (const file of (await readdir(this.#folder)).filter(isHosts)) {
      if (!this.#written.has(file) && !this.#wanted.has(file)) await rm(join(this.#folder, file), { force: true });
    }
    await writeFile(join(this.#folder, COMPLETE), '');
  }

  /** Resolves when all wishes so far are carried out. */
  async settled(): Promise<void> {
    await this.#work;
  }

  #wish(file: string, text: string | undefined): void {
    const isFirst = this.#wanted.size === 0;
    this.#wanted.set(file, text);
    if (isFirst) this.#work = this.#work.then(() => this.#carryOut());
  }

  async #carryOut(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    for (;;) {
      const [next] = this.#wanted;
      if (next === undefined) return;
      const [file, text] = next;
      await this.#write(file, text);
      // Something newer may have been wished meanwhile.
      if (this.#wanted.get(file) === text) this.#wanted.delete(file);
    }
  }

  async #write(file: string, text: string | undefined): Promise<void> {
    const path = join(this.#folder, file);
    if (text === undefined) {
      this.#written.delete(file);
      await rm(path, { force: true });
    } else if (this.#written.get(file) !== text) {
      const fresh = join(this.#folder, `.${file}.new`);
      await writeFile(fresh, text, { mode: 0o644 });
      await rename(fresh, path);
      this.#written.set(file, text);
    }
  }
}
