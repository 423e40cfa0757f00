import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { spread } from '../spread.ts';

/**
 * The folders that dnsmasq looks into: several, for with each file it walks through all that it knows of the same folder. Their
 * files are links to files of the same name in a folder beside, each written whole, by renaming. What dnsmasq notices is the
 * renaming of a link: then it forgets what that file said, and reads it again, between two answers. A file that is exchanged
 * behind its link goes unnoticed, until dnsmasq is told to read everything anew; so many files change in one moment, and in a
 * fraction of the time.
 *
 * Everything here blocks: thousands of small files are written in a fraction of the time that so many promises would take.
 */
export class HostsFolder {
  readonly #folder: string;
  /** What the files hold that there is a link to. */
  readonly #written = new Map<string, string>();
  #rereads: number;

  /** What an earlier run has left is taken over, as far as dnsmasq has seen it. */
  constructor(folder: string) {
    this.#folder = folder;
    for (const inside of [CONTENT, REREAD, ...PARTS]) {
      mkdirSync(this.#path(inside), { recursive: true });
      rmSync(this.#path(inside, FRESH), { force: true });
    }
    const links = new Set(PARTS.flatMap((part) => readdirSync(this.#path(part))));
    for (const file of readdirSync(this.#path(CONTENT))) {
      // Without a link it was about to go, or to come with others: shown alone, it would say what is no longer so, or not yet.
      if (links.has(file)) this.#written.set(file, readFileSync(this.#path(CONTENT, file), 'utf8'));
      else rmSync(this.#path(CONTENT, file));
    }
    for (const file of links) if (!this.#written.has(file)) rmSync(this.#link(file));
    const last = statSync(this.#path(REREAD, SERVERS), { throwIfNoEntry: false });
    this.#rereads = Math.floor((last?.mtimeMs ?? 0) / 1000);
    if (last === undefined) this.#reread();
  }

  get files(): readonly string[] {
    return [...this.#written.keys()];
  }

  /** Each of the files at once, one after the other. */
  show(texts: ReadonlyMap<string, string>): void {
    for (const [file, text] of texts) {
      if (this.#holds(file, text)) continue;
      if (text === '') {
        this.#remove(file);
      } else {
        this.#write(file, text);
        this.#exchange(this.#link(file), (fresh) => symlinkSync(targetOf(file), fresh));
        this.#written.set(file, text);
      }
    }
  }

  /** All of the files in the same moment: dnsmasq reads everything anew. */
  showTogether(texts: ReadonlyMap<string, string>): void {
    for (const [file, text] of texts) {
      if (this.#holds(file, text)) continue;
      const isNew = !this.#written.has(file);
      this.#write(file, text);
      // A new link goes unnoticed as well.
      if (isNew) symlinkSync(targetOf(file), this.#link(file));
      this.#written.set(file, text);
    }
    this.#reread();
  }

  /** Says that everything is here. */
  complete(): void {
    writeFileSync(completeFile(this.#folder), '');
  }

  #holds(file: string, text: string): boolean {
    return (this.#written.get(file) ?? '') === text;
  }

  #remove(file: string): void {
    rmSync(this.#link(file));
    rmSync(this.#path(CONTENT, file));
    this.#written.delete(file);
  }

  #write(file: string, text: string): void {
    this.#exchange(this.#path(CONTENT, file), (fresh) => writeFileSync(fresh, text, { mode: 0o644 }));
  }

  /**
   * dnsmasq watches a list of name servers, and reads all hosts as well when that is a newer one, in seconds, than the last. The
   * only server in it is none: dnsmasq leaves it out of its own accord.
   */
  #reread(): void {
    this.#rereads += 1;
    this.#exchange(this.#path(REREAD, SERVERS), (fresh) => {
      writeFileSync(fresh, 'nameserver 0.0.0.0\n', { mode: 0o644 });
      utimesSync(fresh, this.#rereads, this.#rereads);
    });
  }

  #exchange(path: string, make: (fresh: string) => void): void {
    const fresh = join(path, '..', FRESH);
    try {
      make(fresh);
      renameSync(fresh, path);
    } catch (error) {
      // Whoever tries again would find the name taken.
      rmSync(fresh, { force: true, recursive: true });
      throw error;
    }
  }

  #link(file: string): string {
    return this.#path(PARTS[spread(file, PARTS.length)] ?? '', file);
  }

  #path(...parts: readonly string[]): string {
    return join(this.#folder, ...parts);
  }
}

/** Where dnsmasq shall look for hosts. */
export const hostsFolders = (folder: string): string[] => PARTS.map((part) => join(folder, part));

/** The file that is there when everything is. */
export const completeFile = (folder: string): string => join(folder, COMPLETE);

/** The file whose change makes dnsmasq read everything anew. */
export const rereadFile = (folder: string): string => join(folder, REREAD, SERVERS);

const PARTS = Array.from({ length: 16 }, (_, i) => i.toString(16));
const targetOf = (file: string): string => join('..', CONTENT, file);

// What begins with a dot is not read by dnsmasq.
const COMPLETE = '.complete';
const CONTENT = '.content';
const FRESH = '.fresh';
const REREAD = '.reread';
const SERVERS = 'servers';
