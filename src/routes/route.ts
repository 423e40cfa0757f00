import { type Family, formatAddress, parseAddress, type Words } from './address.ts';
import { at } from './columns.ts';

/** Where packets for a destination go, and as what they are handed over there. */
export interface NextHop {
  /** The underlay address of the host. */
  readonly address: string;
  /** The virtual network at the other end; 0 means the same as the route's. */
  readonly vni: number;
  readonly type: NextHopType;
  /** Only with type `nat`: the ports of the shared address that belong to this next hop. */
  readonly ports?: PortRange;
}

export interface PortRange {
  readonly from: number;
  readonly to: number;
}

export const nextHopTypes = ['standard', 'nat', 'loadbalancer'] as const;
export type NextHopType = (typeof nextHopTypes)[number];

/** The wire carries 32 bits, but a packet (VXLAN, Geneve) has room for 24: people cannot announce a larger one. */
export const largestVni = 0xff_ffff;

/**
 * A route as columns keep it: all of it in twelve words, so that two routes are the same exactly when their words are.
 * The whole next hop belongs to the identity: one prefix may have many.
 */
export const routeWords = 12;
export const wordOf = { vni: 0, shape: 1, prefix: 2, hop: 6, hopVni: 10, ports: 11 } as const;

/** How the second word is put together. */
export const shape = {
  of: (prefixLength: number, type: number, prefixIsIPv6: boolean, hopIsIPv6: boolean): number =>
    prefixLength | (type << 8) | (prefixIsIPv6 ? 1 << 10 : 0) | (hopIsIPv6 ? 1 << 11 : 0),
  prefixLength: (word: number): number => word & 0xff,
  type: (word: number): number => (word >>> 8) & 3,
  prefixFamily: (word: number): Family => ((word >>> 10) & 1 ? 6 : 4),
  hopFamily: (word: number): Family => ((word >>> 11) & 1 ? 6 : 4),
};

/** Within a virtual network, packets for `prefix` go to `nextHop`. Cheap to make: texts are built when they are asked for. */
export class Route {
  readonly #words: Words;

  constructor(words: Words, from = 0) {
    this.#words = words.slice(from, from + routeWords);
  }

  /** Throws a RangeError that says what is wrong. */
  static of({ vni, prefix, nextHop }: { vni: number; prefix: string; nextHop: Partial<NextHop> }): Route {
    const { address = '', vni: hopVni = 0, type = 'standard', ports } = nextHop;
    const words: Words = new Uint32Array(routeWords);
    words[wordOf.vni] = checkedVni('VNI', vni);
    words[wordOf.hopVni] = checkedVni('VNI of the next hop', hopVni);
    const { family, length } = parsePrefix(prefix, words, wordOf.prefix);
    const hopFamily = parseAddress(address, words, wordOf.hop);
    if (hopFamily === undefined) {
      throw new RangeError(
        `next hop "${address}" is not an IP address; an underlay address like 2001:db8::1 is needed`,
      );
    }
    words[wordOf.shape] = shape.of(length, nextHopTypes.indexOf(type), family === 6, hopFamily === 6);
    words[wordOf.ports] = type === 'nat' ? checkedPorts(ports) : noPorts(type, ports);
    return new Route(words);
  }

  /** Reads `VNI#PREFIX#NEXTHOP[#STD|LB|NAT[#FROM#TO]]`; the next hop may be `ADDRESS@VNI`. */
  static parse(text: string): Route {
    const parts = text.split('#');
    const [vni = '', prefix = '', hop = '', kind = 'STD', from, to] = parts;
    if (parts.length < 3 || parts.length === 5 || parts.length > 6) {
      throw new RangeError(
        `route "${text}" has ${parts.length} parts; right is VNI#PREFIX#NEXTHOP[#STD|LB|NAT[#FROM#TO]]`,
      );
    }
    const type = typesByWord.get(kind.toUpperCase());
    if (type === undefined) throw new RangeError(`next hop type "${kind}" is unknown; right is STD, LB or NAT`);
    const ports = from === undefined || to === undefined ? {} : { ports: { from: number(from), to: number(to) } };
    const [address = '', hopVni = '0'] = hop.split('@');
    return Route.of({ vni: number(vni), prefix, nextHop: { address, vni: number(hopVni), type, ...ports } });
  }

