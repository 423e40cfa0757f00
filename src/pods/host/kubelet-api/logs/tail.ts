import type { FileHandle } from 'node:fs/promises';
import { parseEntry } from './log-entry.ts';

/** Where the last lines of a log begin: in which of its parts, at which byte. */
export interface TailStart {
  readonly part: number;
  readonly offset: number;
}

/** Reads backwards from the end, and no more than the lines are long. */
export async function startOfTail(parts: readonly FileHandle[], lines: number): Promise<TailStart> {
  let left = lines;
  let isNewest = true;
  for (let part = parts.length - 1; part >= 0; part -= 1) {
    const file = parts[part];
    if (file === undefined) continue;
    for await (const { end, partial } of entriesBackwards(file)) {
      // A line that has not ended is a line, too, when it is the last one.
      if (!partial || isNewest) {
        if (left === 0) return { part, offset: end };
        left -= 1;
      }
      isNewest = false;
    }
  }
  return { part: 0, offset: 0 };
}

/** Where the entries of a file end, and whether each is part of a line only; the last one first. */
async function* entriesBackwards(file: FileHandle): AsyncGenerator<{ end: number; partial: boolean }> {
  let position = (await file.stat()).size;
  // What was read last and begins in the middle of an entry; undefined until a whole entry can end.
  let later = Buffer.alloc(0);
  let end: number | undefined;
  while (position > 0) {
    const length = Math.min(BLOCK, position);
    position -= length;
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
    const bytes = Buffer.concat([buffer.subarray(0, bytesRead), later]);
    let until = bytes.length;
    for (let at = bytes.lastIndexOf(LINE_BREAK); at >= 0; at = at === 0 ? -1 : bytes.lastIndexOf(LINE_BREAK, at - 1)) {
      if (end !== undefined) yield { end, partial: isPartial(bytes.subarray(at + 1, until)) };
      end = position + at + 1;
      until = at;
    }
    later = end === undefined ? Buffer.alloc(0) : bytes.subarray(0, until);
  }
  if (end !== undefined) yield { end, partial: isPartial(later) };
}

const isPartial = (line: Buffer): boolean => parseEntry(line)?.partial === true;

const LINE_BREAK = 0x0a;
const BLOCK = 64 * 1024;
