import { mkdir, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The folder that dnsmasq looks into. Its files are links to files of the same name in a folder beside, each written whole, by
 * renaming. What dnsmasq notices is the renaming of a link: then it forgets what that file said, and reads it again, between two
 * answers. A file that is exchanged behind its link goes unnoticed, until dnsmasq is told to read everything anew; so many files
 * change in one moment, and in a fraction of the time.
 */
export class HostsFolder {
  readonly #folder: string;
  /** What the files hold. */
  readonly #written = new Map<string, string>();
  #rereads = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** What an earlier run has left is taken over. */
  static async open(folder: string): Promise<HostsFolder> {
    const opened = new HostsFolder(folder);
    await opened.#prepare();
    return opened;
  }

  get files(): readonly string[] {
    return [...this.#written.keys()];
  }

  /** What dnsmasq has to compare with everything it knows if these files are shown one by one: names that come and go. */
  weightOf(texts: ReadonlyMap<string, string>): number {
    return [...texts].reduce((sum, [file, text]) => sum + namesIn(text) + namesIn(this.#written.get(file) ?? ''), 0);
  }

  /** Each of the files at once, one after the other. */
  async show(texts: ReadonlyMap<string, string>): Promise<void> {
    for (const [file, text] of texts) {
      if (this.#holds(file, text)) continue;
      if (text === '') {
        await this.#remove(file);
      } else {
        await this.#write(file, text);
        await this.#link(file);
      }
    }
  }

  /** All of the files in the same moment: dnsmasq reads everything anew. */
  async showTogether(texts: ReadonlyMap<string, string>): Promise<void> {
    for (const [file, text] of texts) {
      if (this.#holds(file, text)) continue;
      await this.#write(file, text);
      // A new link goes unnoticed as well.
      await symlink(join(CONTENT, file), this.#path(file)).catch(unlessThere);
    }
    await this.#reread();
  }

  /** Says that everything is here. */
  async complete(): Promise<void> {
    await writeFile(this.#path(COMPLETE), '');
  }

  async #prepare(): Promise<void> {
    await mkdir(this.#path(CONTENT), { recursive: true });
    await mkdir(this.#path(REREAD), { recursive: true });
    for (const file of (await readdir(this.#path(CONTENT))).filter(isHosts)) {
      this.#written.set(file, await readFile(this.#path(CONTENT, file), 'utf8'));
    }
    const links = (await readdir(this.#folder)).filter(isHosts);
    for (const file of links.filter((each) => !this.#written.has(each))) await rm(this.#path(file));
    for (const file of this.#written.keys()) {
      if (!links.includes(file)) await symlink(join(CONTENT, file), this.#path(file));
    }
    const last = await stat(this.#path(REREAD, SERVERS)).catch(() => undefined);
    this.#rereads = Math.floor((last?.mtimeMs ?? 0) / 1000);
    if (last === undefined) await this.#reread();
  }

  #holds(file: string, text: string): boolean {
    return (this.#written.get(file) ?? '') === text;
  }

  async #remove(file: string): Promise<void> {
    await rm(this.#path(file));
    await rm(this.#path(CONTENT, file));
    this.#written.delete(file);
  }

  async #write(file: string, text: string): Promise<void> {
    await this.#exchange(this.#path(CONTENT, file), (fresh) => writeFile(fresh, text, { mode: 0o644 }));
    this.#written.set(file, text);
  }

  #link(file: string): Promise<void> {
    return this.#exchange(this.#path(file), (fresh) => symlink(join(CONTENT, file), fresh));
  }

  /**
   * dnsmasq watches a list of name servers, and reads all hosts as well when that is a newer one, in seconds, than the last. The
   * only server in it is none: dnsmasq leaves it out of its own accord.
   */
  #reread(): Promise<void> {
    this.#rereads += 1;
    return this.#exchange(this.#path(REREAD, SERVERS), async (fresh) => {
      await writeFile(fresh, 'nameserver 0.0.0.0\n', { mode: 0o644 });
      await utimes(fresh, this.#rereads, this.#rereads);
    });
  }

  async #exchange(path: string, make: (fresh: string) => Promise<void>): Promise<void> {
    const fresh = join(path, '..', FRESH);
    // An earlier run may have been ended between the two.
    await rm(fresh, { force: true });
    await make(fresh);
    await rename(fresh, path);
  }

  #path(...parts: readonly string[]): string {
    return join(this.#folder, ...parts);
  }
}

/** The file whose change makes dnsmasq read everything anew. */
export const rereadFile = (folder: string): string => join(folder, REREAD, SERVERS);

// What begins with a dot is not read by dnsmasq.
const COMPLETE = '.complete';
const CONTENT = '.content';
const FRESH = '.fresh';
const REREAD = '.reread';
const SERVERS = 'servers';
const isHosts = (name: string): boolean => !name.startsWith('.');

const namesIn = (text: string): number => text.split(' ').length - 1;

function unlessThere(error: Error & { code?: string }): void {
  if (error.code !== 'EEXIST') throw error;
}
