/** Reads the protobuf wire format field by field, without copying and without throwing: after bad input `broken` is set. */
export class ProtobufReader {
  broken = false;
  #bytes: Uint8Array = new Uint8Array();
  #position = 0;
  #end = 0;

  /** The number of the current field, and how it is encoded. */
  field = 0;
  wireType = 0;

  open(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes = bytes;
    this.#position = start;
    this.#end = end;
    this.broken = false;
  }

  /** Goes on to the next field; false at the end, or if there is none that could be read. */
  next(): boolean {
    if (this.broken || this.#position >= this.#end) return false;
    const tag = this.varint();
    this.field = tag >>> 3;
    this.wireType = tag & 7;
    if (this.field === 0) this.broken = true;
    return !this.broken;
  }

  /** The lower 32 bits of a variable-length number, which is what protobuf keeps of it in a 32-bit field. */
  varint(): number {
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

  /** Passes over the current field, whatever it is: newer peers may send fields that are not known here. */
  skip(): void {
    if (this.wireType === wire.startGroup) this.#skipGroup();
    else this.#skipValue();
  }

  #skipValue(): void {
    if (this.wireType === wire.varint) this.varint();
    else if (this.wireType === wire.bytes) this.#position = this.enter();
    else if (this.wireType === wire.fixed64) this.#advance(8);
    else if (this.wireType === wire.fixed32) this.#advance(4);
    else this.broken = true;
  }

  /** Groups may be nested as deep as the frame is long, so the way out is remembered in a list, not on the call stack. */
  #skipGroup(): void {
    const open = [this.field];
    while (open.length > 0) {
      if (!this.next()) {
        this.broken = true;
        return;
      }
      if (this.wireType === wire.startGroup) open.push(this.field);
      else if (this.wireType !== wire.endGroup) this.#skipValue();
      else if (open.pop() !== this.field) this.broken = true;
    }
  }

  #advance(length: number): void {
    if (length > this.#end - this.#position) this.broken = true;
    else this.#position += length;
  }
}

export const wire = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

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
