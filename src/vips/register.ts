import { Address, compareAddresses } from '../api/address.ts';
import { Service } from '../api/core/service.ts';
import {
  type AddressBlock,
  type AddressHolder,
  type AddressHolding,
  blockName,
  blockPrefix,
} from '../api/netloom.io/address-block.ts';
import { nameOf, sameTerms, type User } from './terms.ts';

/** The space, in the namespace of the pools, in which Services hold addresses. */
export const VIPS = 'vips';
/** The space of the hosts' addresses, one in each namespace that has networks. */
export const UNDERLAY = 'underlay';

/** An address that Services use. */
export interface Vip {
  readonly address: Address;
  /** Name of the pool that it was given from. */
  readonly pool: string;
  readonly since: string;
  /** Never empty; the first is the holder. */
  readonly users: readonly User[];
}

/** An address on record in the space of hosts: of somebody else, or on behalf of a Service. */
export interface Elsewhere {
  readonly namespace: string;
  readonly holder: AddressHolder;
}

/**
 * Who uses which address, as the blocks say that we have seen or written, and as we are about to write. It may be behind; that
 * nothing is given away twice is up to the version of the block that is written.
 */
export class Register {
  readonly #namespace: string;
  readonly #blocks = new Map<string, Block>();
  /** By the text of the address. */
  readonly #vips = new Map<string, Vip>();
  readonly #elsewhere = new Map<string, readonly Elsewhere[]>();
  /** UID of a Service → its addresses. */
  readonly #byUser = new Index();
  /** `namespace/name` of a Service → UIDs of the Services of that name that use addresses. */
  readonly #byName = new Map<string, Map<string, number>>();
  readonly #bySharingKey = new Index();
  readonly #byPool = new Index();
  /** UID of a Service → the addresses that are on record for it in the space of hosts. */
  readonly #byClaimant = new Index();
  /** Told of every address that is taken or becomes free. */
  readonly #occupied: (address: Address, isOccupied: boolean) => void;

  constructor({
    namespace,
    occupied,
  }: {
    namespace: string;
    occupied: (address: Address, isOccupied: boolean) => void;
  }) {
    this.#namespace = namespace;
    this.#occupied = occupied;
  }

  at(address: Address): Vip | undefined {
    return this.#vips.get(address.toString());
  }

  get vips(): Iterable<Vip> {
    return this.#vips.values();
  }

