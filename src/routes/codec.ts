import type { Words } from './address.ts';
import { at } from './columns.ts';
import { frameType, headerLength, writeHeader } from './frames.ts';
import { ProtobufReader, wire, writeVarint } from './protobuf.ts';
import { routeWords, shape, wordOf } from './route.ts';

/** What the first message of a session says. */
export interface Hello {
  readonly keepaliveSeconds: number;
  readonly isServer: boolean;
  /** Set by Netloom only: the peer reads frames however they are split and has no limit on what waits to be read. */
  readonly readsAnySplit: boolean;
}

/** A field that metalbond does not have and passes over. */
const readsAnySplitField = 4711;

/** No UPDATE, SUBSCRIBE, HELLO or KEEPALIVE that is written here is longer. */
export const longestFrame = 96;

export function helloFrame(hello: Hello): Uint8Array {
  return frame(frameType.hello, (bytes, start) => {
    let end = start;
    end = writeField(bytes, end, 1, hello.keepaliveSeconds);
    end = writeField(bytes, end, 2, hello.isServer ? 1 : 0);
    return writeField(bytes, end, readsAnySplitField, hello.readsAnySplit ? 1 : 0);
  });
}

export const keepaliveFrame = (): Uint8Array => frame(frameType.keepalive, (_, start) => start);

export const subscriptionFrame = (subscribe: boolean, vni: number): Uint8Array =>
  frame(subscribe ? frameType.subscribe : frameType.unsubscribe, (bytes, start) => writeField(bytes, start, 1, vni));

function frame(type: number, writePayload: (bytes: Uint8Array, start: number) => number): Uint8Array {
  const bytes = new Uint8Array(longestFrame);
  const end = writePayload(bytes, headerLength);
  writeHeader(bytes, 0, type, end - headerLength);
  return bytes.subarray(0, end);
}

/** Undefined if the payload is not protobuf. */
export function decodeHello(bytes: Uint8Array, start: number, end: number): Hello | undefined {
  const hello = { keepaliveSeconds: 0, isServer: false, readsAnySplit: false };
  const reader = new ProtobufReader();
  reader.open(bytes, start, end);
  while (reader.next()) {
    if (reader.wireType !== wire.varint) reader.skip();
    else if (reader.field === 1) hello.keepaliveSeconds = reader.varint();
    else if (reader.field === 2) hello.isServer = reader.varint() !== 0;
    else if (reader.field === readsAnySplitField) hello.readsAnySplit = reader.varint() !== 0;
    else reader.skip();
  }
  return reader.broken ? undefined : hello;
}

/** The VNI of a SUBSCRIBE or UNSUBSCRIBE; undefined if the payload is not protobuf. */
export function decodeSubscription(bytes: Uint8Array, start: number, end: number): number | undefined {
  const reader = new ProtobufReader();
  let vni = 0;
  reader.open(bytes, start, end);
  while (reader.next()) {
    if (reader.field === 1 && reader.wireType === wire.varint) vni = reader.varint();
    else reader.skip();
  }
  return reader.broken ? undefined : vni;
}

export type UpdateProblem =
  | 'garbled'
  | 'no destination'
  | 'no next hop'
  | 'bad prefix'
  | 'bad next hop'
  | 'bad ports'
  | 'unknown kind';
export type DecodedUpdate = 'add' | 'remove' | UpdateProblem;

/** Reads UPDATEs one after the other into the same twelve words. */
export class UpdateDecoder {
  readonly words: Words = new Uint32Array(routeWords);
  readonly #reader = new ProtobufReader();
  #action = 0;
  #hasDestination = false;
  #hasNextHop = false;
  #prefixIsIPv6 = false;
  #prefixBytes = 0;
  #prefixLength = 0;
  #hopBytes = 0;
  #type = 0;
  #portFrom = 0;
  #portTo = 0;

  decode(bytes: Uint8Array, start: number, end: number): DecodedUpdate {
    this.#reset();
    const reader = this.#reader;
    reader.open(bytes, start, end);
    while (reader.next()) {
      if (reader.field === 1 && reader.wireType === wire.varint) this.#action = reader.varint();
      else if (reader.field === 2 && reader.wireType === wire.varint) this.words[wordOf.vni] = reader.varint();
      else if (reader.field === 3 && reader.wireType === wire.bytes) this.#readDestination(bytes);
      else if (reader.field === 4 && reader.wireType === wire.bytes) this.#readNextHop(bytes);
      else reader.skip();
    }
    return this.#judge();
  }

