/** A frame of SPDY/3.1: control frames as a whole, data as it comes, however long its frame is. */
export type Frame =
  | { readonly kind: 'control'; readonly type: number; readonly flags: number; readonly body: Buffer }
  | { readonly kind: 'data'; readonly stream: number; readonly bytes: Buffer; readonly fin: boolean };

/** What the other side did against the protocol; the connection is of no more use. */
export class SpdyError extends Error {
  override readonly name = 'SpdyError';
}

export class FrameReader {
  #gathered: Buffer = Buffer.alloc(0);
  /** The data frame whose bytes come. */
  #data: { readonly stream: number; readonly fin: boolean; left: number } | undefined;

  *read(bytes: Buffer): Generator<Frame> {
    let rest = this.#gathered.length === 0 ? bytes : Buffer.concat([this.#gathered, bytes]);
    this.#gathered = Buffer.alloc(0);
    while (rest.length > 0) {
      if (this.#data !== undefined) {
        const part = rest.subarray(0, this.#data.left);
        rest = rest.subarray(part.length);
        yield this.#dataFrame(this.#data, part);
        continue;
      }
      const head = headOf(rest);
      if (head === undefined) break;
      if (head.kind === 'data') {
        rest = rest.subarray(HEAD);
        this.#data = { stream: head.stream, fin: (head.flags & FIN) !== 0, left: head.length };
        if (head.length === 0) yield this.#dataFrame(this.#data, rest.subarray(0, 0));
        continue;
      }
      if (rest.length < HEAD + head.length) break;
      const { type, flags } = head;
      yield { kind: 'control', type, flags, body: rest.subarray(HEAD, HEAD + head.length) };
      rest = rest.subarray(HEAD + head.length);
    }
    this.#gathered = rest;
  }

  #dataFrame(frame: { readonly stream: number; readonly fin: boolean; left: number }, bytes: Buffer): Frame {
    frame.left -= bytes.length;
    const isWhole = frame.left === 0;
    if (isWhole) this.#data = undefined;
    return { kind: 'data', stream: frame.stream, bytes, fin: frame.fin && isWhole };
  }
}

type Head =
  | { readonly kind: 'control'; readonly type: number; readonly flags: number; readonly length: number }
  | { readonly kind: 'data'; readonly stream: number; readonly flags: number; readonly length: number };

function headOf(bytes: Buffer): Head | undefined {
  if (bytes.length < HEAD) return undefined;
  const first = bytes.readUInt32BE(0);
  const flags = bytes[4] ?? 0;
  const length = bytes.readUIntBE(5, 3);
  if (first < CONTROL) return { kind: 'data', stream: first, flags, length };
  const version = (first >>> 16) & 0x7fff;
  if (version !== 3) throw new SpdyError(`version ${version} of SPDY is not spoken here, but 3`);
  if (length > LONGEST_CONTROL) throw new SpdyError(`a control frame of ${length} bytes is too long`);
  return { kind: 'control', type: first & 0xffff, flags, length };
}

export const FIN = 1;
const HEAD = 8;
const CONTROL = 0x8000_0000;
const LONGEST_CONTROL = 64 * 1024;
