import type { HostsLine } from '../hosts-file.ts';
import { spread } from '../spread.ts';

/** Files whose text is another one now. */
export interface Changes {
  readonly texts: ReadonlyMap<number, string>;
  /** A name or an address has gone from one file into another: between the two it would be nowhere, or in both. */
  readonly isTorn: boolean;
}

/**
 * What all sources together say of hosts, cut into files that dnsmasq takes one by one.
 *
 * The files are small, because dnsmasq compares each record of a changed file with every record it has: with ten thousand
 * hosts in one file it answers nobody for half a second. And everything that shares a name or an address is in one file,
 * because dnsmasq keeps what two files say alike only once, for the first of them: it would forget it with that file.
 * A name stays in its file for as long as it has any address, so that a changed address is one changed file.
 */
export class ServedHosts {
  /** Source → address → its names there, in their order. */
  readonly #sources = new Map<string, ReadonlyMap<string, readonly string[]>>();
  readonly #addresses = new Map<string, ServedAddress>();
  /** By the name in lower case. */
  readonly #names = new Map<string, ServedName>();
  /** File → the addresses in it. */
  readonly #files = new Map<number, Set<string>>();
  #changed = new Set<number>();
  #isTorn = false;
  #fileCount = filesFor(0);

  /** How many names have an address; one that has two counts twice. */
  size = 0;

  get hasChanges(): boolean {
    return this.#changed.size > 0;
  }

