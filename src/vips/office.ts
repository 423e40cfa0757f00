import type { Address } from '../api/address.ts';
import { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import { AddressBlock, blockName, blockPrefix } from '../api/netloom.io/address-block.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { Prefix } from '../api/prefix.ts';
import { Ledger } from '../ledger/ledger.ts';
import type { Caches } from '../runtime/cache.ts';
import type { Client } from '../runtime/client.ts';
import type { Host } from '../runtime/controller.ts';
import type { Informers } from '../runtime/informers.ts';
import { refOfKey } from '../runtime/ref.ts';
import { Claims, type Held } from './claims.ts';
import { Networks } from './networks.ts';
import { Pools } from './pools.ts';
import { Register } from './register.ts';
import { writeRegister } from './register-writer.ts';
import { nameOf } from './terms.ts';
import { Underlay } from './underlay.ts';
import { blockKey, UNDERLAY, VIPS } from './vip.ts';

/** What all that give Services their addresses have in common: pools, networks, and the register of who has what. */
export class Office {
  readonly namespace: string;
  readonly register: Register;
  readonly underlay = new Underlay();
  readonly claims: Claims;
  #pools = new Pools([]);
  #poolsChanged = true;
  #networks = new Networks([]);
  #networksChanged = true;
  /** Addresses that somebody may have now who could not before, each once: where MetalLB serves those who wait, nobody takes them. */
  readonly #freed = new Map<string, Address>();

  constructor({ client, informers, system }: Pick<Host, 'client' | 'informers' | 'system'>, namespace: string) {
    this.namespace = namespace;
    this.claims = new Claims({ ledger: Ledger.of({ client, informers, system }), client });
    this.register = new Register({ namespace, changed: (address) => this.#mark(address) });
    const blocks = informers.of(AddressBlock);
    blocks.onListed((version) => {
      const isThere = (key: string): boolean => blocks.cache.get(refOfKey(key)) !== undefined;
      this.free(this.register.forgetMissing(version, isThere));
      for (const address of this.underlay.forgetMissing(version, isThere)) {
        this.#mark(address);
        this.free([address]);
      }
    });
    blocks.onChange(({ before, now }) => this.#take(now ?? before, now));
    informers.of(IPAddressPool).onChange(({ before, now }) => {
      if (before?.metadata.generation !== now?.metadata.generation || before?.metadata.uid !== now?.metadata.uid) {
        this.#poolsChanged = true;
      }
    });
    informers.of(NetConfig).onChange(() => {
      this.#networksChanged = true;
    });
  }

  /** Takes in a block as it is, or its end. */
  #take({ spec, metadata }: AddressBlock, now: AddressBlock | undefined): void {
    const { namespace: home = '', name, uid } = metadata;
    const key = blockKey(home, name);
    if (spec.space === UNDERLAY) {
      this.#takeUnderlay(key, now, uid);
    } else if (spec.space === VIPS && home === this.namespace) {
      this.free(this.register.observe(key, now, uid));
    }
  }

  #takeUnderlay(key: string, block: AddressBlock | undefined, uid: string): void {
    const changed = this.underlay.observe(key, block, uid);
    for (const address of changed) this.#mark(address);
    this.free(changed.filter((address) => this.underlay.stranger(address) === undefined));
  }

  /** The one that belongs to these informers. */
  static of(host: Pick<Host, 'client' | 'informers' | 'system'>, namespace: string): Office {
    let office = offices.get(host.informers);
    if (office === undefined) {
      office = new Office(host, namespace);
      offices.set(host.informers, office);
    }
    return office;
  }

  /** Whether a pool was written, came or went since the pools were last looked at. */
  get poolsHaveChanged(): boolean {
    return this.#poolsChanged;
  }

  pools(caches: Caches): Pools {
    const { routers } = this.networks(caches);
    if (!this.#poolsChanged) return this.#pools;
    this.#poolsChanged = false;
    this.#pools = new Pools(caches.of(IPAddressPool).list(this.namespace));
    for (const { address } of this.register.vips) this.#mark(address);
    for (const address of this.underlay.strangers((prefix) => this.#isOfInterest(prefix))) this.#mark(address);
    for (const address of routers) this.#mark(address);
    return this.#pools;
  }

  /** Whether the pools that we have heard of are those that the server has. */
  async knowsThePools({ caches, client }: { caches: Caches; client: Client }): Promise<boolean> {
    const wordsOf = (pools: readonly IPAddressPool[]): string =>
      pools
        .map(({ metadata: { uid, generation, deletionTimestamp = '' } }) => `${uid} ${generation} ${deletionTimestamp}`)
        .sort()
        .join();
    const known = wordsOf(caches.of(IPAddressPool).list(this.namespace));
    return wordsOf(await client.list(IPAddressPool, this.namespace)) === known;
  }

  /** Asks the server who has these addresses: the caches may be behind. */
  async lookUp(addresses: readonly Address[], { caches, client }: { caches: Caches; client: Client }): Promise<void> {
    const networks = this.networks(caches);
    const keys = addresses.flatMap((address) => [
      this.register.blockOf(address),
      ...networks.namespacesAround(address).map((home) => blockKey(home, blockName(UNDERLAY, blockPrefix(address)))),
    ]);
    await Promise.all(
      [...new Set(keys)].map(async (key) => {
        const { name, namespace } = refOfKey(key);
        const found = await client.get(AddressBlock, name, namespace);
        if (found !== undefined) this.#take(found, found);
      }),
    );
  }

  networks(caches: Caches): Networks {
    if (!this.#networksChanged) return this.#networks;
    this.#networksChanged = false;
    const before = this.#networks;
    this.#networks = Networks.of(caches);
    for (const address of [...before.routers, ...this.#networks.routers]) this.#mark(address);
    return this.#networks;
  }

  free(addresses: readonly Address[]): void {
    for (const address of addresses) this.#freed.set(address.toString(), address);
  }

  /** What became free since the last call. */
  takeFreed(): Address[] {
    const freed = [...this.#freed.values()];
    this.#freed.clear();
    return freed;
  }

  /**
   * Services give addresses back: first as far as other Services are concerned, then as far as hosts are. Only when the register has
   * been written is it sure that nobody else uses the address, and a host may have it.
   */
  async giveBack(leaves: readonly Leave[], caches: Caches, client: Client): Promise<void> {
    this.free(leaves.map(({ address }) => address));
    for (const { address, uid, promise } of leaves) this.register.leave(address, uid, promise);
    const failures = await writeRegister(this.register, client);
    const networks = this.networks(caches);
    const byAddress = Map.groupBy(leaves, ({ address }) => address.toString());
    await Promise.all(
      [...byAddress.values()].map(async (group) => {
        const [first] = group;
        if (first === undefined || failures.has(this.register.blockOf(first.address))) return;
        const { address } = first;
        const vip = this.register.at(address);
        if (vip === undefined) return this.claims.release(group.flatMap(({ held }) => held));
        await this.claims.take(vip, networks);
        // Those who have it now inherit only what networks are around.
        const users = new Set(vip.users.map((user) => user.uid));
        const left = group.flatMap(({ uid, held }) => (users.has(uid) ? [] : held));
        await this.releaseElsewhere(address, left, caches);
      }),
    );
    for (const error of failures.values()) throw error;
  }

  /** Of these records of an address, gives back those in namespaces where hosts cannot have it. */
  async releaseElsewhere(address: Address, held: readonly Held[], caches: Caches): Promise<void> {
    const known = this.networks(caches).namespacesAround(address);
    const elsewhere = held.filter(({ namespace }) => !known.includes(namespace));
    if (elsewhere.length === 0) return;
    // Of networks that came a moment ago others may have heard before us.
    const around = (await this.claims.networksNow()).namespacesAround(address);
    await this.claims.release(elsewhere.filter(({ namespace }) => !around.includes(namespace)));
  }

  /** Everything that Services of this name have on record, except the one that is there now. */
  leftBy(name: { namespace: string; name: string }, living: string | undefined): Leave[] {
    const uids = new Set([...this.register.uidsOf(nameOf(name)), ...this.underlay.uidsOf(nameOf(name))]);
    // Nobody can be told anything any more who is gone: whatever is promised to it is given back.
    return [...uids].flatMap((uid) =>
      uid === living ? [] : this.recordsOf(uid).map(({ promise: _, ...leave }) => leave),
    );
  }

  /** Every address that is on record for a Service, be it among Services or among hosts. */
  recordsOf(uid: string): Leave[] {
    const used = this.register.of(uid).map(({ address }) => address);
    const texts = new Set(used.map(String));
    const claimed = this.underlay.claimedFor(uid).filter((address) => !texts.has(address.toString()));
    return [...used, ...claimed].flatMap((address) => {
      const promise = this.register.at(address)?.users.find((user) => user.uid === uid)?.since;
      const namespaces = this.underlay.at(address).map(({ namespace }) => namespace);
      const held = this.claims.held(address, namespaces, new Set([uid]));
      // The ledger knows what we have written ourselves; the caches may not have heard of it yet.
      if (promise === undefined && held.length === 0 && !texts.has(address.toString())) return [];
      return [{ address, uid, held, ...(promise === undefined ? {} : { promise }) }];
    });
  }

  /** Takes in what the server said of an address when it refused it, before the caches hear of it. */
  learnOf(address: Address, caches: Caches): void {
    for (const block of this.claims.blocksAround(address, this.networks(caches))) {
      const { namespace = '', name, uid } = block.metadata;
      this.#takeUnderlay(blockKey(namespace, name), block, uid);
    }
  }

  /** Tells the pool of an address whether it can be given to who asks for any. */
  #mark(address: Address): void {
    const pool = this.#pools.around(address);
    if (pool === undefined) return;
    const isTaken =
      this.register.at(address) !== undefined ||
      this.underlay.stranger(address) !== undefined ||
      this.#networks.isRouter(address);
    if (isTaken) pool.take(address);
    else pool.giveBack(address);
  }

  #isOfInterest(text: string): boolean {
    const prefix = Prefix.parse(text);
    return prefix !== undefined && this.#pools.meeting(prefix).size > 0;
  }
}

/** A Service does not use an address any more. */
export interface Leave {
  readonly address: Address;
  readonly uid: string;
  /** Which promise is taken back: not one that was made later. Undefined: any. */
  readonly promise?: string;
  readonly held: readonly Held[];
}

/** In how many milliseconds a Service that only the server knows of is looked at again, unless we hear of it before. */
export const UNHEARD = 60_000;

const offices = new WeakMap<Informers, Office>();