  /** Every address that cannot simply be given. */
  *occupied(): Generator<Address> {
    for (const { address } of this.#vips.values()) yield address;
    for (const text of this.#elsewhere.keys()) {
      const address = this.#vips.has(text) ? undefined : Address.parse(text);
      if (address !== undefined) yield address;
    }
  }

  of(uid: string): Vip[] {
    return this.#listed(this.#byUser.get(uid));
  }

  sharedUnder(key: string): Vip[] {
    return this.#listed(this.#bySharingKey.get(key));
  }

  from(pool: string): Vip[] {
    return this.#listed(this.#byPool.get(pool));
  }

  /** What is held for a Service in the space of hosts. */
  claimedFor(uid: string): Address[] {
    return [...this.#byClaimant.get(uid)].flatMap((text) => Address.parse(text) ?? []);
  }

  /** Services of this name, whichever they are, that are on record. */
  uidsOf(name: string): string[] {
    return [...(this.#byName.get(name)?.keys() ?? [])];
  }

  elsewhere(address: Address): readonly Elsewhere[] {
    return this.#elsewhere.get(address.toString()) ?? [];
  }

  /** Who has the address among hosts and others that are no Services. */
  stranger(address: Address): Elsewhere | undefined {
    return this.elsewhere(address).find(({ holder }) => !isService(holder));
  }

  /** From now on the Service uses the address, on these terms. */
  use(address: Address, user: User, { pool, since }: { pool: string; since: string }): void {
    const before = this.at(address);
    const known = before?.users.find(({ uid }) => uid === user.uid);
    if (before !== undefined && before.pool === pool && known !== undefined && sameTerms(known.terms, user.terms))
      return;
    const users = before?.users ?? [];
    const replaced = users.map((other) => (other.uid === user.uid ? user : other));
    this.#change(address, {
      address,
      pool,
      since: before?.since ?? since,
      users: known === undefined ? [...users, user] : replaced,
    });
  }

  leave(address: Address, uid: string): void {
    const before = this.at(address);
    if (before === undefined || !before.users.some((user) => user.uid === uid)) return;
    const users = before.users.filter((user) => user.uid !== uid);
    this.#change(address, users.length === 0 ? undefined : { ...before, users });
  }

  /**
   * Takes in a block as the server has it, or its end. Answers with the addresses that somebody may have now who could not before.
   */
  observe(name: string, object: AddressBlock | undefined, uid?: string): Address[] {
    const block = this.#block(name);
    if (object === undefined) {
      if (block.object !== undefined && uid !== undefined && block.object.metadata.uid !== uid) return [];
    } else if (!isNews(object, block.object)) {
      return [];
    }
    if (block.isWriting) {
      // What we write is based on what we knew; the server will tell whether that was still so.
      block.heard = { object };
      return [];
    }
    return this.#load(name, block, object);
  }

  /** The blocks that must be written. */
  dirty(): string[] {
    return [...this.#blocks].filter(([, { isDirty }]) => isDirty).map(([name]) => name);
  }

  /** Until `written` or `revert`, what is heard of the block waits. */
  beginWrite(name: string): { object: AddressBlock | undefined; holdings: AddressHolding[] } {
    const block = this.#block(name);
    block.isWriting = true;
    return { object: block.object, holdings: this.#holdings(block) };
  }

  written(name: string, object: AddressBlock): void {
    const block = this.#block(name);
    block.isWriting = false;
    block.isDirty = false;
    block.object = object;
    this.#takeHeard(name, block);
  }

  /** What we wanted to write is forgotten; `object` is what the server has instead. */
  revert(name: string, object: AddressBlock | undefined): void {
    const block = this.#block(name);
    block.isWriting = false;
    this.#load(name, block, object);
    this.#takeHeard(name, block);
  }

  objectOf(name: string): AddressBlock | undefined {
    return this.#blocks.get(name)?.object;
  }

  blockOf(address: Address): string {
    return blockKey(this.#namespace, blockName(VIPS, blockPrefix(address)));
  }

  /** The blocks in which a Service is on record. */
  blocksOf(uid: string): string[] {
    return this.of(uid).map(({ address }) => this.blockOf(address));
  }

  #takeHeard(name: string, block: Block): void {
    const { heard } = block;
    block.heard = undefined;
    if (heard !== undefined && (heard.object === undefined || isNews(heard.object, block.object))) {
      this.#load(name, block, heard.object);
    }
  }

  #load(name: string, block: Block, object: AddressBlock | undefined): Address[] {
    block.object = object;
    block.isDirty = false;
    return this.#isOurs(name, object) ? this.#loadVips(block, object) : this.#loadElsewhere(name, block, object);
  }

  #loadVips(block: Block, object: AddressBlock | undefined): Address[] {
    const freed: Address[] = [];
    const said = new Map(
      (object?.spec.holdings ?? []).flatMap((holding) => vipOf(holding) ?? []).map((vip) => [`${vip.address}`, vip]),
    );
    for (const text of [...block.addresses]) {
      const vip = this.#vips.get(text);
      const now = said.get(text);
      if (vip === undefined || now === undefined || !sameVip(vip, now)) {
        if (vip !== undefined && !isOnlyMore(vip, now)) freed.push(vip.address);
        this.#put(text, now, block);
      }
    }
    for (const [text, vip] of said) if (!block.addresses.has(text)) this.#put(text, vip, block);
    return freed;
  }

  #loadElsewhere(name: string, block: Block, object: AddressBlock | undefined): Address[] {
    const namespace = name.slice(0, name.indexOf('/'));
    const said = new Map((object?.spec.holdings ?? []).map(({ address, holder }) => [address, holder]));
    const freed: Address[] = [];
    for (const text of new Set([...block.addresses, ...said.keys()])) {
      const others = (this.#elsewhere.get(text) ?? []).filter((one) => one.namespace !== namespace);
      const before = (this.#elsewhere.get(text) ?? []).find((one) => one.namespace === namespace);
      const holder = said.get(text);
      if (before?.holder.uid === holder?.uid) continue;
      const address = Address.parse(text);
      if (address === undefined) continue;
      const now = holder === undefined ? others : [...others, { namespace, holder }];
      if (now.length === 0) this.#elsewhere.delete(text);
      else this.#elsewhere.set(text, now);
      if (holder === undefined) block.addresses.delete(text);
      else block.addresses.add(text);
      if (before !== undefined && isService(before.holder)) this.#indexClaim(text, before.holder, false);
      if (holder !== undefined && isService(holder)) this.#indexClaim(text, holder, true);
      if (before !== undefined && this.stranger(address) === undefined) freed.push(address);
      this.#tell(address);
    }
    return freed;
  }

  #change(address: Address, vip: Vip | undefined): void {
    const block = this.#block(this.blockOf(address));
    block.isDirty = true;
    this.#put(address.toString(), vip, block);
  }

  #put(text: string, vip: Vip | undefined, block: Block): void {
    const before = this.#vips.get(text);
    if (before !== undefined) this.#index(text, before, false);
    if (vip === undefined) {
      this.#vips.delete(text);
      block.addresses.delete(text);
    } else {
      this.#vips.set(text, vip);
      block.addresses.add(text);
      this.#index(text, vip, true);
    }
    const address = vip?.address ?? before?.address;
    if (address !== undefined) this.#tell(address);
  }

  #index(text: string, { pool, users }: Vip, present: boolean): void {
    const change = present ? 'add' : 'delete';
    this.#byPool[change](pool, text);
    for (const user of users) {
      this.#byUser[change](user.uid, text);
      if (user.terms.sharingKey !== '') this.#bySharingKey[change](user.terms.sharingKey, text);
      this.#countName(nameOf(user), user.uid, present);
    }
  }

