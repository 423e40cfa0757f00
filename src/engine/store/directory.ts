import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { encodeHead, type Head } from './format.ts';

const digits = 16;
const namePattern = /^(log|snapshot)-(\d{16})$/;
const temporaryPattern = /^(log|snapshot)-\d{16}\.new$/;

/** `log-<first revision>` or `snapshot-<revision>`; so they sort by revision. */
export function fileName(kind: Head['kind'], revision: number): string {
  return `${kind}-${String(revision).padStart(digits, '0')}`;
}

export interface Files {
  /** First revisions of the segments of the log, ascending. */
  readonly logs: readonly number[];
  /** Revisions of the snapshots, ascending. */
  readonly snapshots: readonly number[];
}

/**
 * Makes the directory, for its owner alone: it holds secrets. One that is there already keeps its mode, which somebody
 * may have chosen; the files in it are for their owner alone in any case.
 */
export async function prepareDirectory(directory: string): Promise<void> {
  const made = await mkdir(directory, { recursive: true, mode: 0o700 });
  if (made === undefined) return;
  // Every directory that was made is an entry of the one above it, and durable only together with it.
  const highest = dirname(resolve(made));
  for (let above = dirname(resolve(directory)); ; above = dirname(above)) {
    await syncDirectory(above);
    if (above === highest) return;
  }
}

/** Lists our files, and removes those that a crash left half made. Other files are not ours to touch. */
export async function listFiles(directory: string): Promise<Files> {
  const logs: number[] = [];
  const snapshots: number[] = [];
  for (const name of await readdir(directory)) {
    if (temporaryPattern.test(name)) await rm(join(directory, name));
    const [, kind, revision] = namePattern.exec(name) ?? [];
    if (kind !== undefined) (kind === 'log' ? logs : snapshots).push(Number(revision));
  }
  const ascending = (a: number, b: number) => a - b;
  return { logs: logs.sort(ascending), snapshots: snapshots.sort(ascending) };
}

export interface NewFile {
  readonly handle: FileHandle;
  readonly mark: Buffer;
  /** Gives the file its name, once its content is on the disk; the name is durable after the next sync of the directory. */
  publish(): Promise<void>;
  /** Only for a file that was not published. */
  discard(): Promise<void>;
}

export async function createFile(directory: string, kind: Head['kind'], revision: number): Promise<NewFile> {
  const path = join(directory, fileName(kind, revision));
  const temporary = `${path}.new`;
  const handle = await open(temporary, 'w', 0o600);
  const mark = randomBytes(8);
  const publish = async () => {
    await handle.sync();
    await rename(temporary, path);
  };
  const discard = async () => {
    await handle.close();
    await rm(temporary, { force: true });
  };
  try {
    await writeFully(handle, encodeHead({ kind, revision, mark }), 0);
  } catch (error) {
    await discard();
    throw error;
  }
  return { handle, mark, publish, discard };
}

export interface Writable {
  write(bytes: Buffer, offset: number, length: number, position: number): Promise<{ bytesWritten: number }>;
}

/** A disk that fills up may take a part of a write and refuse the rest only on the next. */
export async function writeFully(file: Writable, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/** Removes files that a durable snapshot has made superfluous. */
export async function removeFiles(directory: string, names: readonly string[]): Promise<void> {
  for (const name of names) await rm(join(directory, name), { force: true });
}

export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