  #reset(): void {
    this.words.fill(0);
    this.#action = 0;
    this.#hasDestination = false;
    this.#hasNextHop = false;
    this.#prefixIsIPv6 = false;
    this.#prefixBytes = 0;
    this.#prefixLength = 0;
    this.#hopBytes = 0;
    this.#type = 0;
    this.#portFrom = 0;
    this.#portTo = 0;
  }

  /** A message that comes twice is merged with its predecessor: that is the rule of protobuf. */
  #readDestination(bytes: Uint8Array): void {
    const reader = this.#reader;
    this.#hasDestination = true;
    const outer = reader.narrow(reader.enter());
    while (reader.next()) {
      if (reader.field === 1 && reader.wireType === wire.varint) this.#prefixIsIPv6 = reader.varint() !== 0;
      else if (reader.field === 2 && reader.wireType === wire.bytes) {
        this.#prefixBytes = this.#readAddress(bytes, wordOf.prefix);
      } else if (reader.field === 3 && reader.wireType === wire.varint) this.#prefixLength = reader.varint();
      else reader.skip();
    }
    reader.leave(outer);
  }

  #readNextHop(bytes: Uint8Array): void {
    const reader = this.#reader;
    this.#hasNextHop = true;
    const outer = reader.narrow(reader.enter());
    while (reader.next()) {
      if (reader.field === 1 && reader.wireType === wire.bytes) this.#hopBytes = this.#readAddress(bytes, wordOf.hop);
      else if (reader.wireType !== wire.varint) reader.skip();
      else if (reader.field === 2) this.words[wordOf.hopVni] = reader.varint();
      else if (reader.field === 3) this.#type = reader.varint();
      else if (reader.field === 4) this.#portFrom = reader.varint();
      else if (reader.field === 5) this.#portTo = reader.varint();
      else reader.skip();
    }
    reader.leave(outer);
  }

  /** Returns how many bytes the address has; what is neither IPv4 nor IPv6 is refused when the whole has been read. */
  #readAddress(bytes: Uint8Array, word: number): number {
    const start = this.#reader.position;
    const end = this.#reader.enter();
    const first = this.#reader.position;
    this.#reader.jump(Math.max(end, start));
    const length = end - first;
    this.words.fill(0, word, word + 4);
    if (length !== 4 && length !== 16) return length;
    for (let i = 0; i < length / 4; i += 1) this.words[word + i] = wordAt(bytes, first + 4 * i);
    return length;
  }

  #judge(): DecodedUpdate {
    if (this.#reader.broken) return 'garbled';
    if (!this.#hasDestination) return 'no destination';
    if (!this.#hasNextHop) return 'no next hop';
    const longest = this.#prefixIsIPv6 ? 128 : 32;
    if (this.#prefixBytes !== longest / 8 || this.#prefixLength > longest) return 'bad prefix';
    if (this.#hopBytes !== 4 && this.#hopBytes !== 16) return 'bad next hop';
    if (this.#type > 2 || this.#action > 1) return 'unknown kind';
    if (this.#portFrom > 0xffff || this.#portTo > 0xffff) return 'bad ports';
    this.words[wordOf.shape] = shape.of(this.#prefixLength, this.#type, this.#prefixIsIPv6, this.#hopBytes === 16);
    // Ports mean something for NAT only; ignoring them elsewhere keeps what is sent on the same as what is known.
    if (this.#type === natType) this.words[wordOf.ports] = ((this.#portFrom << 16) | this.#portTo) >>> 0;
    return this.#action === 0 ? 'add' : 'remove';
  }
}

const natType = 1;

const wordAt = (bytes: Uint8Array, i: number): number =>
  (((bytes[i] ?? 0) << 24) | ((bytes[i + 1] ?? 0) << 16) | ((bytes[i + 2] ?? 0) << 8) | (bytes[i + 3] ?? 0)) >>> 0;

/** Writes the UPDATE of the route at `words[from]`; returns the position behind it. Needs room for `longestFrame` bytes. */
export function writeUpdate(bytes: Uint8Array, start: number, add: boolean, words: Words, from: number): number {
  const look = at(words, from + wordOf.shape);
  let position = start + headerLength;
  position = writeField(bytes, position, 1, add ? 0 : 1);
  position = writeField(bytes, position, 2, at(words, from + wordOf.vni));
  position = writeMessage(bytes, position, 3, writeDestination(bytes, position + 2, words, from, look));
  position = writeMessage(bytes, position, 4, writeNextHop(bytes, position + 2, words, from, look));
  writeHeader(bytes, start, frameType.update, position - start - headerLength);
  return position;
}

function writeDestination(bytes: Uint8Array, start: number, words: Words, from: number, look: number): number {
  const family = shape.prefixFamily(look);
  let position = writeField(bytes, start, 1, family === 6 ? 1 : 0);
  position = writeAddress(bytes, position, 2, words, from + wordOf.prefix, family);
  return writeField(bytes, position, 3, shape.prefixLength(look));
}

function writeNextHop(bytes: Uint8Array, start: number, words: Words, from: number, look: number): number {
  const ports = at(words, from + wordOf.ports);
  let position = writeAddress(bytes, start, 1, words, from + wordOf.hop, shape.hopFamily(look));
  position = writeField(bytes, position, 2, at(words, from + wordOf.hopVni));
  position = writeField(bytes, position, 3, shape.type(look));
  position = writeField(bytes, position, 4, ports >>> 16);
  return writeField(bytes, position, 5, ports & 0xffff);
}

/** A number that is 0 is not written: absent means 0. */
function writeField(bytes: Uint8Array, position: number, field: number, value: number): number {
  if (value === 0) return position;
  return writeVarint(bytes, writeVarint(bytes, position, ((field << 3) | wire.varint) >>> 0), value);
}

/** Puts tag and length before a message that was written from `position + 2` on; it is always shorter than 128 bytes. */
function writeMessage(bytes: Uint8Array, position: number, field: number, end: number): number {
  bytes[position] = (field << 3) | wire.bytes;
  bytes[position + 1] = end - position - 2;
  return end;
}

function writeAddress(
  bytes: Uint8Array,
  start: number,
  field: number,
  words: Words,
  word: number,
  family: 4 | 6,
): number {
  const count = family === 4 ? 1 : 4;
  bytes[start] = (field << 3) | wire.bytes;
  bytes[start + 1] = count * 4;
  let position = start + 2;
  for (let i = 0; i < count; i += 1) {
    const value = at(words, word + i);
    bytes[position] = value >>> 24;
    bytes[position + 1] = value >>> 16;
    bytes[position + 2] = value >>> 8;
    bytes[position + 3] = value;
    position += 4;
  }
  return position;
}