  #indexClaim(text: string, { namespace = '', name, uid }: AddressHolder, present: boolean): void {
    const isElsewhere = (this.#elsewhere.get(text) ?? []).some(({ holder }) => holder.uid === uid);
    this.#byClaimant[isElsewhere ? 'add' : 'delete'](uid, text);
    this.#countName(nameOf({ namespace, name }), uid, present);
  }

  #countName(name: string, uid: string, present: boolean): void {
    const uids = this.#byName.get(name) ?? new Map<string, number>();
    const count = (uids.get(uid) ?? 0) + (present ? 1 : -1);
    if (count > 0) uids.set(uid, count);
    else uids.delete(uid);
    if (uids.size > 0) this.#byName.set(name, uids);
    else this.#byName.delete(name);
  }

  #tell(address: Address): void {
    const text = address.toString();
    this.#occupied(address, this.#vips.has(text) || this.stranger(address) !== undefined);
  }

  #holdings(block: Block): AddressHolding[] {
    return this.#listed(block.addresses)
      .sort((a, b) => compareAddresses(a.address, b.address))
      .flatMap((vip) => holdingOf(vip) ?? []);
  }

  #listed(texts: Iterable<string>): Vip[] {
    return [...texts].flatMap((text) => this.#vips.get(text) ?? []);
  }

  #isOurs(name: string, object: AddressBlock | undefined): boolean {
    return object === undefined
      ? name.startsWith(`${this.#namespace}/${VIPS}-`)
      : object.spec.space === VIPS && object.metadata.namespace === this.#namespace;
  }

  #block(name: string): Block {
    let block = this.#blocks.get(name);
    if (block === undefined) {
      block = { object: undefined, addresses: new Set(), isDirty: false, isWriting: false, heard: undefined };
      this.#blocks.set(name, block);
    }
    return block;
  }
}

