import { Address } from '../api/address.ts';
import { AddressBlock, type AddressHolding } from '../api/netloom.io/address-block.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { Reservation } from '../api/network.openstack.org/reservation.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Space } from '../ledger/space.ts';
import type { Caches } from '../runtime/cache.ts';
import { Contest } from '../runtime/contest.ts';
import { type Ref, refOf } from '../runtime/ref.ts';
import { keptOut } from './kept-out.ts';
import { Networks } from './networks.ts';
import { isFor } from './plan.ts';
import { FINALIZER } from './reservation.ts';
import { Waiting } from './waiting.ts';

/** The space that the addresses of hosts live in, one in each namespace. */
export const UNDERLAY = 'underlay';

/** What the IPSets of one namespace share. */
export class Environment {
  readonly ledger: Ledger;
  readonly space: Space;
  readonly waiting = new Waiting();
  readonly contest = new Contest();
  /** For how many milliseconds an address that is given back is given to nobody else. */
  readonly coolDown: number;
  #networks: Networks | undefined;
  /** The version of what others give from that the networks were made with. */
  #keptOut = '';

  constructor({ ledger, namespace, coolDown }: { ledger: Ledger; namespace: string; coolDown: number }) {
    this.ledger = ledger;
    this.coolDown = coolDown;
    this.space = ledger.space(namespace, UNDERLAY);
  }

  forget({ metadata: { uid } }: IPSet): void {
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
    return this.#networks;
  }
}

export class Environments {
  readonly #ledger: Ledger;
  readonly #coolDown: number;
  readonly #environments = new Map<string, Environment>();

  constructor({ ledger, coolDown }: { ledger: Ledger; coolDown: number }) {
    this.#ledger = ledger;
    this.#coolDown = coolDown;
  }

  of(namespace: string): Environment {
    let environment = this.#environments.get(namespace);
    if (environment === undefined) {
      environment = new Environment({ ledger: this.#ledger, namespace, coolDown: this.#coolDown });
      this.#environments.set(namespace, environment);
    }
    return environment;
  }

  /**
   * Called with a block as it was and as it is. Every address that it does not hold any more is for one who waits; and when
   * somebody who waited was served, there may be something for the next.
   */
  wokenByBlock(block: AddressBlock, caches: Caches): Ref[] {
    const { waiting } = this.of(block.metadata.namespace ?? '');
    const now = caches.of(AddressBlock).get(refOf(block));
    if (now?.metadata.resourceVersion === block.metadata.resourceVersion) {
      return waiting.isEmpty ? [] : waiting.headsAmong(addressesOf(block.spec.holdings));
    }
    const still = new Set(now?.spec.holdings.map(({ address, holder: { uid } }) => `${address} ${uid}`));
    const lost = block.spec.holdings.filter(({ address, holder: { uid } }) => !still.has(`${address} ${uid}`));
    const { namespace = '' } = block.metadata;
    // Who lost an address without leaving, because somebody tampered with the block, must see to it.
    const losers = lost.map(({ holder }) => ({ namespace, name: holder.name }));
    return [...losers.filter((ref) => caches.of(IPSet).get(ref) !== undefined), ...waiting.nextFor(addressesOf(lost))];
  }

  /** Called when the Reservation of an IPSet changed. What it should say we wrote ourselves, and wakes nobody. */
  wokenByReservation(reservation: Reservation, caches: Caches): Ref[] {
    const ref = refOf(reservation);
    const ipSet = caches.of(IPSet).get(ref);
    if (ipSet === undefined || ipSet.metadata.deletionTimestamp !== undefined) return [];
    const now = caches.of(Reservation).get(ref);
    return now !== undefined && this.#isIntact(now, ipSet) ? [] : [ref];
  }

  /** Called with an IPSet that changed: if it is gone, those behind it must not wait for it. */
  wokenByLeaving(ipSet: IPSet, caches: Caches): Ref[] {
    const { namespace = '', uid } = ipSet.metadata;
    if (caches.of(IPSet).get(refOf(ipSet))?.metadata.uid === uid) return [];
    const environment = this.of(namespace);
    environment.forget(ipSet);
    return environment.waiting.heads();
  }

  /** Called when others give from more or less than before: what they leave may be for those who wait. */
  wokenByOthers(): Ref[] {
    return [...this.#environments.values()].flatMap(({ waiting }) => waiting.heads());
  }

  #isIntact(reservation: Reservation, ipSet: IPSet): boolean {
    const { namespace = '', uid } = ipSet.metadata;
    const { deletionTimestamp, finalizers = [] } = reservation.metadata;
    if (!isFor(reservation, ipSet) || deletionTimestamp !== undefined || !finalizers.includes(FINALIZER.name))
      return false;
    const said = Object.values(reservation.spec.reservation).map(({ address }) => address);
    const held = this.of(namespace).space.heldBy(uid);
    return said.length === held.length && held.every(({ address }) => said.includes(address.toString()));
  }
}

export function byAge(a: IPSet | NetConfig, b: IPSet | NetConfig): number {
  if (a.metadata.creationTimestamp !== b.metadata.creationTimestamp) {
    return a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1;
  }
  return a.metadata.name < b.metadata.name ? -1 : Number(a.metadata.name > b.metadata.name);
}

const addressesOf = (holdings: readonly AddressHolding[]): Address[] =>
  holdings.flatMap(({ address }) => Address.parse(address) ?? []);
