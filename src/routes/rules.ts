import { isJsonObject, type Json, type JsonObject } from '../api/json.ts';
import { type Family, parseAddress, type Words } from './address.ts';
import { at } from './columns.ts';
import { checkedVni, parsePrefix, shape, wordOf } from './route.ts';
import type { Wire } from './wire.ts';

/** Why something that a peer said is not taken over. */
export type Refusal = 'VNI not allowed' | 'prefix not allowed' | 'too many routes' | 'too many subscriptions';

/** What one peer may do. */
export class PeerRules {
  readonly maxRoutes: number;
  readonly maxSubscriptions = 65_536;
  /** undefined: all */
  readonly #vnis: readonly Range[] | undefined;
  readonly #prefixes: readonly Prefix[] | undefined;

  constructor({ vnis, prefixes, maxRoutes = defaultMaxRoutes }: PeerLimits = {}) {
    this.#vnis = vnis;
    this.#prefixes = prefixes;
    this.maxRoutes = maxRoutes;
  }

  allowsVni(vni: number): boolean {
    return this.#vnis === undefined || this.#vnis.some(({ from, to }) => vni >= from && vni <= to);
  }

  /** Whether the route may be announced, apart from how many there are. */
  refuses(route: Words): Refusal | undefined {
    if (!this.allowsVni(at(route, wordOf.vni))) return 'VNI not allowed';
    if (this.#prefixes !== undefined && !this.#prefixes.some((prefix) => contains(prefix, route)))
      return 'prefix not allowed';
    return undefined;
  }
}

/** Which peers may connect, and what each of them may do. Without entries everybody may do everything. */
export class RuleBook {
  readonly #entries: readonly Entry[];

  constructor(entries: readonly Entry[] = [{ rules: new PeerRules() }]) {
    this.#entries = entries;
  }

  /** The first entry that fits counts; undefined: the peer may not connect. */
  rulesFor({ remote, names }: Pick<Wire, 'remote' | 'names'>): PeerRules | undefined {
    const fits = ({ name, from }: Entry): boolean =>
      (name === undefined || names.includes(name)) && (from === undefined || containsAddress(from, hostOf(remote)));
    return this.#entries.find(fits)?.rules;
  }

  /**
   * Reads `{peers: [{name?, from?, vnis?, prefixes?, maxRoutes?}]}`: `name` is one of the certificate's, `from` the prefix
   * that the peer connects from. Throws a RangeError that names the field.
   */
  static parse(json: Json): RuleBook {
    const peers = isJsonObject(json) ? json['peers'] : undefined;
    if (!Array.isArray(peers)) throw new RangeError('the rules have no list "peers"');
    return new RuleBook(peers.map((peer, i) => within(`peers[${i}]`, () => parseEntry(peer))));
  }
}

export interface PeerLimits {
  readonly vnis?: readonly Range[] | undefined;
  readonly prefixes?: readonly Prefix[] | undefined;
  readonly maxRoutes?: number | undefined;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

interface Prefix {
  readonly family: Family;
  readonly length: number;
  readonly words: Words;
}

interface Entry {
  readonly name?: string | undefined;
  readonly from?: Prefix | undefined;
  readonly rules: PeerRules;
}

const defaultMaxRoutes = 2_000_000;
const fields = ['name', 'from', 'vnis', 'prefixes', 'maxRoutes'];

function parseEntry(json: Json): Entry {
  if (!isJsonObject(json)) throw new RangeError(`must be an object with some of ${fields.join(', ')}`);
  const unknown = Object.keys(json).find((field) => !fields.includes(field));
  if (unknown !== undefined) throw new RangeError(`field "${unknown}" is unknown; there are ${fields.join(', ')}`);
  return {
    name: parseField(json, 'name', text),
    from: parseField(json, 'from', (value) => prefixOf(text(value))),
    rules: new PeerRules({
      vnis: parseField(json, 'vnis', (value) => list(value).map(rangeOf)),
      prefixes: parseField(json, 'prefixes', (value) => list(value).map((item) => prefixOf(text(item)))),
      maxRoutes: parseField(json, 'maxRoutes', count),
    }),
  };
}

function parseField<T>(json: JsonObject, field: string, parse: (value: Json) => T): T | undefined {
  const value = Object.hasOwn(json, field) ? json[field] : undefined;
  return value === undefined ? undefined : within(field, () => parse(value));
}

function within<T>(place: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof RangeError) throw new RangeError(`${place}: ${error.message}`);
    throw error;
  }
}

function text(value: Json): string {
  if (typeof value === 'string') return value;
  throw new RangeError(`${JSON.stringify(value)} is not a text`);
}

function list(value: Json): Json[] {
  if (Array.isArray(value)) return value;
  throw new RangeError(`${JSON.stringify(value)} is not a list`);
}

function count(value: Json): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new RangeError(`${JSON.stringify(value)} is not a whole number from 0`);
}

/** A VNI, or two with a dash between: 100 or "200-299". */
function rangeOf(value: Json): Range {
  const [from = Number.NaN, to = from, ...more] =
    typeof value === 'number' ? [value] : text(value).split('-').map(Number);
  if (more.length > 0 || from > to)
    throw new RangeError(`${JSON.stringify(value)} is not a VNI or a range like "200-299"`);
  return {
    from: checkedVni(`the VNI in ${JSON.stringify(value)}`, from),
    to: checkedVni(`the VNI in ${JSON.stringify(value)}`, to),
  };
}

function prefixOf(written: string): Prefix {
  const words: Words = new Uint32Array(4);
  return { ...parsePrefix(written, words, 0), words };
}

function contains(prefix: Prefix, route: Words): boolean {
  const look = at(route, wordOf.shape);
  if (shape.prefixFamily(look) !== prefix.family || shape.prefixLength(look) < prefix.length) return false;
  return sameBits(prefix, route, wordOf.prefix);
}

function containsAddress(prefix: Prefix, address: string): boolean {
  const words: Words = new Uint32Array(4);
  return parseAddress(address, words) === prefix.family && sameBits(prefix, words, 0);
}

function sameBits({ words, length }: Prefix, other: Words, from: number): boolean {
  for (let i = 0; i * 32 < length; i += 1) {
    const ignored = Math.max(0, 32 - (length - i * 32));
    if ((at(words, i) ^ at(other, from + i)) >>> ignored !== 0) return false;
  }
  return true;
}

/** `[2001:db8::1]:4711` -> `2001:db8::1` */
const hostOf = (remote: string): string => remote.slice(0, remote.lastIndexOf(':')).replace(/^\[|\]$/g, '');
