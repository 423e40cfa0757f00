import { Address } from '../api/address.ts';
import type { Kind } from '../api/kind.ts';
import { AddressBlock, type AddressHolder, type AddressHolding } from '../api/netloom.io/address-block.ts';
import { AddressClaim } from '../api/netloom.io/address-claim.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { Reservation } from '../api/network.openstack.org/reservation.ts';
import type { ApiObject } from '../api/object.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Holding, Space } from '../ledger/space.ts';
import type { Caches } from '../runtime/cache.ts';
import { Contest } from '../runtime/contest.ts';
import { type Ref, refOf } from '../runtime/ref.ts';
import { addressesTold } from './applicant.ts';
import { keptOut } from './kept-out.ts';
import { Networks } from './networks.ts';
import { FINALIZER, isFor } from './reservation.ts';
import { type Served, type Waiter, Waiting } from './waiting.ts';

/** The space that the addresses of hosts live in, one in each namespace. */
export const UNDERLAY = 'underlay';

/** What those share who get addresses in one namespace. */
export class Environment {
  readonly ledger: Ledger;
  readonly space: Space;
  readonly waiting: Waiting;
  readonly contest = new Contest();
  /** For how many milliseconds an address that is given back is given to nobody else. */
  readonly coolDown: number;
  /** Kind → the addresses that have become free since those of that kind who wait were last told. */
  readonly #freed = new Map<string, Address[]>([IPSet, AddressClaim].map(({ kind }) => [kind, []]));
  /** Kind → the addresses that have begun or ceased to cool down since those of that kind who wait were last told. */
  readonly #cooling = new Map<string, Address[]>([IPSet, AddressClaim].map(({ kind }) => [kind, []]));
  /** Kind → what those of the kind have come to hold by others since somebody last looked. */
  readonly #held = new Map<string, Holding[]>([IPSet, AddressClaim].map(({ kind }) => [kind, []]));
  /** Kind → those of the kind who have come to hold too much since somebody last looked. */
  readonly #doubled = new Map<string, AddressHolder[]>([IPSet, AddressClaim].map(({ kind }) => [kind, []]));
  #networks: Networks | undefined;
  /** The version of what others give from that the networks were made with. */
  #keptOut = '';

