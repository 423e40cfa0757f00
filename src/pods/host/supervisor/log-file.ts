import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../../runtime/clock.ts';

export type LogStream = 'stdout' | 'stderr';

/**
 * What a container writes, line by line, in the format of kubelet logs, and no more than `maxFiles` files of about `maxBytes`. A
 * disk that takes nothing more costs lines of this log and nothing else.
 */
export class LogFile {
  readonly #file: string;
  readonly #maxBytes: number;
  readonly #maxFiles: number;
  readonly #clock: Clock;
  readonly #begun: Record<LogStream, Buffer[]> = { stdout: [], stderr: [] };
  readonly #begunBytes: Record<LogStream, number> = { stdout: 0, stderr: 0 };
  #handle: FileHandle | undefined;
  #size = 0;
  #waiting: Buffer[] = [];
  #writing: Promise<void> | undefined;
  #lost = 0;

  constructor(file: string, { maxBytes, maxFiles, clock }: { maxBytes: number; maxFiles: number; clock: Clock }) {
    this.#file = file;
    this.#maxBytes = maxBytes;
    this.#maxFiles = maxFiles;
    this.#clock = clock;
  }

  /** Whoever reads the log of a container that has said nothing finds an empty one. */
  async begin(): Promise<void> {
    this.#handle ??= await this.#open().catch(() => undefined);
  }

  /** Undefined when more can be taken at once; otherwise resolves when it can. */
  take(stream: LogStream, chunk: Buffer): Promise<void> | undefined {
    const time = this.#time();
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.#begin(stream, chunk.subarray(start, end), time);
      this.#line(stream, time, 'F');
      start = end + 1;
    }
    this.#begin(stream, chunk.subarray(start), time);
    return this.#write();
  }

  /** What has no line feed is written as it is when no more can come. */
  finish(stream: LogStream): Promise<void> | undefined {
    if (this.#begunBytes[stream] > 0) this.#line(stream, this.#time(), 'P');
    return this.#write();
  }

  async close(): Promise<void> {
    await this.#write();
    await this.#handle?.close().catch(() => {});
    this.#handle = undefined;
  }

  /** With all its parts. */
  async remove(): Promise<void> {
    await this.close();
    for (const file of this.#parts()) await rm(file, { force: true }).catch(() => {});
  }

  #begin(stream: LogStream, bytes: Buffer, time: string): void {
    let rest = bytes;
    while (this.#begunBytes[stream] + rest.length > LONGEST_LINE) {
      const room = LONGEST_LINE - this.#begunBytes[stream];
      this.#keep(stream, rest.subarray(0, room));
      rest = rest.subarray(room);
      this.#line(stream, time, 'P');
    }
    if (rest.length > 0) this.#keep(stream, rest);
  }

  #keep(stream: LogStream, bytes: Buffer): void {
    this.#begun[stream].push(bytes);
    this.#begunBytes[stream] += bytes.length;
  }

  #line(stream: LogStream, time: string, tag: 'F' | 'P'): void {
    this.#waiting.push(Buffer.from(`${time} ${stream} ${tag} `), ...this.#begun[stream], END_OF_LINE);
    this.#begun[stream] = [];
    this.#begunBytes[stream] = 0;
  }

  #write(): Promise<void> | undefined {
    if (this.#writing !== undefined || this.#waiting.length === 0) return this.#writing;
    this.#writing = this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const bytes = Buffer.concat(this.#waiting);
      this.#waiting = [];
      try {
        if (this.#size > 0 && this.#size + bytes.length > this.#maxBytes) await this.#rotate();
        this.#handle ??= await this.#open();
        await this.#handle.writeFile(bytes);
        this.#size += bytes.length;
        this.#lost = 0;
      } catch {
        this.#lost += bytes.length;
      }
    }
  }

  async #open(): Promise<FileHandle> {
    await mkdir(path.dirname(this.#file), { recursive: true, mode: 0o755 });
    const handle = await open(this.#file, 'a', 0o640);
    this.#size = (await handle.stat()).size;
    return handle;
  }

  async #rotate(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
    const [current, ...older] = this.#parts();
    const last = older.at(-1);
    if (last === undefined || current === undefined) await rm(this.#file, { force: true });
    else
      for (let part = older.length; part > 0; part -= 1)
        await renameIfThere(`${part === 1 ? this.#file : `${this.#file}.${part - 1}`}`, `${this.#file}.${part}`);
    this.#size = 0;
  }

  #parts(): string[] {
    const older = Array.from({ length: Math.max(0, this.#maxFiles - 1) }, (_, index) => `${this.#file}.${index + 1}`);
    return [this.#file, ...older];
  }

  /** As Go reads RFC3339Nano. */
  #time(): string {
    return `${new Date(this.#clock.now()).toISOString().slice(0, -1)}000000Z`;
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  if ((await stat(from).catch(() => undefined)) !== undefined) await rename(from, to);
}

/** As container runtimes part them. */
const LONGEST_LINE = 16 * 1024;
const LINE_FEED = 0x0a;
const END_OF_LINE = Buffer.from('\n');
