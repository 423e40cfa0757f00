import { Address, bitsOf } from '../../api/address.ts';

/**
 * What netlink messages are made of: a number that says what follows, and bytes. Numbers are in the byte order of the
 * machine; all machines that Netloom runs on are little-endian.
 */
export function attribute(type: number, value: Uint8Array): Buffer {
  const length = 4 + value.length;
  const bytes = Buffer.alloc(aligned(length));
  bytes.writeUInt16LE(length, 0);
  bytes.writeUInt16LE(type, 2);
  bytes.set(value, 4);
  return bytes;
}

export const nested = (type: number, ...inner: readonly Uint8Array[]): Buffer => attribute(type, Buffer.concat(inner));

export function u8(value: number): Buffer {
  return Buffer.of(value);
}

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

export function u16be(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function u32be(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

export const text = (value: string): Buffer => Buffer.from(`${value}\0`);

export const mac = (value: string): Buffer => Buffer.from(value.replaceAll(':', ''), 'hex');

export function addressBytes(address: Address): Buffer {
  return Buffer.from(address.value.toString(16).padStart(bitsOf(address.family) / 4, '0'), 'hex');
}

/** By their numbers; of several with one number, the last. */
export type Attributes = ReadonlyMap<number, Buffer>;

export function readAttributes(bytes: Buffer): Attributes {
  const found = new Map<number, Buffer>();
  for (let at = 0; at + 4 <= bytes.length; ) {
    const length = bytes.readUInt16LE(at);
    if (length < 4 || at + length > bytes.length) break;
    found.set(bytes.readUInt16LE(at + 2) & TYPE, bytes.subarray(at + 4, at + length));
    at += aligned(length);
  }
  return found;
}

export const readU32 = (bytes: Buffer | undefined): number | undefined =>
  bytes !== undefined && bytes.length >= 4 ? bytes.readUInt32LE() : undefined;

export const readText = (bytes: Buffer | undefined): string | undefined => bytes?.toString('utf8').split('\0', 1)[0];

export const readMac = (bytes: Buffer | undefined): string | undefined =>
  bytes === undefined ? undefined : [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(':');

export function readAddress(bytes: Buffer | undefined): Address | undefined {
  if (bytes === undefined || (bytes.length !== 4 && bytes.length !== 16)) return undefined;
  return Address.of(bytes.length === 4 ? 4 : 6, BigInt(`0x${bytes.toString('hex')}`));
}

export const aligned = (length: number): number => (length + 3) & ~3;

/** The two highest bits of a type say how to read the value. */
const TYPE = 0x3fff;
