import type { Address, Family } from '../api/address.ts';
import { cFunction, KernelError } from './kernel.ts';
import { addressBytes, readAddress } from './netlink/attributes.ts';

/**
 * Asks hosts for an echo (ICMP). The kernel of the other host answers, however busy its processes are, and the kernel here keeps
 * the answer until it is taken: who looks late still sees that it came. Nothing here waits.
 */
export class EchoSocket {
  readonly family: Family;
  readonly #socket: number;
  readonly #kind: (typeof kinds)[Family];
  readonly #id: number;
  readonly #bytes = Buffer.alloc(512);
  readonly #from = Buffer.alloc(28);
  readonly #fromLength = Buffer.alloc(4);

  /** @param id tells its questions from those of others on this host; below 65536 */
  constructor(family: Family, id: number) {
    this.family = family;
    this.#id = id;
    this.#kind = kinds[family];
    const { domain, protocol, level, filter } = this.#kind;
    this.#socket = socket('open a socket for echoes', domain, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
    setsockopt('ask for echoes only', this.#socket, level, ONLY_TYPES, filter, filter.length);
  }

  /** Whatever keeps it from leaving shows in the answer that does not come. */
  ask(address: Address): void {
    const message = Buffer.alloc(8);
    message.writeUInt8(this.#kind.question, 0);
    message.writeUInt16BE(this.#id, 4);
    // The kernel does so itself for IPv6, where the addresses count as well.
    if (this.family === 4) message.writeUInt16BE(checksum(message), 2);
    const place = socketAddress(address);
    try {
      sendto('ask for an echo', this.#socket, message, message.length, 0, place, place.length);
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
    }
  }

  /** Who has answered since this was last asked. */
  answers(): Address[] {
    const found: Address[] = [];
    for (let i = 0; i < AT_ONCE; i += 1) {
      const length = this.#receive();
      if (length === undefined) break;
      const address = this.#read(length);
      if (address !== undefined) found.push(address);
    }
    return found;
  }

  close(): void {
    close('close a socket for echoes', this.#socket);
  }

  #receive(): number | undefined {
    this.#fromLength.writeUInt32LE(this.#from.length);
    try {
      const [bytes, from] = [this.#bytes, this.#from];
      return recvfrom('take an echo', this.#socket, bytes, bytes.length, 0, from, this.#fromLength);
    } catch (error) {
      if (error instanceof KernelError) return undefined;
      throw error;
    }
  }

  #read(length: number): Address | undefined {
    // For IPv4 the header of the packet is there as well, with its length in words.
    const start = this.family === 4 ? (this.#bytes.readUInt8(0) & 0xf) * 4 : 0;
    if (length < start + 8 || this.#bytes.readUInt8(start) !== this.#kind.answer) return undefined;
    if (this.#bytes.readUInt16BE(start + 4) !== this.#id) return undefined;
    return readAddress(this.family === 4 ? this.#from.subarray(4, 8) : this.#from.subarray(8, 24));
  }
}

/** struct sockaddr_in, struct sockaddr_in6 */
function socketAddress(address: Address): Buffer {
  const bytes = Buffer.alloc(address.family === 4 ? 16 : 28);
  bytes.writeUInt16LE(kinds[address.family].domain, 0);
  addressBytes(address).copy(bytes, address.family === 4 ? 4 : 8);
  return bytes;
}

/** The Internet checksum (RFC 1071). */
function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += bytes.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return ~sum & 0xffff;
}

/** A bit for each type of message that is not to be passed. */
function allBut(type: number, length: number): Buffer {
  const bytes = Buffer.alloc(length, 0xff);
  const word = (type >> 5) * 4;
  bytes.writeUInt32LE((bytes.readUInt32LE(word) & ~(1 << (type & 31))) >>> 0, word);
  return bytes;
}

const kinds = {
  4: { domain: 2, protocol: 1, level: 255, filter: allBut(0, 4), question: 8, answer: 0 },
  6: { domain: 10, protocol: 58, level: 58, filter: allBut(129, 32), question: 128, answer: 129 },
} as const;

const socket = cFunction('int socket(int domain, int type, int protocol)');
const setsockopt = cFunction('int setsockopt(int fd, int level, int name, const void *value, uint32_t length)');
const sendto = cFunction(
  'int64_t sendto(int fd, const void *bytes, uint64_t length, int flags, const void *to, uint32_t toLength)',
);
const recvfrom = cFunction(
  'int64_t recvfrom(int fd, void *bytes, uint64_t length, int flags, void *from, void *fromLength)',
);
const close = cFunction('int close(int fd)');

const SOCK_RAW = 3;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
/** ICMP_FILTER and ICMPV6_FILTER have the same number. */
const ONLY_TYPES = 1;
/** A flood of answers nobody asked for does not keep us from other work. */
const AT_ONCE = 10_000;
