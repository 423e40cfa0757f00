import { createInflate, type Inflate, constants as zlib } from 'node:zlib';
import { DICTIONARY } from './dictionary.ts';
import { SpdyError } from './frame-reader.ts';

export type Headers = ReadonlyMap<string, string>;

/** Reads the headers of one side, which are compressed as one stream from the first to the last. */
export class HeaderReader {
  readonly #inflate: Inflate = createInflate({ dictionary: DICTIONARY, finishFlush: zlib.Z_SYNC_FLUSH });
  #parts: Buffer[] = [];
  #length = 0;
  #fail: (error: Error) => void = () => {};

  constructor() {
    this.#inflate.on('error', ({ message }) => this.#fail(new SpdyError(`headers cannot be read: ${message}`)));
    this.#inflate.on('data', (part: Buffer) => {
      this.#parts.push(part);
      this.#length += part.length;
      // A few bytes may stand for very many.
      if (this.#length > LONGEST) this.#fail(new SpdyError('headers are too long'));
    });
  }

  async read(block: Buffer): Promise<Headers> {
    this.#parts = [];
    this.#length = 0;
    await new Promise<void>((resolve, reject) => {
      this.#fail = (error) => {
        reject(error);
        this.#inflate.destroy();
      };
      this.#inflate.write(block, () => resolve());
    });
    return headersIn(Buffer.concat(this.#parts, this.#length));
  }

  close(): void {
    this.#inflate.destroy();
  }
}

const LONGEST = 64 * 1024;

function headersIn(bytes: Buffer): Headers {
  let at = 0;
  const number = (): number => {
    if (at + 4 > bytes.length) throw new SpdyError('headers break off');
    at += 4;
    return bytes.readUInt32BE(at - 4);
  };
  const text = (): string => {
    const length = number();
    if (at + length > bytes.length) throw new SpdyError('headers break off');
    at += length;
    return bytes.toString('utf8', at - length, at);
  };
  const headers = new Map<string, string>();
  for (let left = number(); left > 0; left -= 1) headers.set(text().toLowerCase(), text());
  return headers;
}

/** Writes headers as a stream of zlib that compresses nothing: what we have to say is short. */
export class HeaderWriter {
  #isFirst = true;

  write(headers: Headers): Buffer {
    const texts = [...headers].flat().map((text) => Buffer.from(text));
    const plain = Buffer.concat([word(headers.size), ...texts.flatMap((text) => [word(text.length), text])]);
    const stored = Buffer.alloc(5);
    stored.writeUInt16LE(plain.length, 1);
    stored.writeUInt16LE(~plain.length & 0xffff, 3);
    const start = this.#isFirst ? ZLIB : Buffer.alloc(0);
    this.#isFirst = false;
    return Buffer.concat([start, stored, plain, FLUSH]);
  }
}

const ZLIB = Buffer.of(0x78, 0x01);
/** An empty block: without one behind it, Go's reader waits for more before it hands out what it has. */
const FLUSH = Buffer.of(0, 0, 0, 0xff, 0xff);

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
