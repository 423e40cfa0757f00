import type { Words } from './address.ts';
import { at } from './columns.ts';
import { frameType, headerLength, writeHeader } from './frames.ts';
import { ProtobufReader, tagOf, wire, writeVarint } from './protobuf.ts';
import { routeWords, shape, wordOf } from './route.ts';

/** What the first message of a session says. */
export interface Hello {
  readonly keepaliveSeconds: number;
  readonly isServer: boolean;
  /** Set by Netloom only: the peer reads frames however they are split and has no limit on what waits to be read. */
  readonly readsAnySplit: boolean;
}

const number = (field: number): number => tagOf(field, wire.varint);
const message = (field: number): number => tagOf(field, wire.bytes);

/** The fields of all messages, as they stand on the wire. */
const tags = {
  hello: {
    keepaliveInterval: number(1),
    isServer: number(2),
    /** metalbond does not have it and passes over it. */
    readsAnySplit: number(4711),
  },
  subscription: { vni: number(1) },
  update: { action: number(1), vni: number(2), destination: message(3), nextHop: message(4) },
  destination: { ipVersion: number(1), prefix: message(2), prefixLength: number(3) },
  nextHop: { targetAddress: message(1), targetVni: number(2), type: number(3), portFrom: number(4), portTo: number(5) },
};

/** No UPDATE, SUBSCRIBE, HELLO or KEEPALIVE that is written here is longer. */
export const longestFrame = 96;

export function helloFrame(hello: Hello): Uint8Array {
  return frame(frameType.hello, (bytes, start) => {
    let end = start;
    end = writeField(bytes, end, tags.hello.keepaliveInterval, hello.keepaliveSeconds);
    end = writeField(bytes, end, tags.hello.isServer, hello.isServer ? 1 : 0);
    return writeField(bytes, end, tags.hello.readsAnySplit, hello.readsAnySplit ? 1 : 0);
  });
}

export const keepaliveFrame = (): Uint8Array => frame(frameType.keepalive, (_, start) => start);

export const subscriptionFrame = (subscribe: boolean, vni: number): Uint8Array =>
  frame(subscribe ? frameType.subscribe : frameType.unsubscribe, (bytes, start) =>
    writeField(bytes, start, tags.subscription.vni, vni),
  );

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
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === tags.hello.keepaliveInterval) hello.keepaliveSeconds = reader.varint();
    else if (tag === tags.hello.isServer) hello.isServer = reader.varint() !== 0;
    else if (tag === tags.hello.readsAnySplit) hello.readsAnySplit = reader.varint() !== 0;
    else reader.skip(tag);
  }
  return reader.broken ? undefined : hello;
}

/** The VNI of a SUBSCRIBE or UNSUBSCRIBE; undefined if the payload is not protobuf. */
export function decodeSubscription(bytes: Uint8Array, start: number, end: number): number | undefined {
  const reader = new ProtobufReader();
  let vni = 0;
  reader.open(bytes, start, end);
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === tags.subscription.vni) vni = reader.varint();
    else reader.skip(tag);
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
    for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
      if (tag === tags.update.vni) this.words[wordOf.vni] = reader.varint();
      else if (tag === tags.update.destination) this.#readDestination(bytes);
      else if (tag === tags.update.nextHop) this.#readNextHop(bytes);
      else if (tag === tags.update.action) this.#action = reader.varint();
      else reader.skip(tag);
    }
    return this.#judge();
  }

  #reset(): void {
    for (let i = 0; i < routeWords; i += 1) this.words[i] = 0;
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
    for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
      if (tag === tags.destination.prefix) this.#prefixBytes = this.#readAddress(bytes, wordOf.prefix);
      else if (tag === tags.destination.prefixLength) this.#prefixLength = reader.varint();
      else if (tag === tags.destination.ipVersion) this.#prefixIsIPv6 = reader.varint() !== 0;
      else reader.skip(tag);
    }
    reader.leave(outer);
  }

  #readNextHop(bytes: Uint8Array): void {
    const reader = this.#reader;
    this.#hasNextHop = true;
    const outer = reader.narrow(reader.enter());
    for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
      if (tag === tags.nextHop.targetAddress) this.#hopBytes = this.#readAddress(bytes, wordOf.hop);
      else if (tag === tags.nextHop.targetVni) this.words[wordOf.hopVni] = reader.varint();
      else if (tag === tags.nextHop.type) this.#type = reader.varint();
      else if (tag === tags.nextHop.portFrom) this.#portFrom = reader.varint();
      else if (tag === tags.nextHop.portTo) this.#portTo = reader.varint();
      else reader.skip(tag);
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
    if (length !== 4 && length !== 16) return length;
    const { words } = this;
    words[word] = wordAt(bytes, first);
    words[word + 1] = length === 16 ? wordAt(bytes, first + 4) : 0;
    words[word + 2] = length === 16 ? wordAt(bytes, first + 8) : 0;
    words[word + 3] = length === 16 ? wordAt(bytes, first + 12) : 0;
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
  position = writeField(bytes, position, tags.update.action, add ? 0 : 1);
  position = writeField(bytes, position, tags.update.vni, at(words, from + wordOf.vni));
  position = writeMessage(
    bytes,
    position,
    tags.update.destination,
    writeDestination(bytes, position + 2, words, from, look),
  );
  position = writeMessage(bytes, position, tags.update.nextHop, writeNextHop(bytes, position + 2, words, from, look));
  writeHeader(bytes, start, frameType.update, position - start - headerLength);
  return position;
}

function writeDestination(bytes: Uint8Array, start: number, words: Words, from: number, look: number): number {
  const family = shape.prefixFamily(look);
  let position = writeField(bytes, start, tags.destination.ipVersion, family === 6 ? 1 : 0);
  position = writeAddress(bytes, position, tags.destination.prefix, words, from + wordOf.prefix, family);
  return writeField(bytes, position, tags.destination.prefixLength, shape.prefixLength(look));
}

function writeNextHop(bytes: Uint8Array, start: number, words: Words, from: number, look: number): number {
  const ports = at(words, from + wordOf.ports);
  let position = writeAddress(
    bytes,
    start,
    tags.nextHop.targetAddress,
    words,
    from + wordOf.hop,
    shape.hopFamily(look),
  );
  position = writeField(bytes, position, tags.nextHop.targetVni, at(words, from + wordOf.hopVni));
  position = writeField(bytes, position, tags.nextHop.type, shape.type(look));
  position = writeField(bytes, position, tags.nextHop.portFrom, ports >>> 16);
  return writeField(bytes, position, tags.nextHop.portTo, ports & 0xffff);
}

/** A number that is 0 is not written: absent means 0. */
function writeField(bytes: Uint8Array, position: number, tag: number, value: number): number {
  if (value === 0) return position;
  return writeVarint(bytes, writeVarint(bytes, position, tag), value);
}

/** Puts tag and length before a message that was written from `position + 2` on; it is always shorter than 128 bytes. */
function writeMessage(bytes: Uint8Array, position: number, tag: number, end: number): number {
  bytes[position] = tag;
  bytes[position + 1] = end - position - 2;
  return end;
}

function writeAddress(
  bytes: Uint8Array,
  start: number,
  tag: number,
  words: Words,
  word: number,
  family: 4 | 6,
): number {
  const count = family === 4 ? 1 : 4;
  bytes[start] = tag;
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
