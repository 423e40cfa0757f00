import { Address, compareAddresses } from '../api/address.ts';
import {
  type AddressBlock,
  type AddressHolder,
  type AddressHolding,
  blockName,
  blockPrefix,
} from '../api/netloom.io/address-block.ts';
import { Cooling } from './cooling.ts';
import { FreeSpace } from './free-space.ts';
import type { Pool } from './pool.ts';

/** An address, and who has it, or had it while it cools down. */
export interface Holding extends Omit<AddressHolding, 'address'> {
  readonly address: Address;
}

/** Somebody wants an address, this one or any of a pool. */
export interface Request {
  readonly holder: AddressHolder;
  readonly network: string;
  readonly subnet: string;
  readonly from: Address | Pool;
  /** An address that the object of this UID holds is taken over from it. */
  readonly heirOf?: string;
  /** Also what the holder has already is written anew, so that nobody who knew of it before takes it back. */
  readonly afresh?: boolean;
}

export type Placement =
  /** The holder has that address, or some address for this network and subnet, already. */
  | { readonly is: 'held'; readonly holding: Holding }
  /** This address is free, and kept for the holder until `settle`. */
  | { readonly is: 'kept'; readonly address: Address }
  | { readonly is: 'taken'; readonly by: Pick<Holding, 'address' | 'holder' | 'coolsUntil'> }
  /** `until`: when the first address of the pool comes free that cools down. */
  | { readonly is: 'full'; readonly until?: string };

/**
 * Who holds which address of a space, as far as we know: what the blocks say that we have seen or written, and what is about to be
 * written. It may be behind; that nothing is given away twice is up to the version of the block that is written.
 */
export class Space {
  readonly name: string;
  readonly namespace: string;
  readonly #free = { 4: new FreeSpace(4), 6: new FreeSpace(6) };
  readonly #holdings = { 4: new Map<bigint, Holding>(), 6: new Map<bigint, Holding>() };
  /** Addresses that are kept for somebody while their block is being written. */
  readonly #kept = { 4: new Map<bigint, AddressHolder>(), 6: new Map<bigint, AddressHolder>() };
  readonly #byHolder = new Map<string, Holding[]>();
  /** What objects are called → what cools down after one of that name. */
  readonly #coolingByName = new Map<string, Holding[]>();
  readonly #cooling = new Cooling();
  readonly #blocks = new Map<string, Block>();
  readonly #pools = new Set<Pool>();
  readonly #onFreed = new Set<(freed: Address) => void>();
  readonly #onCooling = new Set<(address: Address) => void>();
  readonly #onHeld = new Set<(holding: Holding) => void>();
  readonly #onDoubled = new Set<(holder: AddressHolder) => void>();

  constructor({ namespace, name }: { namespace: string; name: string }) {
    this.namespace = namespace;
    this.name = name;
  }

  /** Looks for an address; one that is free is kept for the holder. */
  place({ holder, network, subnet, from, heirOf, afresh = false }: Request): Placement {
    const own = this.heldBy(holder.uid).find((holding) =>
      from instanceof Address ? holding.address.equals(from) : holding.network === network && holding.subnet === subnet,
    );
    if (own !== undefined && !afresh) return { is: 'held', holding: own };
    const address = own?.address ?? (from instanceof Address ? from : this.next(from));
    if (address === undefined) return from instanceof Address ? { is: 'full' } : this.#full(from);
    const by = own === undefined ? this.#inTheWay(address, { holder, heirOf }) : undefined;
    if (by !== undefined) return { is: 'taken', by };
    this.#kept[address.family].set(address.value, holder);
    this.#free[address.family].take(address);
    return { is: 'kept', address };
  }

  /** Whether a request from there would find something now. */
  couldServe(from: Address | Pool): boolean {
    return from instanceof Address ? this.holderOf(from) === undefined : this.next(from) !== undefined;
  }

