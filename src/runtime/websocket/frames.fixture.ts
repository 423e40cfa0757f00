export interface FrameParts {
  readonly opcode: number;
  readonly payload?: Buffer;
  readonly final?: boolean;
  readonly mask?: Buffer;
}

/** A frame as clients send them. */
export function clientFrame({ opcode, payload = Buffer.alloc(0), final = true, mask = MASK }: FrameParts): Buffer {
  const { length } = payload;
  const size = length < 126 ? length : length < 0x1_0000 ? 126 : 127;
  const head = Buffer.alloc(size === 126 ? 4 : size === 127 ? 10 : 2);
  head[0] = (final ? 0x80 : 0) | opcode;
  head[1] = 0x80 | size;
  if (size === 126) head.writeUInt16BE(length, 2);
  if (size === 127) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, mask, payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0))]);
}

const MASK = Buffer.of(0x12, 0x34, 0xab, 0xcd);

/** The same bytes, in pieces that end where the numbers say. */
export function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const ends = [...at.map((each) => each % (bytes.length + 1)), bytes.length].sort((one, other) => one - other);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}
