import { type FileHandle, open, stat } from 'node:fs/promises';

/** One file of a log that is open. It stays the same file however it is renamed meanwhile. */
export interface LogPart {
  readonly file: FileHandle;
  /** Tells it from every other file, whatever its name is. */
  readonly identity: string;
}

/**
 * Opens a log: the file itself and its older parts (`.1`, `.2`, …), the oldest first.
 * @param after opens only what is newer than this part; all that is left when it is no longer there
 */
export async function openParts(log: string, after?: LogPart): Promise<LogPart[]> {
  for (let look = 1; ; look += 1) {
    const { newest, parts } = await openOnce(log, after);
    // When the log was rotated meanwhile, numbers meant one thing at first and another at last.
    if (newest === (await identityOf(log)) || look === MOST_LOOKS) return parts.reverse();
    await Promise.all(parts.map(({ file }) => file.close()));
  }
}

/** It is rotated once in many megabytes. */
const MOST_LOOKS = 20;

/** The newest first: parts move to higher numbers, so that one may be met twice, but none is missed. */
async function openOnce(log: string, after: LogPart | undefined) {
  const parts: LogPart[] = [];
  let newest: string | undefined;
  // In the middle of a rotation, one number is not there.
  let missing = 0;
  for (let number = 0; missing < 2; number += 1) {
    const part = await openPart(number === 0 ? log : `${log}.${number}`);
    if (number === 0) newest = part?.identity;
    if (part === undefined) {
      missing += 1;
      continue;
    }
    missing = 0;
    const isLast = part.identity === after?.identity;
    const isNew = !isLast && parts.every(({ identity }) => identity !== part.identity);
    if (isNew) parts.push(part);
    else await part.file.close();
    if (isLast) break;
  }
  return { newest, parts };
}

async function openPart(name: string): Promise<LogPart | undefined> {
  try {
    const file = await open(name, 'r');
    return { file, identity: identity(await file.stat({ bigint: true })) };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function identityOf(name: string): Promise<string | undefined> {
  try {
    return identity(await stat(name, { bigint: true }));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

const identity = ({ dev, ino }: { dev: bigint; ino: bigint }): string => `${dev}:${ino}`;

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';
