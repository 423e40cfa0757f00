import type { Key } from './version.ts';

/** The object is not, or no longer, what the writer started from. */
export class RevisionMismatch extends Error {
  override readonly name = 'RevisionMismatch';
  readonly expected: number;
  /** 0: there is no such object. */
  readonly actual: number;

  constructor(key: Key, expected: number, actual: number) {
    super(`${describe(key)} is ${describeRevision(actual)}, and the write expected it ${describeRevision(expected)}`);
    this.expected = expected;
    this.actual = actual;
  }
}

/** History does not reach back to the revision asked for: list again and go on from there. */
export class Compacted extends Error {
  override readonly name = 'Compacted';
  readonly revision: number;
  /** The oldest revision that could have been asked for. */
  readonly oldest: number;

  constructor(resource: string, revision: number, oldest: number) {
    super(`the history of ${resource} reaches back to revision ${oldest}, not to ${revision}: list again`);
    this.revision = revision;
    this.oldest = oldest;
  }
}

/** What somebody wants to store can not be stored: a name, or the size of an object. */
export class Unstorable extends Error {
  override readonly name = 'Unstorable';
}

/** The disk refused a write. */
export class WriteFailed extends Error {
  override readonly name = 'WriteFailed';
  /**
   * 'not stored': nothing of the write is left, and later writes may succeed. 'unknown': the store takes no writes any
   * more, and only after the next start will it show whether this one is there.
   */
  readonly outcome: 'not stored' | 'unknown';

  constructor(message: string, outcome: 'not stored' | 'unknown', cause?: unknown) {
    super(message, { cause });
    this.outcome = outcome;
  }
}

/** Nobody knows what the disk holds of the last writes. */
export function diskFailure(cause: unknown, then?: unknown): WriteFailed {
  const told = then === undefined ? said(cause) : `${said(cause)}; then ${said(then)}`;
  return new WriteFailed(
    `the store takes no more writes, because its disk failed (${told}); the next start shows which of the last writes are stored`,
    'unknown',
    cause,
  );
}

export function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Somebody else has the directory open. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';
  readonly directory: string;
  /** What the other one wrote about itself; missing when it has not come so far. */
  readonly pid: number | undefined;
  readonly holder: string | undefined;
  readonly since: string | undefined;

  constructor(directory: string, other: { pid?: number; holder?: string; since?: string }) {
    const who = other.pid === undefined ? 'another process' : `process ${other.pid} (${other.holder})`;
    const since = other.since === undefined ? '' : ` since ${other.since}`;
    super(`${directory} is in use by ${who}${since}: stop it, or choose another directory`);
    this.directory = directory;
    this.pid = other.pid;
    this.holder = other.holder;
    this.since = other.since;
  }
}

/** The files are not what a crash can leave behind. Opening them could lose acknowledged writes, so nobody does. */
export class DamagedStore extends Error {
  override readonly name = 'DamagedStore';
  readonly file: string;
  readonly offset: number;

  constructor({ file, offset, found, remedy }: { file: string; offset: number; found: string; remedy: string }) {
    super(`${file} is damaged at byte ${offset}: ${found}. The store stays closed, so that nothing is lost. ${remedy}`);
    this.file = file;
    this.offset = offset;
  }
}

export function describe({ resource, namespace, name }: Key): string {
  return `${resource} ${JSON.stringify(namespace === '' ? name : `${namespace}/${name}`)}`;
}

function describeRevision(revision: number): string {
  return revision === 0 ? 'absent' : `at revision ${revision}`;
}
