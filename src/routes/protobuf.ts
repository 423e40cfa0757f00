/** Reads the protobuf wire format field by field, without copying and without throwing: after bad input `broken` is set. */
export class ProtobufReader {
  broken = false;
  #bytes: Uint8Array = new Uint8Array();
  #position = 0;
  #end = 0;

  open(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes = bytes;
    this.#position = start;
    this.#end = end;
    this.broken = false;
  }

  /** The tag of the next field, made by `tagOf`; 0 at the end, or if there is none that could be read. */
  next(): number {
    if (this.broken || this.#position >= this.#end) return 0;
    const tag = this.varint();
    if (tag >>> 3 === 0) this.broken = true;
    return this.broken ? 0 : tag;
  }

  /** The lower 32 bits of a variable-length number, which is what protobuf keeps of it in a 32-bit field. */
  varint(): number {
    const first = this.#bytes[this.#position] ?? 0;
    if (first < 0x80 && this.#position < this.#end) {
      this.#position += 1;
      return first;
    }
    return this.#longVarint();
  }

  #longVarint(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#bytes[this.#position] ?? 0;
      if (this.#position >= this.#end) break;
      this.#position += 1;
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    this.broken = true;
    return 0;
  }

  /** Enters a field with a length: returns where it ends, with `position` at its first byte. */
  enter(): number {
    const length = this.varint();
    if (length > this.#end - this.#position) {
      this.broken = true;
      return this.#position;
    }
    return this.#position + length;
  }

  /** Limits reading to a field that was entered; returns the limit that `leave` needs to go on behind it. */
  narrow(end: number): number {
    const outer = this.#end;
    this.#end = end;
    return outer;
  }

  leave(outer: number): void {
    this.#position = this.#end;
    this.#end = outer;
  }

  get position(): number {
    return this.#position;
  }

  jump(position: number): void {
    this.#position = position;
  }

  /** Passes over the field with this tag, whatever it is: newer peers may send fields that are not known here. */
  skip(tag: number): void {
    if ((tag & 7) === wire.startGroup) this.#skipGroup(tag >>> 3);
    else this.#skipValue(tag & 7);
  }

  #skipValue(wireType: number): void {
    if (wireType === wire.varint) this.varint();
    else if (wireType === wire.bytes) this.#position = this.enter();
    else if (wireType === wire.fixed64) this.#advance(8);
    else if (wireType === wire.fixed32) this.#advance(4);
    else this.broken = true;
  }

  /** Groups may be nested as deep as the frame is long, so the way out is remembered in a list, not on the call stack. */
  #skipGroup(field: number): void {
    const open = [field];
    while (open.length > 0) {
      const tag = this.next();
      if (tag === 0) {
        this.broken = true;
        return;
      }
      if ((tag & 7) === wire.startGroup) open.push(tag >>> 3);
      else if ((tag & 7) !== wire.endGroup) this.#skipValue(tag & 7);
      else if (open.pop() !== tag >>> 3) this.broken = true;
    }
  }

  #advance(length: number): void {
    if (length > this.#end - this.#position) this.broken = true;
    else this.#position += length;
  }
}

export const wire = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

export const tagOf = (field: number, wireType: number): number => ((field << 3) | wireType) >>> 0;

/** Writes a 32-bit number in 7-bit groups, the lowest first; returns the position behind it. */
export function writeVarint(bytes: Uint8Array, position: number, value: number): number {
  let rest = value;
  let next = position;
  while (rest > 0x7f) {
    bytes[next] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
    next += 1;
  }
  bytes[next] = rest;
  return next + 1;
}
