import { type FileHandle, open } from 'node:fs/promises';

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
  const parts: LogPart[] = [];
  // The newest first: while we look, parts move to higher numbers, so one may be met twice, but none is missed. In the
  // middle of that move one number is not there.
  let missing = 0;
  for (let number = 0; missing < 2; number += 1) {
    const part = await openPart(number === 0 ? log : `${log}.${number}`);
    if (part === undefined) {
      missing += 1;
      continue;
    }
    missing = 0;
    const isKnown = parts.some(({ identity }) => identity === part.identity);
    const isLast = part.identity === after?.identity;
    if (isKnown || isLast) await part.file.close();
    if (isLast) break;
    if (!isKnown) parts.push(part);
  }
  return parts.reverse();
}

async function openPart(name: string): Promise<LogPart | undefined> {
  try {
    const file = await open(name, 'r');
    const { dev, ino } = await file.stat();
    return { file, identity: `${dev}:${ino}` };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
