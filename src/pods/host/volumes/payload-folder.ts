import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { Payload } from './payload.ts';

const DATA = '..data';
const NEXT = '..data_tmp';

export interface PayloadFolderOptions {
  readonly folder: string;
  readonly payload: Payload;
  /** Who may read it besides those whom the modes name. */
  readonly group?: number | undefined;
  /** Whom it belongs to. */
  readonly user?: number | undefined;
  /** Tells versions apart for people: the time, as a rule. */
  readonly version: string;
}

/**
 * Makes a folder hold exactly this, as a kubelet does: the files are in a folder of their own, `..data` leads to it, and each name
 * leads through `..data`. Replacing that one link changes all files at once for whoever reads them. Nothing is written when it is so
 * already; a crash in the middle leaves the old or the new version.
 * @returns whether something was different
 */
export function writePayload({ folder, payload, group, user, version }: PayloadFolderOptions): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const current = linkAt(path.join(folder, DATA));
  const isSame = current !== undefined && holds(path.join(folder, current), payload, group, user);
  if (!isSame) {
    const fresh = freeName(folder, version);
    write(path.join(folder, fresh), payload, group, user);
    rmSync(path.join(folder, NEXT), { force: true });
    symlinkSync(fresh, path.join(folder, NEXT));
    renameSync(path.join(folder, NEXT), path.join(folder, DATA));
  }
  own(folder, 0o755, group, undefined);
  tidy(folder, new Set([...payload.keys()].map((file) => file.split('/')[0] ?? '')));
  return !isSame;
}

/** Every name leads to the current version, and nothing else is there. */
function tidy(folder: string, names: ReadonlySet<string>): void {
  const current = linkAt(path.join(folder, DATA));
  const found = new Set(readdirSync(folder));
  for (const name of names) {
    const target = path.join(DATA, name);
    if (linkAt(path.join(folder, name)) === target) continue;
    rmSync(path.join(folder, name), { recursive: true, force: true });
    symlinkSync(target, path.join(folder, name));
  }
  for (const name of found) {
    if (name !== DATA && name !== current && !names.has(name)) {
      rmSync(path.join(folder, name), { recursive: true, force: true });
    }
  }
}

function write(folder: string, payload: Payload, group: number | undefined, user: number | undefined): void {
  mkdirSync(folder, { mode: 0o755 });
  own(folder, 0o755, group, undefined);
  for (const [name, { data, mode }] of payload) {
    const file = path.join(folder, name);
    for (const parent of parentsOf(name)) {
      mkdirSync(path.join(folder, parent), { recursive: true, mode: 0o755 });
      own(path.join(folder, parent), 0o755, group, undefined);
    }
    writeFileSync(file, data, { mode: 0o600, flag: 'wx' });
    own(file, mode, group, user);
  }
}

/** `a/b/c` has `a` and `a/b`. */
function parentsOf(name: string): string[] {
  const parts = name.split('/').slice(0, -1);
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'));
}

/** For a group: readable to it, and whatever comes into a folder belongs to it too. */
function own(file: string, mode: number, group: number | undefined, user: number | undefined): void {
  const isFolder = statSync(file).isDirectory();
  if (group !== undefined || user !== undefined) chownSync(file, user ?? 0, group ?? 0);
  chmodSync(file, modeFor(mode, isFolder, group));
}

const modeFor = (mode: number, isFolder: boolean, group: number | undefined): number =>
  group === undefined ? mode : mode | (isFolder ? 0o2550 : 0o440);

function holds(folder: string, payload: Payload, group: number | undefined, user: number | undefined): boolean {
  try {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
    if (files.length !== payload.size) return false;
    return [...payload].every(([name, { data, mode }]) => {
      const file = path.join(folder, name);
      const found = statSync(file);
      const hasOwners = found.uid === (user ?? 0) && found.gid === (group ?? 0);
      return hasOwners && (found.mode & 0o7777) === modeFor(mode, false, group) && readFileSync(file).equals(data);
    });
  } catch {
    // A version that was not written to its end.
    return false;
  }
}

function freeName(folder: string, version: string): string {
  const taken = new Set(readdirSync(folder));
  for (let i = 0; ; i += 1) {
    const name = `..${version}.${i}`;
    if (!taken.has(name)) return name;
  }
}

function linkAt(file: string): string | undefined {
  try {
    return readlinkSync(file);
  } catch {
    return undefined;
  }
}
