/** The head of an unmasked frame, as servers send them. */
export function frameHead(opcode: number, length: number): Buffer {
  const first = 0x80 | opcode;
  if (length < 126) return Buffer.from([first, length]);
  if (length < 0x1_0000) return Buffer.from([first, 126, length >> 8, length & 0xff]);
  const head = Buffer.alloc(10);
  head[0] = first;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}
