import type { Answer, CallList } from './call-list.ts';

/** How a mount may be used. */
export interface MountRights {
  readonly readOnly?: boolean;
  /** Device files in it are dead: whoever may make some cannot reach the disks of the host by them. */
  readonly withoutDevices?: boolean;
}

export const CURRENT = -100;
export const PATH_ONLY = 0x20_0000;
export const CLOSE_ON_EXECUTE = 0x8_0000;
export const DIRECTORY = 0x1_0000;

/** Never follows links such as those of /proc/self/fd, which lead anywhere. */
const RESOLVE_NO_MAGIC_LINKS = 0x02;
/** Refuses links that lead out. */
const RESOLVE_BENEATH = 0x08;
/** Takes the folder it begins at as the root: links cannot lead out. */
const RESOLVE_IN_ROOT = 0x10;

/** Opens what a path of somebody else leads to, and nothing outside `folder`. */
export function openWithin(
  calls: CallList,
  folder: Answer | number,
  path: string,
  outside: 'refused' | 'impossible',
  explain: (code: string) => Error,
): Answer {
  const how = openHow(PATH_ONLY | CLOSE_ON_EXECUTE, resolveFlags(outside));
  return calls.add('openat2', [folder, path, how, how.length], { explain });
}

export const resolveFlags = (outside: 'refused' | 'impossible'): number =>
  RESOLVE_NO_MAGIC_LINKS | (outside === 'refused' ? RESOLVE_BENEATH : RESOLVE_IN_ROOT);

export function openHow(flags: number, resolve: number): Buffer {
  const how = Buffer.alloc(24);
  how.writeBigUInt64LE(BigInt(flags), 0);
  how.writeBigUInt64LE(BigInt(resolve), 16);
  return how;
}

/** A copy of what is mounted at a place, with all below it, that is nowhere yet. */
export function cloneTree(
  calls: CallList,
  from: string | Answer,
  explain: (code: string) => Error,
  { alone = false }: { alone?: boolean } = {},
): Answer {
  const flags = CLONE | CLOSE_ON_EXECUTE | (alone ? 0 : RECURSIVE);
  return typeof from === 'string'
    ? calls.add('open_tree', [CURRENT, from, flags], { explain })
    : calls.add('open_tree', [from, '', flags | EMPTY_PATH], { explain });
}

export function setRights(calls: CallList, tree: Answer, rights: MountRights, doing: string): void {
  const set = (rights.readOnly === true ? READ_ONLY : 0) | (rights.withoutDevices === true ? NO_DEVICES : 0);
  if (set === 0) return;
  const attributes = mountAttributes(set);
  calls.add('mount_setattr', [tree, '', EMPTY_PATH | RECURSIVE, attributes, attributes.length], { doing });
}

export function makeReadOnly(calls: CallList, path: string): void {
  const attributes = mountAttributes(READ_ONLY);
  calls.add('mount_setattr', [CURRENT, path, 0, attributes, attributes.length], { doing: `make ${path} read-only` });
}

export function moveTree(
  calls: CallList,
  tree: Answer | number,
  to: string | Answer,
  explain: (code: string) => Error,
): void {
  if (typeof to === 'string') calls.add('move_mount', [tree, '', CURRENT, to, FROM_EMPTY_PATH], { explain });
  else calls.add('move_mount', [tree, '', to, '', FROM_EMPTY_PATH | TO_EMPTY_PATH], { explain });
}

/** A file system of its own that is nowhere yet. */
export function newFileSystem(
  calls: CallList,
  type: string,
  options: Readonly<Record<string, string>>,
  rights: MountRights = {},
): Answer {
  const doing = `make a file system (${type})`;
  const context = calls.add('fsopen', [type, 1], { doing });
  for (const [name, value] of Object.entries(options)) {
    calls.add('fsconfig', [context, SET_STRING, name, value, 0], { doing: `${doing} with ${name}=${value}` });
  }
  calls.add('fsconfig', [context, CREATE, 0, 0, 0], { doing });
  const set = (rights.readOnly === true ? READ_ONLY : 0) | (rights.withoutDevices === true ? NO_DEVICES : 0);
  return calls.add('fsmount', [context, 1, set], { doing });
}

export function mountAt(
  calls: CallList,
  type: string,
  path: string,
  { flags = 0, options = '', source = type }: { flags?: number; options?: string; source?: string } = {},
): void {
  calls.add('mount', [source, path, type, flags, options], { doing: `mount ${type} at ${path}` });
}

/** For `mount`. */
export const mountFlags = { readOnly: 1, noSuid: 2, noDevices: 4, noPrograms: 8 } as const;

export function forgetOtherMounts(calls: CallList): void {
  calls.add('mount', ['none', '/', 0, MS_RECURSIVE | MS_PRIVATE, 0], { doing: 'part with the mounts of the host' });
}

/** What is mounted at the current folder becomes the root, and all else is gone. */
export function enterRoot(calls: CallList, folder: string): void {
  calls.add('chdir', [folder], { doing: `enter ${folder}` });
  calls.add('pivot_root', ['.', '.'], { doing: 'change the root' });
  calls.add('umount2', ['.', DETACH], { doing: 'leave the root of the host' });
  calls.add('chdir', ['/']);
}

function mountAttributes(set: number): Buffer {
  const attributes = Buffer.alloc(32);
  attributes.writeBigUInt64LE(BigInt(set), 0);
  return attributes;
}

const CLONE = 1;
const RECURSIVE = 0x8000;
const EMPTY_PATH = 0x1000;
const FROM_EMPTY_PATH = 0x04;
const TO_EMPTY_PATH = 0x40;
const READ_ONLY = 1;
const NO_DEVICES = 4;
const SET_STRING = 1;
const CREATE = 6;
const MS_RECURSIVE = 0x4000;
const MS_PRIVATE = 0x4_0000;
const DETACH = 2;
