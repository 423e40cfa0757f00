import { type Address, bitsOf } from '../../api/address.ts';
import { Service } from '../../api/core/service.ts';
import { isJsonObject } from '../../api/json.ts';
import type { Kind } from '../../api/kind.ts';
import { allKinds } from '../../api/kinds.ts';
import { AddressBlock, BLOCK_BITS, blockName, blockPrefix } from '../../api/netloom.io/address-block.ts';
import type { ApiObject } from '../../api/object.ts';
import { Prefix } from '../../api/prefix.ts';
import { ApiError } from '../../api/status.ts';
import { UNDERLAY } from '../../ipam/environment.ts';
import { Event } from '../../runtime/builtin.ts';
import { Client, isMissing } from '../../runtime/client.ts';
import { collectionPath, query, type Scope } from '../../runtime/paths.ts';
import type { Transport } from '../../runtime/transport.ts';
import type { HolderName } from './holder.ts';

/** The spaces that addresses live in: those of hosts, and those that Services are given from pools. */
const SPACES = [UNDERLAY, 'vips'];
/** The kinds of object that may hold addresses. */
const HOLDERS: readonly Kind[] = [...allKinds, Service];
/** Up to so many blocks are asked for by their names; more are found by looking through all there are. */
const MOST_BY_NAME = 32;

/**
 * Reads what answers are made of. A kind that the server does not know has no objects. Whoever asks need not be allowed to see everything:
 * of what he may not list everywhere he gets what there is in his own namespace, and `hidden` says what is missing.
 */
export class Reader {
  readonly #transport: Transport;
  readonly #client: Client;
  readonly #home: string;
  readonly #hidden = new Set<string>();

  /** `home`: the namespace of whoever asks. */
  constructor(transport: Transport, home: string) {
    this.#transport = transport;
    this.#client = new Client({ transport, fieldManager: 'netloom-cli' });
    this.#home = home;
  }

  /** What could not be read because whoever asks may not. */
  get hidden(): string[] {
    return [...this.#hidden].sort();
  }

  /** @throws ApiError also when whoever asks may not see it */
  get<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): Promise<T | undefined> {
    return this.#client.get(kind, name, namespace);
  }

  /** `hidden`: whoever asks may not see it, nor whether it exists. */
  async look<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): Promise<T | undefined | 'hidden'> {
    try {
      return await this.get(kind, namespace, name);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      this.#hidden.add(whatIs(kind, namespace));
      return 'hidden';
    }
  }

  /** Undefined also when whoever asks may not see it. */
  async see<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): Promise<T | undefined> {
    const found = await this.look(kind, namespace, name);
    return found === 'hidden' ? undefined : found;
  }

  async list<T extends ApiObject>(kind: Kind<T>, scope: Scope = {}): Promise<T[]> {
    try {
      return (await this.#client.snapshot(kind, scope)).items;
    } catch (error) {
      if (isMissing(error)) return [];
      if (!isForbidden(error)) throw error;
      const { namespace } = scope;
      this.#hidden.add(whatIs(kind, namespace));
      return namespace === undefined && kind.namespaced ? this.list(kind, { ...scope, namespace: this.#home }) : [];
    }
  }

  /** The object that a record of the ledger names; undefined for kinds that nobody here knows, or that may not be seen. */
  async holder({ apiGroup, kind, namespace, name, uid }: HolderName): Promise<ApiObject | 'gone' | undefined> {
    const known = HOLDERS.find((each) => each.group === apiGroup && each.kind === kind);
    if (known === undefined) return undefined;
    const object = await this.look(known, namespace, name);
    if (object === 'hidden') return undefined;
    return object?.metadata.uid === uid ? object : 'gone';
  }

  /** Not more than so many of a namespace, in no order that means anything. */
  async some<T extends ApiObject>(kind: Kind<T>, namespace: string, limit: number): Promise<T[]> {
    const { status, body } = await this.#transport.request({
      method: 'GET',
      path: collectionPath(kind, namespace) + query({ limit }),
    });
    return status < 400 && Array.isArray(body['items']) ? body['items'].filter((item) => isObjectOf(kind, item)) : [];
  }

  /** What was said about an object, the newest first. Events about cluster-scoped objects live in `default`. */
  async eventsAbout({ metadata: { uid, namespace = 'default' } }: ApiObject): Promise<Event[]> {
    const events = await this.list(Event, { namespace, fieldSelector: `involvedObject.uid=${uid}` });
    return events.sort((a, b) => (whenOf(a) < whenOf(b) ? 1 : -1));
  }

  /** The objects of this name, in every namespace or in one. */
  async named<T extends ApiObject>(kind: Kind<T>, name: string, namespace?: string): Promise<T[]> {
    // A selector would read these as its own; no object has one in its name.
    if (/[\\,=]/.test(name)) return [];
    return this.list(kind, { fieldSelector: `metadata.name=${name}`, ...inNamespace(namespace) });
  }

  /** The blocks that say who holds these addresses. */
  async blocksAt(addresses: readonly Address[], namespace?: string): Promise<AddressBlock[]> {
    const names = new Set(
      addresses.flatMap((address) => SPACES.map((space) => blockName(space, blockPrefix(address)))),
    );
    if (names.size > MOST_BY_NAME)
      return (await this.blocks(namespace)).filter(({ metadata }) => names.has(metadata.name));
    return (await Promise.all([...names].map((name) => this.named(AddressBlock, name, namespace)))).flat();
  }

  /** The blocks that may hold something of the prefixes. Costs what is held at most, never what the prefixes contain. */
  async blocksUnder(prefixes: readonly Prefix[], namespace?: string): Promise<AddressBlock[]> {
    const starts = prefixes.map(blockStarts).filter((each) => each !== undefined);
    if (starts.length === prefixes.length) return this.blocksAt(starts.flat(), namespace);
    return (await this.blocks(namespace)).filter(({ spec }) => {
      const block = Prefix.parse(spec.prefix);
      return block !== undefined && prefixes.some((prefix) => block.overlaps(prefix));
    });
  }

  blocks(namespace?: string): Promise<AddressBlock[]> {
    return this.list(AddressBlock, inNamespace(namespace));
  }
}

const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.code === 403;

const whatIs = ({ plural, namespaced }: Kind, namespace: string | undefined): string =>
  namespaced ? `${plural} in ${namespace === undefined ? 'all namespaces' : `namespace ${namespace}`}` : plural;

/** Events of the newer API keep their time elsewhere. */
export const whenOf = ({ lastTimestamp, metadata }: Event): string => lastTimestamp || metadata.creationTimestamp;

/** That the rest has the right types is the server's promise: it checked the schema. */
function isObjectOf<T extends ApiObject>(_kind: Kind<T>, item: unknown): item is T {
  return isJsonObject(item) && isJsonObject(item['metadata']) && typeof item['metadata']['name'] === 'string';
}

const inNamespace = (namespace: string | undefined) => (namespace === undefined ? {} : { namespace });

/** The first address of each block under the prefix, unless there are many. */
function blockStarts({ first, last, family, length }: Prefix): Address[] | undefined {
  if (bitsOf(family) - length <= BLOCK_BITS) return [first];
  const count = (last.value - first.value + 1n) >> BigInt(BLOCK_BITS);
  if (count > BigInt(MOST_BY_NAME)) return undefined;
  const starts = [first];
  for (let block = blockPrefix(first).last.next; block !== undefined && block.value <= last.value; ) {
    starts.push(block);
    block = blockPrefix(block).last.next;
  }
  return starts;
}