  get vni(): number {
    return at(this.#words, wordOf.vni);
  }

  get prefix(): string {
    return `${formatAddress(this.#words, wordOf.prefix, this.family)}/${shape.prefixLength(this.#shape)}`;
  }

  /** The family of the prefix. */
  get family(): Family {
    return shape.prefixFamily(this.#shape);
  }

  get type(): NextHopType {
    return nextHopTypes[shape.type(this.#shape)] ?? 'standard';
  }

  get nextHop(): NextHop {
    const ports = at(this.#words, wordOf.ports);
    return {
      address: formatAddress(this.#words, wordOf.hop, shape.hopFamily(this.#shape)),
      vni: at(this.#words, wordOf.hopVni),
      type: this.type,
      ...(this.type === 'nat' ? { ports: { from: ports >>> 16, to: ports & 0xffff } } : {}),
    };
  }

  get #shape(): number {
    return at(this.#words, wordOf.shape);
  }

  copyTo(words: Words): void {
    words.set(this.#words);
  }

  /** The form that `parse` reads. */
  toString(): string {
    const { address, vni, type, ports } = this.nextHop;
    const kind = type === 'standard' ? '' : `#${type === 'nat' ? 'NAT' : 'LB'}`;
    const range = ports === undefined ? '' : `#${ports.from}#${ports.to}`;
    return `${this.vni}#${this.prefix}#${address}${vni === 0 ? '' : `@${vni}`}${kind}${range}`;
  }
}

const typesByWord = new Map<string, NextHopType>([
  ['STD', 'standard'],
  ['STANDARD', 'standard'],
  ['LB', 'loadbalancer'],
  ['LOADBALANCER', 'loadbalancer'],
  ['NAT', 'nat'],
]);

/** Reads `ADDRESS/LENGTH`. Bits behind the length are kept: 10.0.0.5/24 and 10.0.0.0/24 are two destinations. */
export function parsePrefix(text: string, words: Words, from: number): { family: Family; length: number } {
  const slash = text.lastIndexOf('/');
  const family = slash < 0 ? undefined : parseAddress(text.slice(0, slash), words, from);
  const length = number(text.slice(slash + 1));
  if (family === undefined || !(length <= (family === 4 ? 32 : 128))) {
    throw new RangeError(
      `prefix "${text}" is not one; right is an address and a length, like 10.0.0.0/24 or 2001:db8::/64`,
    );
  }
  return { family, length };
}

/** A decimal number, or NaN for everything else that Number() would accept. */
const number = (text: string): number => (/^\d{1,10}$/.test(text) ? Number(text) : Number.NaN);

export function checkedVni(what: string, vni: number): number {
  if (Number.isInteger(vni) && vni >= 0 && vni <= largestVni) return vni;
  throw new RangeError(`${what} must be a whole number from 0 to ${largestVni}`);
}

function checkedPorts(ports: PortRange | undefined): number {
  if (ports === undefined) throw new RangeError('a next hop of type NAT needs its range of ports, like NAT#1024#2047');
  const isPort = (port: number): boolean => Number.isInteger(port) && port >= 0 && port <= 0xffff;
  if (!isPort(ports.from) || !isPort(ports.to) || ports.from > ports.to) {
    throw new RangeError(`NAT ports must be whole numbers from 0 to 65535, the first not above the last`);
  }
  return ((ports.from << 16) | ports.to) >>> 0;
}

function noPorts(type: NextHopType, ports: PortRange | undefined): 0 {
  if (ports === undefined) return 0;
  throw new RangeError(`only a next hop of type NAT has ports; this one is ${type}`);
}
