import type { FileHandle } from 'node:fs/promises';
import { createFile, syncDirectory, type Writable, writeFully } from './directory.ts';
import { diskFailure, said, WriteFailed } from './errors.ts';
import { type Entry, encodeBlock, headSize } from './format.ts';

export type LogFile = Writable & Pick<FileHandle, 'datasync' | 'sync' | 'truncate' | 'close'>;

/** A segment of the log, ready for the next block at `end`. */
export interface Segment {
  readonly file: LogFile;
  readonly mark: Buffer;
  readonly end: number;
}

/** The end of the log: appends blocks, each of them durable before the next one is begun. */
export class Log {
  readonly #directory: string;
  #segment: Segment;
  /** Bytes in older segments that no snapshot has made superfluous yet. */
  #older: number;

  constructor({ directory, segment, older }: { directory: string; segment: Segment; older: number }) {
    this.#directory = directory;
    this.#segment = segment;
    this.#older = older;
  }

  /** Bytes written since the last snapshot. */
  get size(): number {
    return this.#older + this.#segment.end;
  }

  /**
   * Only a write that is known to have left nothing behind fails as 'not stored'. After a failed sync nobody can tell
   * what is on the disk: the kernel reports the error once and may then take the pages for clean.
   */
  async append(follows: number, entries: readonly Entry[]): Promise<void> {
    const { file, mark, end } = this.#segment;
    const block = encodeBlock({ mark, follows }, entries);
    try {
      await writeFully(file, block, end);
    } catch (error) {
      await this.#cutBack(error);
      throw new WriteFailed(
        `the store could not be written to, and nothing was stored: ${said(error)}`,
        'not stored',
        error,
      );
    }
    try {
      await file.datasync();
    } catch (error) {
      throw diskFailure(error);
    }
    this.#segment = { file, mark, end: end + block.length };
  }

  /** Begins a segment for the writes after this revision; none may be under way. */
  async rotate(revision: number): Promise<void> {
    const { file, end } = this.#segment;
    if (end === headSize) return;
    const next = await createSegment(this.#directory, revision + 1);
    this.#segment = next;
    this.#older += end;
    await file.close();
  }

  /** A snapshot has made everything but this segment superfluous. */
  forgetOlder(): void {
    this.#older = 0;
  }

  async close(): Promise<void> {
    await this.#segment.file.close();
  }

  async #cutBack(reason: unknown): Promise<void> {
    try {
      await this.#segment.file.truncate(this.#segment.end);
      await this.#segment.file.sync();
    } catch (error) {
      throw diskFailure(reason, error);
    }
  }
}

export async function createSegment(directory: string, first: number): Promise<Segment> {
  const { handle, mark, publish, discard } = await createFile(directory, 'log', first);
  try {
    await publish();
  } catch (error) {
    await discard();
    throw error;
  }
  try {
    await syncDirectory(directory);
  } catch (error) {
    // Whether a crash leaves this segment is unknown now, so neither it nor the one before may take another block.
    await handle.close();
    throw diskFailure(error);
  }
  return { file: handle, mark, end: headSize };
}
