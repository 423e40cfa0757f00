import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { blockHeaderSize, decodeBlockHeader, decodeHead, type Head, headSize } from './format.ts';

const windowSize = 4 * 1024 * 1024;

export interface Block {
  readonly offset: number;
  readonly size: number;
  readonly follows: number;
  /** The entries; valid until the next block is asked for. */
  readonly content: Buffer;
}

/** Why no block can be read at the place where the reader stands. */
export interface Damage {
  readonly damage: string;
}

/** Reads a log or a snapshot from its head to its end, through a window, so that the size of the file does not matter. */
export class BlockReader {
  readonly head: Head;
  readonly size: number;
  readonly #file: FileHandle;
  #window: Buffer;
  /** The part of the window that is filled, and where in the file it begins. */
  #filled: Buffer = Buffer.alloc(0);
  #start = headSize;
  #offset = headSize;

  private constructor(file: FileHandle, size: number, head: Head) {
    this.#file = file;
    this.size = size;
    this.head = head;
    this.#window = Buffer.allocUnsafeSlow(Math.min(windowSize, size));
  }

  static async open(path: string, kind: Head['kind']): Promise<BlockReader | Damage> {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      const { bytesRead, buffer } = await file.read(Buffer.alloc(headSize), 0, headSize, 0);
      const head = decodeHead(kind, buffer.subarray(0, bytesRead));
      if (typeof head !== 'string') return new BlockReader(file, size, head);
      await file.close();
      return { damage: head };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Where the next block begins; after damage, where the damaged one does. */
  get offset(): number {
    return this.#offset;
  }

  /** The next block, what is wrong with it, or nothing at the end of the file. */
  async next(): Promise<Block | Damage | undefined> {
    const offset = this.#offset;
    if (offset === this.size) return undefined;
    const left = this.size - offset - blockHeaderSize;
    if (left < 0) return { damage: 'the file ends within the header of a block' };
    const header = decodeBlockHeader(this.head.mark, await this.#bytes(offset, blockHeaderSize));
    if (header === undefined) return { damage: 'there is no header of a block' };
    const { follows, length, checksum } = header;
    if (length > left) return { damage: `the file ends within a block of ${length} bytes` };
    const content = await this.#bytes(offset + blockHeaderSize, length);
    if (crc32(content) !== checksum) return { damage: 'the checksum of a block does not match' };
    const size = blockHeaderSize + length;
    this.#offset += size;
    return { offset, size, follows, content };
  }

  /** Where, behind the damage, the header of another block is found. */
  async findBlockBehind(): Promise<number | undefined> {
    for (let at = this.#offset + 1; this.size - at >= blockHeaderSize; ) {
      const piece = await this.#bytes(at, Math.min(windowSize, this.size - at));
      for (let hit = piece.indexOf(this.head.mark); hit !== -1; hit = piece.indexOf(this.head.mark, hit + 1)) {
        if (decodeBlockHeader(this.head.mark, piece.subarray(hit)) !== undefined) return at + hit;
      }
      // So far back that a header across the end of the piece is whole in the next one.
      at += piece.length - (blockHeaderSize - 1);
    }
    return undefined;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #bytes(offset: number, length: number): Promise<Buffer> {
    const skip = offset - this.#start;
    if (skip < 0 || skip + length > this.#filled.length) await this.#fill(offset, length);
    const from = offset - this.#start;
    return this.#filled.subarray(from, from + length);
  }

  async #fill(offset: number, length: number): Promise<void> {
    if (length > this.#window.length) this.#window = Buffer.allocUnsafeSlow(length);
    let filled = 0;
    while (filled < length) {
      const room = this.#window.length - filled;
      const { bytesRead } = await this.#file.read(this.#window, filled, room, offset + filled);
      if (bytesRead === 0) throw new Error('a file of the store became shorter while it was read');
      filled += bytesRead;
    }
    this.#filled = this.#window.subarray(0, filled);
    this.#start = offset;
  }
}
