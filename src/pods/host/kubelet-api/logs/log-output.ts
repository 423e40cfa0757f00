import { dirname } from 'node:path';
import { Changes, watchFolder } from './changes.ts';
import type { LogOptions } from './log-options.ts';
import { type LogPart, openParts } from './log-parts.ts';
import { LogText } from './log-text.ts';
import { startOfTail } from './tail.ts';

export interface LogSource {
  readonly file: string;
  /** Calls `ended` when the container has ended, at once if it has already, until the result is called. */
  onEnd(ended: () => void): () => void;
}

/**
 * What a container has written, as somebody wants to see it. When it is followed, it goes on until the container has ended
 * and all of it is read, or until the signal aborts.
 */
export async function* logOutput(
  source: LogSource,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  const text = new LogText(options);
  const open = new Set<LogPart>();
  const opened = async (after?: LogPart): Promise<LogPart[]> => {
    const parts = await openParts(source.file, after);
    for (const part of parts) open.add(part);
    return parts;
  };
  const following = options.follow ? new Following(source) : undefined;
  try {
    let parts = await opened();
    const start = options.tailLines === undefined ? undefined : await tail(parts, options.tailLines);
    let offset = start?.offset ?? 0;
    parts = parts.slice(start?.part ?? 0);
    for (;;) {
      following?.look();
      const [part, ...newer] = parts;
      let isSilent = true;
      if (part !== undefined) {
        for await (const lines of wholeLines(part, offset)) {
          isSilent = false;
          offset += lines.length;
          const shown = text.of(lines);
          if (shown.length > 0) yield shown;
          if (text.isFull || signal.aborted) return;
        }
      }
      if (newer.length > 0 && part !== undefined) {
        await part.file.close();
        open.delete(part);
        [parts, offset] = [newer, 0];
        continue;
      }
      if (following === undefined) return;
      // A part that has newer ones is not written to any more, but may have been since it was read.
      parts = part === undefined ? await opened() : [part, ...(await opened(part))];
      if (parts.length > (part === undefined ? 0 : 1) || !isSilent) continue;
      if (following.isOver || !(await isThere(part))) return;
      await following.change(signal);
      if (signal.aborted) return;
    }
  } finally {
    following?.stop();
    await Promise.all([...open].map(({ file }) => file.close()));
  }
}

/** Whether a container still runs whose output is followed. */
class Following {
  readonly #changes = new Changes();
  readonly #stop: readonly (() => void)[];
  #hasEnded = false;
  #wasOver = false;

  constructor({ file, onEnd }: LogSource) {
    this.#stop = [
      watchFolder(dirname(file), this.#changes),
      onEnd(() => {
        this.#hasEnded = true;
        this.#changes.note();
      }),
    ];
  }

  /** Before the log is read. */
  look(): void {
    this.#changes.reset();
    this.#wasOver = this.#hasEnded;
  }

  /** The container had ended before the log was read: nothing more can come. */
  get isOver(): boolean {
    return this.#wasOver;
  }

  change(signal: AbortSignal): Promise<void> {
    return this.#changes.next(signal);
  }

  stop(): void {
    for (const stop of this.#stop) stop();
  }
}

const tail = (parts: readonly LogPart[], lines: number) =>
  startOfTail(
    parts.map(({ file }) => file),
    lines,
  );

/** A log whose last name is gone was removed, with its container. */
const isThere = async (part: LogPart | undefined): Promise<boolean> =>
  part === undefined || (await part.file.stat()).nlink > 0;

/** What is in a file from there on, up to its last line break. */
async function* wholeLines({ file }: LogPart, from: number): AsyncGenerator<Buffer> {
  let position = from;
  let begun = Buffer.alloc(0);
  for (;;) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(BLOCK), 0, BLOCK, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    const bytes =
      begun.length === 0 ? buffer.subarray(0, bytesRead) : Buffer.concat([begun, buffer.subarray(0, bytesRead)]);
    const end = bytes.lastIndexOf(LINE_BREAK) + 1;
    if (end > 0) yield bytes.subarray(0, end);
    begun = bytes.subarray(end);
  }
}

const LINE_BREAK = 0x0a;
const BLOCK = 64 * 1024;
