import { Service } from '../../../src/api/core/service.ts';
import { AddressBlock, type AddressHolding, type AddressSharer } from '../../../src/api/netloom.io/address-block.ts';
import { AddressClaim } from '../../../src/api/netloom.io/address-claim.ts';
import { IPSet } from '../../../src/api/network.openstack.org/ipset.ts';
import { Reservation } from '../../../src/api/network.openstack.org/reservation.ts';
import type { ApiObject } from '../../../src/api/object.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import type { StoredChange } from '../store.ts';
import { resourceOf } from '../writes.ts';
import type { Books } from './books.ts';
import { familyOf, NEVER_GIVEN, netConfigsAround } from './facts.ts';
import { POOLS } from './networks.ts';
import type { Plot } from './plot.ts';
import { type Told, toldTo } from './told.ts';

/**
 * Looks at every single write, and says what must never be, not even for a moment: an address with two holders, one that is taken from
 * somebody who goes on saying that he has it, one that moves, one that is told before it is on record or given again before it has cooled
 * down; and one thing that is written without end.
 */
export class Witness {
  readonly faults: string[] = [];
  readonly #books: Books;
  readonly #clock: Clock;
  readonly #coolDown: number;
  readonly #skew: number;
  /** UIDs of those who were told an address before there was a record of it. */
  readonly #legacy: ReadonlySet<string>;
  readonly #netConfigsStay: boolean;
  readonly #poolsOf: Plot['poolsOf'];
  /** What is written → how often in the time that began then. */
  readonly #written = new Map<string, { since: number; times: number }>();
  /** UID, network and family → the first address that was told. */
  readonly #first = new Map<string, string>();

  /** `netConfigsStay`: an address that a network has it always has, so that records of it can be asked for. */
  constructor(options: {
    books: Books;
    clock: Clock;
    coolDown: number;
    skew: number;
    legacy: ReadonlySet<string>;
    netConfigsStay: boolean;
    poolsOf: Plot['poolsOf'];
  }) {
    this.#books = options.books;
    this.#clock = options.clock;
    this.#coolDown = options.coolDown;
    this.#skew = options.skew;
    this.#legacy = options.legacy;
    this.#netConfigsStay = options.netConfigsStay;
    this.#poolsOf = options.poolsOf;
  }

  see(change: StoredChange): void {
    this.#requireCalm(change);
    const { resource, before, after, deleted } = change;
    const [was, is] = [before, deleted ? undefined : after] as [unknown, unknown];
    if (resource === BLOCKS) this.#seeBlock(was as AddressBlock | undefined, is as AddressBlock | undefined);
    else if (resource === IPSETS) this.#seeHost(toldTo.ipSet(is as IPSet | undefined));
    else if (resource === CLAIMS) this.#seeHost(toldTo.claim(is as AddressClaim | undefined));
    else if (resource === RESERVATIONS) this.#seeReservation(is as Reservation | undefined);
    else if (resource === SERVICES) this.#seeService(was as Service | undefined, is as Service | undefined);
  }