/** How a block is called here: names alone are unique in a namespace only. */
export const blockKey = (namespace: string, name: string): string => `${namespace}/${name}`;

/** Whether the register has anything to do with the block. */
export const concerns = ({ spec: { space } }: AddressBlock): boolean => space === VIPS || space === UNDERLAY;

export const isService = ({ apiGroup = '', kind }: AddressHolder): boolean =>
  apiGroup === Service.group && kind === Service.kind;

interface Block {
  object: AddressBlock | undefined;
  /** Texts of the addresses that are on record in it, or will be. */
  readonly addresses: Set<string>;
  isDirty: boolean;
  isWriting: boolean;
  /** What was heard while it was being written. */
  heard: { readonly object: AddressBlock | undefined } | undefined;
}

/** Key → texts of addresses. */
class Index {
  readonly #sets = new Map<string, Set<string>>();

  get(key: string): ReadonlySet<string> {
    return this.#sets.get(key) ?? NOTHING;
  }

  add(key: string, text: string): void {
    const set = this.#sets.get(key);
    if (set === undefined) this.#sets.set(key, new Set([text]));
    else set.add(text);
  }

  delete(key: string, text: string): void {
    const set = this.#sets.get(key);
    set?.delete(text);
    if (set?.size === 0) this.#sets.delete(key);
  }
}

const NOTHING: ReadonlySet<string> = new Set();

function vipOf({ address: text, network, since, sharers = [] }: AddressHolding): Vip | undefined {
  const address = Address.parse(text);
  if (address === undefined || sharers.length === 0) return undefined;
  const users = sharers.map(({ namespace = '', name, uid, ports, sharingKey = '', backends = '' }) => ({
    namespace,
    name,
    uid,
    terms: { sharingKey, backends, ports },
  }));
  return { address, pool: network, since, users };
}

function holdingOf({ address, pool, since, users }: Vip): AddressHolding | undefined {
  const [first] = users;
  if (first === undefined) return undefined;
  return {
    address: address.toString(),
    holder: serviceAsHolder(first),
    network: pool,
    subnet: '',
    since,
    sharers: users.map((user) => ({
      ...serviceAsHolder(user),
      ports: [...user.terms.ports],
      ...(user.terms.sharingKey === '' ? {} : { sharingKey: user.terms.sharingKey }),
      ...(user.terms.backends === '' ? {} : { backends: user.terms.backends }),
    })),
  };
}

export const serviceAsHolder = ({ namespace, name, uid }: Pick<User, 'namespace' | 'name' | 'uid'>): AddressHolder => ({
  kind: Service.kind,
  namespace,
  name,
  uid,
});

const sameVip = (a: Vip, b: Vip): boolean =>
  a.pool === b.pool &&
  a.users.length === b.users.length &&
  a.users.every((user, i) => user.uid === b.users[i]?.uid && sameTerms(user.terms, b.users[i].terms));

/** Whether everybody is there who was, on the same terms. */
const isOnlyMore = (before: Vip, now: Vip | undefined): boolean =>
  before.users.every((user) => now?.users.some(({ uid, terms }) => uid === user.uid && sameTerms(terms, user.terms)));

/** Versions are decimal numbers of any length. */
function isNews({ metadata: a }: AddressBlock, known: AddressBlock | undefined): boolean {
  if (known === undefined || known.metadata.uid !== a.uid) return true;
  const b = known.metadata;
  if (a.resourceVersion.length !== b.resourceVersion.length) {
    return a.resourceVersion.length > b.resourceVersion.length;
  }
  return a.resourceVersion > b.resourceVersion;
}
