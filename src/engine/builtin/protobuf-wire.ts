import { badRequest } from '../../api/status.ts';

/** How the value of a field is written. */
export type WireType = 'varint' | 'fixed64' | 'bytes' | 'fixed32';

/**
 * Reads the fields of one protobuf message out of a buffer that may hold anything. Nothing is copied, and no length is
 * believed beyond the end of the message.
 */
export class WireReader {
  readonly #body: Buffer;
  readonly #end: number;
  readonly #what: string;
  #at: number;
  #type: WireType = 'varint';

  /** `what` names the message in refusals. */
  constructor(body: Buffer, what: string, start = 0, end = body.length) {
    this.#body = body;
    this.#what = what;
    this.#at = start;
    this.#end = end;
  }

  get wireType(): WireType {
    return this.#type;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end;
  }

  /** The number of the next field; 0 at the end of the message. */
  nextField(): number {
    if (this.isAtEnd) return 0;
    const tag = this.#unsigned();
    const type = WIRE_TYPES[Number(tag & 7n)];
    const field = Number(tag >> 3n);
    if (type === undefined || field < 1 || field > LARGEST_FIELD) {
      throw badRequest(`the protobuf body has no valid field at byte ${this.#at} of ${this.#what}`);
    }
    this.#type = type;
    return field;
  }

  skip(): void {
    if (this.#type === 'varint') this.#unsigned();
    else if (this.#type === 'bytes') this.#block();
    else this.#advance(this.#type === 'fixed64' ? 8 : 4);
  }

  /** A whole number; beyond 2^53 it loses digits, as it would in JSON. */
  integer(signed: boolean): number {
    const value = this.#unsigned();
    return Number(signed ? BigInt.asIntN(64, value) : value);
  }

  int32(): number {
    return Number(BigInt.asIntN(32, this.#unsigned()));
  }

  double(): number {
    const start = this.#advance(8);
    return this.#body.readDoubleLE(start);
  }

  bytes(): Buffer {
    const [start, end] = this.#block();
    return this.#body.subarray(start, end);
  }

  /** Text that is no valid UTF-8 is repaired: it goes on as JSON, which can only hold text. */
  text(): string {
    const [start, end] = this.#block();
    return this.#body.toString('utf8', start, end);
  }

  /** The message that the field holds. */
  message(what: string): WireReader {
    const [start, end] = this.#block();
    return new WireReader(this.#body, what, start, end);
  }

  #block(): [start: number, end: number] {
    const length = this.#unsigned();
    // Compared before it becomes a number: a hostile length may be anything up to 2^64.
    if (length > BigInt(this.#end - this.#at)) throw this.#truncated();
    const start = this.#advance(Number(length));
    return [start, this.#at];
  }

  #advance(bytes: number): number {
    const start = this.#at;
    if (bytes > this.#end - start) throw this.#truncated();
    this.#at += bytes;
    return start;
  }

  #unsigned(): bigint {
    // Nearly all numbers are small: the first four bytes do without big ones.
    let small = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      small |= (byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt(small);
    }
    let value = BigInt(small);
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw badRequest(`the protobuf body has a number of more than 10 bytes in ${this.#what}`);
  }

  #byte(): number {
    if (this.#at >= this.#end) throw this.#truncated();
    return this.#body[this.#at++] ?? 0;
  }

  #truncated(): Error {
    return badRequest(`the protobuf body is cut off: ${this.#what} ends in the middle of a field`);
  }
}

const LARGEST_FIELD = 2 ** 29 - 1;
const WIRE_TYPES: readonly (WireType | undefined)[] = ['varint', 'fixed64', 'bytes', undefined, undefined, 'fixed32'];