  #seeBlock(before: AddressBlock | undefined, now: AddressBlock | undefined): void {
    const { metadata, spec } = now ?? before ?? NONE;
    const place = `${metadata.namespace}/${spec.space}`;
    const was = new Map((before?.spec.holdings ?? []).map((holding) => [holding.address, holding]));
    const is = new Map((now?.spec.holdings ?? []).map((holding) => [holding.address, holding]));
    if (is.size !== (now?.spec.holdings ?? []).length) this.#fault(`a block of ${place} has an address twice`);
    for (const address of new Set([...was.keys(), ...is.keys()])) {
      const [old, holding] = [was.get(address), is.get(address)];
      if (old === holding) continue;
      if (spec.space === 'vips') this.#seeVip(address, old, holding);
      else this.#seeHolding(metadata.namespace ?? '', address, old, holding);
    }
  }

  #seeHolding(
    namespace: string,
    address: string,
    old: AddressHolding | undefined,
    now: AddressHolding | undefined,
  ): void {
    const isNew = now !== undefined && now.coolsUntil === undefined && now.holder.uid !== old?.holder.uid;
    if (old !== undefined && (isNew || now === undefined)) this.#requireCoolness(address, old, now);
    if (
      old !== undefined &&
      old.coolsUntil === undefined &&
      (isNew || now?.coolsUntil !== undefined || now === undefined)
    ) {
      this.#requireUntold(namespace, address, old, now);
    }
    if (isNew && NEVER_GIVEN.has(address) && !isOfService(now) && !this.#books.mayAskFor(namespace, now, address)) {
      this.#fault(`${address} is given to ${now.holder.kind} ${now.holder.name}, which did not ask for it by number`);
    }
  }

  /** Nobody loses what he says that he has. */
  #requireUntold(namespace: string, address: string, old: AddressHolding, now: AddressHolding | undefined): void {
    for (const { name, uid, kind } of this.#books.toldAt(namespace, address)) {
      if (uid === old.holder.uid)
        this.#fault(`${address} is taken from ${kind} ${namespace}/${name}, which says that it has it`);
    }
    if (!isOfService(old) || (now !== undefined && isOfService(now)) || !this.#netConfigsStay) return;
    // MetalLB gives what one Service has left to the next one before we can hear of it.
    if (this.#poolsOf === 'metallb') return;
    for (const { metadata } of this.#books.servicesAt(address)) {
      this.#fault(
        `${address} is given to hosts of ${namespace} while Service ${metadata.namespace}/${metadata.name} has it`,
      );
    }
  }

  /** What a host gives back cools down, on record, and nobody of another name has it before that is over. */
  #requireCoolness(address: string, old: AddressHolding, now: AddressHolding | undefined): void {
    if (this.#coolDown === 0 || isOfService(old) || (now !== undefined && isNamesake(old, now))) return;
    const who = now === undefined ? 'nobody' : `${now.holder.kind} ${now.holder.name}`;
    if (old.coolsUntil === undefined)
      this.#fault(`${address} of ${old.holder.name} is that of ${who} without having cooled down`);
    else if (Date.parse(old.coolsUntil) > this.#clock.now() + this.#skew)
      this.#fault(`${address} is that of ${who} before ${old.coolsUntil}`);
  }

  #seeVip(address: string, old: AddressHolding | undefined, now: AddressHolding | undefined): void {
    const users = now?.sharers ?? [];
    if (this.#poolsOf === 'metallb') this.#fault(`${address} is given to a Service by us, and that is up to MetalLB`);
    for (const [i, one] of users.entries()) {
      for (const other of users.slice(i + 1)) {
        if (!mayShare(one, other)) this.#fault(`${address} is shared by ${one.name} and ${other.name}, which cannot`);
      }
    }
    const gone = (old?.sharers ?? []).filter(({ uid }) => !users.some((user) => user.uid === uid));
    for (const { metadata } of this.#books.servicesAt(address)) {
      if (gone.some(({ uid }) => uid === metadata.uid)) {
        this.#fault(
          `${address} is taken from Service ${metadata.namespace}/${metadata.name}, which says that it has it`,
        );
      }
    }
  }

  #seeHost(told: Told | undefined): void {
    if (told === undefined) return;
    const { namespace, kind, name, uid } = told;
    const who = `${kind} ${namespace}/${name}`;
    for (const { address, network } of told.addresses) {
      for (const other of this.#books.toldAt(namespace, address)) {
        if (other.uid !== uid) this.#fault(`${address} of ${who} as well as of ${other.kind} ${other.name}`);
      }
      if (!this.#legacy.has(uid)) this.#requireRecord(namespace, address, uid, who);
      this.#requireStays(`${uid} ${network.toLowerCase()} ${familyOf(address)}`, address, who);
    }
  }

  #seeReservation(reservation: Reservation | undefined): void {
    const { namespace = '', name } = reservation?.metadata ?? { name: '' };
    const uid = reservation?.spec.ipSetRef.uid;
    const ipSet = this.#books.ipSet(namespace, name);
    if (reservation === undefined || uid === undefined || ipSet?.metadata.uid !== uid) return;
    if (ipSet.metadata.deletionTimestamp !== undefined || this.#legacy.has(uid)) return;
    for (const entry of Object.values(reservation.spec.reservation)) {
      const { address, network } = entry;
      if (!toldTo.asksFor(ipSet, entry)) continue;
      this.#requireRecord(namespace, address, uid, `Reservation ${namespace}/${name}`);
      this.#requireStays(`${uid} ${network.toLowerCase()} ${familyOf(address)}`, address, `IPSet ${namespace}/${name}`);
    }
  }

  #seeService(before: Service | undefined, now: Service | undefined): void {
    if (now === undefined || this.#legacy.has(now.metadata.uid) || this.#poolsOf === 'metallb') return;
    const { namespace, name, uid } = now.metadata;
    const told = toldTo.service(before?.metadata.uid === uid ? before : undefined);
    for (const address of toldTo.service(now)) {
      if (told.includes(address)) continue;
      const record = this.#books.holding(`${POOLS}/vips`, address);
      if (record?.sharers?.some((sharer) => sharer.uid === uid) !== true) {
        this.#fault(`Service ${namespace}/${name} is told ${address}, which is not on record for it`);
      }
      for (const around of this.#netConfigsStay ? netConfigsAround(this.#books.netConfigs, address) : []) {
        const host = this.#books.holding(`${around}/underlay`, address);
        if (host === undefined || !isOfService(host)) {
          const who = host === undefined ? 'nobody' : `${host.holder.kind} ${host.holder.name}`;
          this.#fault(`Service ${namespace}/${name} is told ${address}, which ${who} has on record in ${around}`);
        }
      }
    }
  }

  /** Whatever people do and whatever is lost, nobody writes the same thing again and again. */
  #requireCalm({ resource, key, by }: StoredChange): void {
    const what = `${resource} ${key}`;
    const now = this.#clock.uptime();
    const last = this.#written.get(what);
    const since = last === undefined || now - last.since > CALM_MS ? now : last.since;
    const times = since === last?.since ? last.times + 1 : 1;
    this.#written.set(what, { since, times });
    if (times === MOST_WRITES) this.#fault(`${what} is written ${times} times in ${now - since} ms, now by ${by}`);
  }

  #requireRecord(namespace: string, address: string, uid: string, who: string): void {
    const record = this.#books.holding(`${namespace}/underlay`, address);
    if (record?.holder.uid === uid && record.coolsUntil === undefined) return;
    const holder = record === undefined ? 'nobody' : `${record.holder.kind} ${record.holder.name}`;
    this.#fault(`${who} says ${address}, which ${holder} has on record`);
  }

  #requireStays(key: string, address: string, who: string): void {
    const first = this.#first.get(key);
    if (first === undefined) this.#first.set(key, address);
    else if (first !== address) this.#fault(`the address of ${who} moves from ${first} to ${address}`);
  }

  #fault(text: string): void {
    this.faults.push(`at ${(this.#clock.uptime() / 1000).toFixed(3)} s: ${text}`);
  }
}

const CALM_MS = 30_000;
/** Far more than a crowd comes to, far less than a quarrel. */
const MOST_WRITES = 200;

const BLOCKS = resourceOf(AddressBlock);
const IPSETS = resourceOf(IPSet);
const CLAIMS = resourceOf(AddressClaim);
const RESERVATIONS = resourceOf(Reservation);
const SERVICES = resourceOf(Service);

const NONE: Pick<AddressBlock, 'spec'> & { metadata: Pick<ApiObject['metadata'], 'namespace'> } = {
  metadata: {},
  spec: { space: '', prefix: '', holdings: [] },
};

const isOfService = ({ holder }: AddressHolding): boolean => holder.kind === Service.kind;

const isNamesake = ({ holder: a }: AddressHolding, { holder: b }: AddressHolding): boolean =>
  a.apiGroup === b.apiGroup && a.name === b.name;

const mayShare = (a: AddressSharer, b: AddressSharer): boolean =>
  a.sharingKey !== undefined &&
  a.sharingKey === b.sharingKey &&
  a.backends === b.backends &&
  !a.ports.some((port) => b.ports.includes(port));