  /** What the next request for any address of the pool would get. */
  next(from: Pool): Address | undefined {
    return from.lowestFree(this.#free[from.family]);
  }

  /** The block was written, or will not be: from now on it alone says who has the address. */
  settle(address: Address): void {
    this.#kept[address.family].delete(address.value);
    this.#freeUnlessHeld(address);
  }

  /** Who has the address, or is about to, or had it while it cools down. */
  holderOf(address: Address): AddressHolder | undefined {
    return this.holdingAt(address)?.holder ?? this.#kept[address.family].get(address.value);
  }

  /** Whether we are just writing that this one has the address. */
  isUnderWay({ family, value }: Address, uid: string): boolean {
    return this.#kept[family].get(value)?.uid === uid;
  }

  holdingAt({ family, value }: Address): Holding | undefined {
    return this.#holdings[family].get(value);
  }

  /** Whether it is on record that somebody has the address from whom this one does not take it over. */
  isAnothers(address: Address, successor: Successor): boolean {
    const holding = this.holdingAt(address);
    return holding !== undefined && holding.holder.uid !== successor.holder.uid && !mayTakeOver(holding, successor);
  }

  /** What cools down is nobody's. */
  heldBy(uid: string): readonly Holding[] {
    return this.#byHolder.get(uid) ?? NOTHING;
  }

  /** What cools down after somebody of the same name, and is for this one as long as it does. */
  cooledBy(holder: AddressHolder): readonly Holding[] {
    return this.#coolingByName.get(nameOf(holder)) ?? NOTHING;
  }

  /** The newest version that we know of a block. */
  block(name: string): AddressBlock | undefined {
    return this.#blocks.get(name)?.object;
  }

  holdingsIn(name: string): Iterable<Holding> {
    return this.#blocks.get(name)?.holdings.values() ?? NOTHING;
  }

  /** From now on the pool hears of addresses that become free. */
  addPool(pool: Pool): void {
    this.#pools.add(pool);
  }

  removePool(pool: Pool): void {
    this.#pools.delete(pool);
    this.#cooling.forget(pool);
  }

  /** Called for every address that nobody has any more as far as we know, however we came to know it. */
  onFreed(listener: (freed: Address) => void): void {
    this.#onFreed.add(listener);
  }

  /** Called for every address that begins to cool down, or that does so no more. */
  onCooling(listener: (address: Address) => void): void {
    this.#onCooling.add(listener);
  }

  /** Called for every address that somebody comes to hold as far as we know, be it by our own doing or not. */
  onHeld(listener: (holding: Holding) => void): void {
    this.#onHeld.add(listener);
  }

  /** Called for everybody who comes to hold a second address of the same subnet: two who give addresses may each have given one. */
  onDoubled(listener: (holder: AddressHolder) => void): void {
    this.#onDoubled.add(listener);
  }

  /** Takes in what a block says, unless we know better. */
  observe(object: AddressBlock): void {
    const { name, uid, resourceVersion } = object.metadata;
    const before = this.#blocks.get(name);
    if (before?.object.metadata.uid === uid && !isNewer(resourceVersion, before.object.metadata.resourceVersion)) {
      return;
    }
    const holdings = before?.holdings ?? new Map<string, Holding>();
    this.#blocks.set(name, { object, holdings });
    // A block says hundreds of things, and nearly all of them once more.
    const gone = new Set(holdings.keys());
    const news: AddressHolding[] = [];
    for (const said of object.spec.holdings) {
      if (isSame(holdings.get(said.address), said)) gone.delete(said.address);
      else news.push(said);
    }
    for (const text of gone) {
      const holding = holdings.get(text);
      holdings.delete(text);
      if (holding !== undefined) this.#remove(holding);
    }
    for (const said of news) {
      const holding = holdings.has(said.address) ? undefined : parsed(said);
      if (holding === undefined) continue;
      holdings.set(said.address, holding);
      this.#add(holding);
    }
  }

  /**
   * Somebody has listed all blocks at this version: of those that we know only from what we wrote ourselves, nobody else tells us
   * that they are gone.
   */
  forgetMissing(version: string, isThere: (name: string) => boolean): void {
    for (const [name, { object }] of this.#blocks) {
      if (!isThere(name) && !isNewer(object.metadata.resourceVersion, version)) this.forget(name);
    }
  }

  /** The block is gone, and with it what it held. `uid`: only if it is still this one that we know. */
  forget(name: string, uid?: string): void {
    const before = this.#blocks.get(name);
    if (before === undefined || (uid !== undefined && before.object.metadata.uid !== uid)) return;
    this.#blocks.delete(name);
    for (const holding of before.holdings.values()) this.#remove(holding);
  }

  #full(pool: Pool): Placement {
    // Of other pools nobody says when they are done with.
    const until = this.#pools.has(pool) ? this.#cooling.firstEnd(pool) : undefined;
    return { is: 'full', ...(until === undefined ? {} : { until }) };
  }

