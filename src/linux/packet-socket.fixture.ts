import koffi from 'koffi';
import { cFunction, KernelError } from './kernel.ts';
import { requireLink } from './links.ts';
import { Netlink } from './netlink/connection.ts';
import { inNetworkNamespace } from './network-namespace.ts';

/** A frame as it is on the wire. */
export interface Frame {
  /** The VLAN of its tag. */
  readonly vlan: number | undefined;
  readonly from: string;
  readonly to: string;
  readonly type: number;
  readonly content: string;
}

/** Sends and sees whole frames on one link, before any filter and after every one. */
export class PacketSocket {
  readonly #socket: number;

  constructor(namespace: string, link: string) {
    this.#socket = inNetworkNamespace(namespace, () => {
      using netlink = new Netlink();
      const descriptor = socket('open a packet socket', AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, ALL_PROTOCOLS_BE);
      setsockopt('ask for tags', descriptor, SOL_PACKET, AUXILIARY_DATA, Buffer.of(1, 0, 0, 0), 4);
      const place = Buffer.alloc(20);
      place.writeUInt16LE(AF_PACKET, 0);
      place.writeUInt16LE(ALL_PROTOCOLS_BE, 2);
      place.writeInt32LE(requireLink(netlink, link).index, 4);
      bind('look at one link', descriptor, place, place.length);
      return descriptor;
    });
  }

  /** To everybody, unless it says to whom. Its type is one that no kernel takes an interest in. */
  send({ vlan, content, from = '02:00:00:00:00:01', to = 'ff:ff:ff:ff:ff:ff' }: Partial<Frame>): void {
    const tag = vlan === undefined ? Buffer.alloc(0) : Buffer.from([0x81, 0x00, vlan >> 8, vlan & 0xff]);
    const text = Buffer.alloc(46);
    text.write(content ?? '');
    const type = Buffer.from([OUR_TYPE >> 8, OUR_TYPE & 0xff]);
    const frame = Buffer.concat([macBytes(to), macBytes(from), tag, type, text]);
    send('send a frame', this.#socket, frame, frame.length, 0);
  }

  /** Everything that has passed here since it was last asked for, in both directions. */
  passed(): Frame[] {
    const frames: Frame[] = [];
    for (let next = this.#next(); next !== undefined; next = this.#next()) frames.push(next);
    return frames;
  }

  /** Of that, what other sockets like this one have sent. */
  received(): Frame[] {
    return this.passed().filter(({ type }) => type === OUR_TYPE);
  }

  close(): void {
    close('close a packet socket', this.#socket);
  }

  #next(): Frame | undefined {
    const bytes = Buffer.alloc(2048);
    const auxiliary = Buffer.alloc(64);
    const vector = Buffer.alloc(16);
    vector.writeBigUInt64LE(koffi.address(bytes), 0);
    vector.writeBigUInt64LE(BigInt(bytes.length), 8);
    const message = Buffer.alloc(56);
    message.writeBigUInt64LE(koffi.address(vector), 16);
    message.writeBigUInt64LE(1n, 24);
    message.writeBigUInt64LE(koffi.address(auxiliary), 32);
    message.writeBigUInt64LE(BigInt(auxiliary.length), 40);
    try {
      recvmsg('receive a frame', this.#socket, message, 0);
    } catch (error) {
      if (error instanceof KernelError && /^(EAGAIN|EWOULDBLOCK)$/.test(error.code)) return undefined;
      throw error;
    }
    // The kernel has taken the tag off, and tells it beside the frame: struct tpacket_auxdata behind a header of 16 bytes.
    const isTagged = (auxiliary.readUInt32LE(16) & TAG_IS_VALID) !== 0;
    return {
      vlan: isTagged ? auxiliary.readUInt16LE(16 + 16) & 0xfff : undefined,
      to: macText(bytes, 0),
      from: macText(bytes, 6),
      type: bytes.readUInt16BE(12),
      content: bytes.toString('utf8', 14, Math.max(14, bytes.indexOf(0, 14))),
    };
  }
}

const macBytes = (text: string): Buffer => Buffer.from(text.replaceAll(':', ''), 'hex');
const macText = (bytes: Buffer, at: number): string =>
  [...bytes.subarray(at, at + 6)].map((byte) => byte.toString(16).padStart(2, '0')).join(':');

const socket = cFunction('int socket(int domain, int type, int protocol)');
const setsockopt = cFunction('int setsockopt(int fd, int level, int name, const void *value, uint32_t length)');
const bind = cFunction('int bind(int fd, const void *address, uint32_t length)');
const send = cFunction('int64_t send(int fd, const void *bytes, uint64_t length, int flags)');
const recvmsg = cFunction('int64_t recvmsg(int fd, void *message, int flags)');
const close = cFunction('int close(int fd)');

const AF_PACKET = 17;
const SOCK_RAW = 3;
const SOCK_NONBLOCK = 0o4000;
const ALL_PROTOCOLS_BE = 0x0300;
const SOL_PACKET = 263;
const AUXILIARY_DATA = 8;
const TAG_IS_VALID = 1 << 4;
/** For experiments, says the standard. */
const OUR_TYPE = 0x88b5;