  /** Replaces all that a source says; nothing, when it has gone. */
  put(source: string, lines: readonly HostsLine[]): void {
    const before = this.#sources.get(source) ?? new Map<string, readonly string[]>();
    const now = byAddress(lines);
    if (now.size === 0) this.#sources.delete(source);
    else this.#sources.set(source, now);
    const changed = [...now].filter(([address, names]) => !isSame(before.get(address), names)).map(([each]) => each);
    for (const address of before.keys()) if (!now.has(address)) changed.push(address);

    // First what comes, then what goes: a name that gets another address is not forgotten between the two.
    const former = changed.map((address) => this.#say(address, source, now.get(address) ?? []));
    for (const [i, address] of changed.entries()) this.#unlink(address, former[i] ?? []);
    if (filesFor(this.size) > this.#fileCount) this.#spreadAnew();
    const seen = new Set<string>();
    for (const address of changed) this.#settle(address, seen);
  }

  /** What has changed since the last time. */
  take(): Changes {
    const texts = new Map([...this.#changed].map((file) => [file, this.#textOf(file)]));
    const isTorn = this.#isTorn;
    this.#changed = new Set();
    this.#isTorn = false;
    return { texts, isTorn };
  }

  /** Puts back what was taken and came to nothing. */
  putBack({ texts }: Changes): void {
    for (const file of texts.keys()) this.#changed.add(file);
    this.#isTorn = true;
  }

  /** Everything, whether it has changed or not. */
  takeAll(): Changes {
    for (const file of this.#files.keys()) this.#changed.add(file);
    return this.take();
  }

  /** Returns the names that the address had. */
  #say(address: string, source: string, names: readonly string[]): readonly string[] {
    const entry = this.#addresses.get(address) ?? { sources: new Map(), names: [], file: undefined };
    this.#addresses.set(address, entry);
    if (names.length === 0) entry.sources.delete(source);
    else entry.sources.set(source, names);
    const former = entry.names;
    entry.names = unique([...entry.sources].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, said]) => said));
    this.size += entry.names.length - former.length;
    for (const name of entry.names) {
      const key = name.toLowerCase();
      const known = this.#names.get(key) ?? { addresses: new Set(), file: undefined };
      known.addresses.add(address);
      this.#names.set(key, known);
    }
    return former;
  }

  #unlink(address: string, former: readonly string[]): void {
    const kept = new Set(this.#addresses.get(address)?.names.map((name) => name.toLowerCase()));
    for (const name of former) {
      const key = name.toLowerCase();
      if (kept.has(key)) continue;
      const known = this.#names.get(key);
      known?.addresses.delete(address);
      if (known?.addresses.size === 0) this.#names.delete(key);
    }
  }

  /** Over more files, now that there is so much more: each time it doubles. */
  #spreadAnew(): void {
    this.#fileCount = filesFor(this.size);
    this.#isTorn = true;
    for (const file of this.#files.keys()) this.#changed.add(file);
    this.#files.clear();
    for (const entry of [...this.#addresses.values(), ...this.#names.values()]) entry.file = undefined;
    const seen = new Set<string>();
    for (const address of this.#addresses.keys()) this.#settle(address, seen);
  }

  /** Brings an address into the file of all that it shares something with. */
  #settle(address: string, seen: Set<string>): void {
    const entry = this.#addresses.get(address);
    if (entry === undefined) return;
    if (entry.file !== undefined) this.#changed.add(entry.file);
    if (entry.names.length === 0) {
      this.#addresses.delete(address);
      if (entry.file !== undefined) this.#files.get(entry.file)?.delete(address);
      return;
    }
    if (!seen.has(address)) {
      const { addresses, names } = this.#kin(address);
      const file = fileOf(addresses, names) ?? spread([...names.keys()].sort()[0] ?? '', this.#fileCount);
      for (const [, each] of names) {
        if (each.file !== undefined && each.file !== file) this.#isTorn = true;
        each.file = file;
      }
      for (const [each, { file: former }] of addresses) {
        seen.add(each);
        this.#move(each, former, file);
      }
    }
    if (entry.file !== undefined) this.#changed.add(entry.file);
  }

  #move(address: string, from: number | undefined, to: number): void {
    if (from === to) return;
    if (from !== undefined) {
      this.#isTorn = true;
      this.#files.get(from)?.delete(address);
      this.#changed.add(from);
    }
    const entry = this.#addresses.get(address);
    if (entry !== undefined) entry.file = to;
    const there = this.#files.get(to) ?? new Set();
    this.#files.set(to, there.add(address));
    this.#changed.add(to);
  }

  /** All addresses and names that are reached from an address by names that they share. */
  #kin(address: string): { addresses: Map<string, ServedAddress>; names: Map<string, ServedName> } {
    const addresses = new Map<string, ServedAddress>();
    const names = new Map<string, ServedName>();
    const waiting = [address];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const entry = this.#addresses.get(next);
      if (entry === undefined || addresses.has(next)) continue;
      addresses.set(next, entry);
      for (const key of entry.names.map((name) => name.toLowerCase())) {
        const known = this.#names.get(key);
        if (known === undefined || names.has(key)) continue;
        names.set(key, known);
        waiting.push(...known.addresses);
      }
    }
    return { addresses, names };
  }

  #textOf(file: number): string {
    const addresses = [...(this.#files.get(file) ?? [])].sort();
    return addresses.map((address) => `${address} ${this.#addresses.get(address)?.names.join(' ')}\n`).join('');
  }
}

interface ServedAddress {
  readonly sources: Map<string, readonly string[]>;
  /** Those of all sources; the first is what a reverse question is answered with. */
  names: readonly string[];
  file: number | undefined;
}

interface ServedName {
  readonly addresses: Set<string>;
  file: number | undefined;
}

/** So many names are in a file on average, so few that dnsmasq is quick with one, and so many that there are not too many files. */
const NAMES_IN_FILE = 12;
const MOST_FILES = 8192;

function filesFor(names: number): number {
  let count = 64;
  while (count < MOST_FILES && names > NAMES_IN_FILE * count) count *= 2;
  return count;
}

/** The file where most of them are already; undefined when none is. */
function fileOf(
  addresses: ReadonlyMap<string, ServedAddress>,
  names: ReadonlyMap<string, ServedName>,
): number | undefined {
  const counts = new Map<number, number>();
  for (const { file } of [...addresses.values(), ...names.values()]) {
    if (file !== undefined) counts.set(file, (counts.get(file) ?? 0) + 1);
  }
  const [first] = [...counts].sort(([a, m], [b, n]) => n - m || a - b);
  return first?.[0];
}

function byAddress(lines: readonly HostsLine[]): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const { address, names } of lines) found.set(address, unique([...(found.get(address) ?? []), ...names]));
  return found;
}

/** Each name once, however it is written. */
function unique(names: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return names.filter((name) => {
    const key = name.toLowerCase();
    return !seen.has(key) && seen.add(key);
  });
}

const isSame = (a: readonly string[] | undefined, b: readonly string[]): boolean =>
  a?.length === b.length && a.every((each, i) => each === b[i]);