  #inTheWay(address: Address, successor: Successor): Pick<Holding, 'address' | 'holder' | 'coolsUntil'> | undefined {
    const holding = this.holdingAt(address);
    if (holding !== undefined) return mayTakeOver(holding, successor) ? undefined : holding;
    const holder = this.#kept[address.family].get(address.value);
    // Who asked before, and does not know what came of it, asks once more.
    const isOwn = holder?.uid === successor.holder.uid || holder?.uid === successor.heirOf;
    return holder === undefined || isOwn ? undefined : { address, holder };
  }

  #add(holding: Holding): void {
    const { address, holder, coolsUntil } = holding;
    this.#holdings[address.family].set(address.value, holding);
    this.#free[address.family].take(address);
    if (coolsUntil !== undefined) {
      this.#coolingByName.set(nameOf(holder), [...this.cooledBy(holder), holding]);
      this.#cooling.add(holding);
      for (const listener of this.#onCooling) listener(address);
      return;
    }
    const before = this.heldBy(holder.uid);
    this.#byHolder.set(holder.uid, [...before, holding]);
    for (const listener of this.#onHeld) listener(holding);
    if (!before.some(({ network, subnet }) => network === holding.network && subnet === holding.subnet)) return;
    for (const listener of this.#onDoubled) listener(holder);
  }

  #remove(holding: Holding): void {
    const { address, holder, coolsUntil } = holding;
    if (coolsUntil === undefined) takeOut(holding, this.#byHolder, holder.uid);
    else this.#coolsNoMore(holding);
    if (this.holdingAt(address) !== holding) return;
    this.#holdings[address.family].delete(address.value);
    this.#freeUnlessHeld(address);
  }

  #coolsNoMore(holding: Holding): void {
    takeOut(holding, this.#coolingByName, nameOf(holding.holder));
    this.#cooling.remove(holding);
    for (const listener of this.#onCooling) listener(holding.address);
  }

  #freeUnlessHeld(address: Address): void {
    if (this.holderOf(address) !== undefined) return;
    this.#free[address.family].giveBack(address);
    for (const pool of this.#pools) if (pool.family === address.family) pool.becameFree(address);
    for (const listener of this.#onFreed) listener(address);
  }
}

/** The name of the block that says who has the address. */
export const blockOf = (space: Space, address: Address): string => blockName(space.name, blockPrefix(address));

export interface Successor {
  readonly holder: AddressHolder;
  readonly heirOf?: string | undefined;
}

/**
 * Whether what is on record does not keep somebody from having the address: it is taken over from the object that he is the heir of;
 * or it cools down, and the one who had it comes back.
 */
export function mayTakeOver({ holder: before, coolsUntil }: Holding, { holder, heirOf }: Successor): boolean {
  if (before.uid === heirOf) return true;
  return coolsUntil !== undefined && nameOf(before) === nameOf(holder);
}

/** Objects of one group that have the same name are about the same, such as an IPSet and its Reservation. */
const nameOf = ({ apiGroup = '', namespace = '', name }: AddressHolder): string => `${apiGroup}/${namespace}/${name}`;

function takeOut(holding: Holding, lists: Map<string, Holding[]>, key: string): void {
  const left = (lists.get(key) ?? []).filter((other) => other !== holding);
  if (left.length === 0) lists.delete(key);
  else lists.set(key, left);
}

/** What a block that holds exactly this would say, lowest address first. */
export const saying = (holdings: Iterable<Holding>): AddressHolding[] =>
  [...holdings]
    .sort((a, b) => compareAddresses(a.address, b.address))
    .map(({ address, ...rest }) => ({ address: address.toString(), ...rest }));

interface Block {
  readonly object: AddressBlock;
  /** By the text of the address. */
  readonly holdings: Map<string, Holding>;
}

const NOTHING: readonly never[] = [];

const isSame = (known: Holding | undefined, said: AddressHolding): boolean =>
  known !== undefined &&
  known.holder.uid === said.holder.uid &&
  known.network === said.network &&
  known.subnet === said.subnet &&
  known.since === said.since &&
  known.coolsUntil === said.coolsUntil;

function parsed({ address: text, ...rest }: AddressHolding): Holding | undefined {
  const address = Address.parse(text);
  return address === undefined ? undefined : { ...rest, address };
}

/** Versions are decimal numbers of any length. */
export const isNewer = (a: string, b: string): boolean => a.length > b.length || (a.length === b.length && a > b);