  constructor({ ledger, namespace, coolDown }: { ledger: Ledger; namespace: string; coolDown: number }) {
    this.ledger = ledger;
    this.coolDown = coolDown;
    this.space = ledger.space(namespace, UNDERLAY);
    this.waiting = new Waiting(
      (uid) => this.space.heldBy(uid).map(({ address }) => address),
      ({ address, subnet }) => this.space.couldServe(address ?? subnet.pool),
    );
    this.space.onFreed((address) => {
      for (const addresses of this.#freed.values()) addresses.push(address);
    });
    this.space.onCooling((address) => {
      for (const addresses of this.#cooling.values()) addresses.push(address);
    });
    this.space.onHeld((holding) => {
      // Of what we are just writing ourselves the answer tells.
      if (!this.space.isUnderWay(holding.address, holding.holder.uid))
        this.#held.get(holding.holder.kind)?.push(holding);
    });
    this.space.onDoubled((holder) => this.#doubled.get(holder.kind)?.push(holder));
  }

  /** What has become free since this was last asked for the kind, and still is. */
  takeFreed({ kind }: Kind): Address[] {
    const freed = this.#freed.get(kind)?.splice(0) ?? [];
    return freed.filter((address) => this.space.holderOf(address) === undefined);
  }

  /** What has begun or ceased to cool down since this was last asked for the kind, and is not free. */
  takeCooling({ kind }: Kind): Address[] {
    const cooling = this.#cooling.get(kind)?.splice(0) ?? [];
    return cooling.filter((address) => this.space.holderOf(address) !== undefined);
  }

  takeHeld({ kind }: Kind): Holding[] {
    return this.#held.get(kind)?.splice(0) ?? [];
  }

  takeDoubled({ kind }: Kind): AddressHolder[] {
    return this.#doubled.get(kind)?.splice(0) ?? [];
  }

  forget({ metadata: { uid } }: ApiObject): void {
    this.waiting.forget(uid);
  }

  /** What the NetConfig says now. Where there are several, which admission prevents, the oldest counts. */
  networks(caches: Caches): Networks | undefined {
    const [netConfig] = caches.of(NetConfig).list(this.space.namespace).sort(byAge);
    const { ranges, version } = keptOut(caches);
    const known = this.#networks?.netConfig.metadata;
    // A status counts no generation.
    const same = known?.uid === netConfig?.metadata.uid && known?.generation === netConfig?.metadata.generation;
    if (same && this.#keptOut === version) return this.#networks;
    this.#keptOut = version;
    for (const pool of this.#networks?.pools ?? []) this.space.removePool(pool);
    this.#networks = netConfig === undefined ? undefined : new Networks(netConfig, ranges);
    for (const pool of this.#networks?.pools ?? []) this.space.addPool(pool);
    if (this.#networks !== undefined) this.waiting.redefine(this.#networks);
    return this.#networks;
  }
}

/** The environments of all namespaces. Those who are woken are named by kind: each controller asks about its own. */
export class Environments {
  readonly #ledger: Ledger;
  readonly #coolDown: number;
  readonly #environments = new Map<string, Environment>();

  private constructor({ ledger, coolDown }: { ledger: Ledger; coolDown: number }) {
    this.#ledger = ledger;
    this.#coolDown = coolDown;
  }

  /** The one that goes with the ledger: all who get addresses wait in the same queues. */
  static of(ledger: Ledger, { coolDown }: { coolDown: number }): Environments {
    let known = environments.get(ledger);
    if (known === undefined) {
      known = new Environments({ ledger, coolDown });
      environments.set(ledger, known);
    }
    return known;
  }

  of(namespace: string): Environment {
    let environment = this.#environments.get(namespace);
    if (environment === undefined) {
      environment = new Environment({ ledger: this.#ledger, namespace, coolDown: this.#coolDown });
      this.#environments.set(namespace, environment);
    }
    return environment;
  }

  /** Called with a NetConfig that changed. Those who wait come first, in their order: nobody yields to one who is looked at with him. */
  wokenByNetConfig<T extends ApiObject>(
    kind: Kind<T>,
    { metadata: { namespace = '' } }: NetConfig,
    caches: Caches,
  ): Ref[] {
    const waiting = refsOf(kind, this.of(namespace).waiting.inOrder());
    const names = new Set(waiting.map(({ name }) => name));
    const others = caches
      .of(kind)
      .list(namespace)
      .filter(({ metadata }) => !names.has(metadata.name));
    return [...waiting, ...others.sort(byAge).map(refOf)];
  }

  /**
   * Called with a block as it was and as it is. Every address that nobody has any more is for one who waits, also when the ledger
   * knew more of it than we had heard; who is next says until when one cools down; and when somebody who waited was served, there may be something for the next. Whoever holds
   * too much gives it back, and so does who has been told something else than what another controller put on record for him since.
   */
  wokenByBlock(kind: Kind, block: AddressBlock, caches: Caches): Ref[] {
    const { namespace = '' } = block.metadata;
    const environment = this.of(namespace);
    const { waiting } = environment;
    const present = (holders: readonly AddressHolder[]): Ref[] =>
      holders.map(({ name }) => ({ namespace, name })).filter((ref) => caches.of(kind).get(ref) !== undefined);
    const next = [
      ...refsOf(kind, waiting.nextFor([...environment.takeFreed(kind), ...environment.takeCooling(kind)])),
      ...present(environment.takeDoubled(kind)),
      ...environment.takeHeld(kind).flatMap((holding) => untold(holding, kind, namespace, caches)),
    ];
    const now = caches.of(AddressBlock).get(refOf(block));
    if (now?.metadata.resourceVersion === block.metadata.resourceVersion) {
      return waiting.isEmpty
        ? next
        : [...next, ...refsOf(kind, waiting.afterServing(servedBy(block.spec.holdings, environment.space)))];
    }
    const still = new Set(now?.spec.holdings.map(({ address, holder: { uid } }) => `${address} ${uid}`));
    const lost = block.spec.holdings.filter(({ address, holder: { uid } }) => !still.has(`${address} ${uid}`));
    // Who lost an address without leaving, because somebody tampered with the block, must see to it.
    const losers = lost.map(({ holder }) => holder).filter((holder) => holder.kind === kind.kind);
    return [...present(losers), ...next];
  }

  /** Called when the Reservation of an IPSet changed. What it should say we wrote ourselves, and wakes nobody. */
  wokenByReservation(reservation: Reservation, caches: Caches): Ref[] {
    const ref = refOf(reservation);
    const ipSet = caches.of(IPSet).get(ref);
    if (ipSet === undefined || ipSet.metadata.deletionTimestamp !== undefined) return [];
    const now = caches.of(Reservation).get(ref);
    return now !== undefined && this.#isIntact(now, ipSet) ? [] : [ref];
  }

  /** Called with an object of kind `of` that changed: if it is gone, those behind it must not wait for it. */
  wokenByLeaving<T extends ApiObject>(kind: Kind, of: Kind<T>, object: T, caches: Caches): Ref[] {
    const { namespace = '', uid } = object.metadata;
    if (caches.of(of).get(refOf(object))?.metadata.uid === uid) return [];
    const environment = this.of(namespace);
    environment.forget(object);
    return refsOf(kind, environment.waiting.heads());
  }

  /** Called when others give from more or less than before: what they leave may be for those who wait. */
  wokenByOthers(kind: Kind): Ref[] {
    return [...this.#environments.values()].flatMap(({ waiting }) => refsOf(kind, waiting.heads()));
  }

  #isIntact(reservation: Reservation, ipSet: IPSet): boolean {
    const { namespace = '', uid } = ipSet.metadata;
    const { deletionTimestamp, finalizers = [] } = reservation.metadata;
    if (!isFor(reservation, ipSet) || deletionTimestamp !== undefined || !finalizers.includes(FINALIZER.name))
      return false;
    const said = Object.values(reservation.spec.reservation).map(({ address }) => address);
    const held = this.of(namespace).space.heldBy(uid);
    // As we spell them: another spelling is put right.
    return said.length === held.length && held.every(({ address }) => said.includes(address.toString()));
  }
}

export function byAge(a: ApiObject, b: ApiObject): number {
  if (a.metadata.creationTimestamp !== b.metadata.creationTimestamp) {
    return a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1;
  }
  return a.metadata.name < b.metadata.name ? -1 : Number(a.metadata.name > b.metadata.name);
}

const refsOf = ({ group, kind }: Kind, waiters: readonly Waiter[]): Ref[] =>
  waiters.filter(({ holder }) => holder.apiGroup === group && holder.kind === kind).map(({ ref }) => ref);

const servedBy = (holdings: readonly AddressHolding[], space: Space): Served[] =>
  holdings.flatMap(({ address: text, holder: { uid }, network, subnet }) => {
    const address = Address.parse(text);
    return address === undefined ? [] : [{ address, uid, network, subnet, isUnderWay: space.isUnderWay(address, uid) }];
  });

/** The holder of an address, if he has been told what he has, and not that he has this. */
function untold({ address, holder }: Holding, { kind }: Kind, namespace: string, caches: Caches): Ref[] {
  const ref = { namespace, name: holder.name };
  const found = kind === IPSet.kind ? caches.of(IPSet).get(ref) : caches.of(AddressClaim).get(ref);
  const told = found?.metadata.uid === holder.uid ? addressesTold(found) : undefined;
  return told === undefined || told.includes(address.toString()) ? [] : [ref];
}

const environments = new WeakMap<Ledger, Environments>();
