import { aligned, readAttributes, readText } from './attributes.ts';

/** What is asked of the kernel: the fixed part of a message of this type, and its attributes. */
export interface Request {
  /** What a refusal is about, for whoever has to act on it: `add the route 10.0.0.0/8`. */
  readonly doing: string;
  readonly type: number;
  readonly flags: number;
  readonly body: readonly Uint8Array[];
}

export interface Message {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  readonly body: Buffer;
}

export function encode({ type, flags, body }: Pick<Request, 'type' | 'flags' | 'body'>, sequence: number): Buffer {
  const payload = Buffer.concat(body);
  const bytes = Buffer.alloc(aligned(HEADER + payload.length));
  bytes.writeUInt32LE(HEADER + payload.length, 0);
  bytes.writeUInt16LE(type, 4);
  bytes.writeUInt16LE(flags, 6);
  bytes.writeUInt32LE(sequence, 8);
  bytes.set(payload, HEADER);
  return bytes;
}

export function* decode(bytes: Buffer): Generator<Message> {
  for (let at = 0; at + HEADER <= bytes.length; ) {
    const length = bytes.readUInt32LE(at);
    if (length < HEADER || at + length > bytes.length) return;
    yield {
      type: bytes.readUInt16LE(at + 4),
      flags: bytes.readUInt16LE(at + 6),
      sequence: bytes.readUInt32LE(at + 8),
      body: bytes.subarray(at + HEADER, at + length),
    };
    at += aligned(length);
  }
}

/** What the kernel answers a request with: 0 for done, or its error number, and what it says about it. */
export function readAcknowledgement({ type, flags, body }: Message): { errno: number; said: string | undefined } {
  const errno = -body.readInt32LE(0);
  if ((flags & HAS_ATTRIBUTES) === 0) return { errno, said: undefined };
  // The request comes back between the number and the attributes: its header only, or all of it; but not at the end of a list.
  const whole = (flags & CAPPED) === 0 && type === messageType.error ? aligned(body.readUInt32LE(4)) : HEADER;
  const request = type === messageType.error ? whole : 0;
  return { errno, said: readText(readAttributes(body.subarray(4 + request)).get(SAID)) };
}

export const flag = {
  request: 0x1,
  acknowledge: 0x4,
  dump: 0x300,
  replace: 0x100,
  exclusive: 0x200,
  create: 0x400,
} as const;

export const messageType = { error: 2, done: 3 } as const;

const HEADER = 16;
const CAPPED = 0x100;
const HAS_ATTRIBUTES = 0x200;
const SAID = 1;
