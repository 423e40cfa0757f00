/** @param mask of what clients send; servers send without */
export function frame(opcode: number, parts: readonly Buffer[], mask?: Buffer): readonly Buffer[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (mask === undefined) return [frameHead(opcode, length, 0), ...parts];
  return [frameHead(opcode, length, 0x80), mask, masked(Buffer.concat(parts, length), mask)];
}

function frameHead(opcode: number, length: number, isMasked: number): Buffer {
  const first = 0x80 | opcode;
  if (length < 126) return Buffer.of(first, isMasked | length);
  if (length < 0x1_0000) return Buffer.of(first, isMasked | 126, length >> 8, length & 0xff);
  const head = Buffer.alloc(10);
  head[0] = first;
  head[1] = isMasked | 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

/** The same with the mask on it, or without the mask that is on it. `come`: how much of the payload was there before. */
export function masked(payload: Buffer, mask: Buffer, come = 0): Buffer {
  const bytes = Buffer.allocUnsafe(payload.length);
  const turned = [0, 1, 2, 3].map((at) => mask[(come + at) & 3] ?? 0);
  const [one = 0, two = 0, three = 0, four = 0] = turned;
  let at = 0;
  for (; at + 3 < payload.length; at += 4) {
    bytes[at] = (payload[at] ?? 0) ^ one;
    bytes[at + 1] = (payload[at + 1] ?? 0) ^ two;
    bytes[at + 2] = (payload[at + 2] ?? 0) ^ three;
    bytes[at + 3] = (payload[at + 3] ?? 0) ^ four;
  }
  for (; at < payload.length; at += 1) bytes[at] = (payload[at] ?? 0) ^ (turned[at & 3] ?? 0);
  return bytes;
}
