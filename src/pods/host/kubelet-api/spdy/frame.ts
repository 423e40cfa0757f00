/** The types of control frames. SETTINGS, HEADERS and WINDOW_UPDATE may come, and change nothing here. */
export const TYPES = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;

/** Why a stream is reset. */
export const RESET = { protocolError: 1, invalidStream: 2, refusedStream: 3, cancel: 5 } as const;

export function controlFrame(type: number, body: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16BE(0x8003, 0);
  head.writeUInt16BE(type, 2);
  head[4] = flags;
  head.writeUIntBE(body.length, 5, 3);
  return Buffer.concat([head, body]);
}

/** The head of a data frame, and what follows it. */
export function dataFrame(stream: number, bytes: Buffer, flags = 0): readonly Buffer[] {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(stream, 0);
  head[4] = flags;
  head.writeUIntBE(bytes.length, 5, 3);
  return [head, bytes];
}

export function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}
