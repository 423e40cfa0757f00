import { Service } from '../../../src/api/core/service.ts';
import type { Kind } from '../../../src/api/kind.ts';
import { IPAddressPool } from '../../../src/api/metallb.io/ip-address-pool.ts';
import { AddressClaim } from '../../../src/api/netloom.io/address-claim.ts';
import { IPSet, type NetworkRequest } from '../../../src/api/network.openstack.org/ipset.ts';
import { NetConfig } from '../../../src/api/network.openstack.org/netconfig.ts';
import { Reservation } from '../../../src/api/network.openstack.org/reservation.ts';
import type { ApiObject } from '../../../src/api/object.ts';
import type { Client } from '../../../src/runtime/client.ts';
import { asError } from '../../../src/runtime/log.ts';
import { refOf } from '../../../src/runtime/ref.ts';
import type { Dice } from './dice.ts';
import { drawNetworks, drawPool, NAMESPACES, POOL_NAMES, POOLS } from './networks.ts';
import type { Sight } from './sight.ts';
import type { Trace } from './trace.ts';
import { drawClaim, drawIPSet, drawService, drawServiceWishes } from './wishes.ts';

/** What people do besides the usual. */
export interface Habits {
  /** They delete NetConfigs. */
  readonly netConfigsGo: boolean;
  /** They take finalizers off, and keep addresses by hand. */
  readonly force: boolean;
}

/** Who writes objects, changes his mind, and deletes them, sometimes by force. Nobody waits for an answer before he goes on. */
export class People {
  readonly #client: Client;
  readonly #sight: Sight;
  readonly #dice: Dice;
  readonly #trace: Trace;
  readonly #habits: Habits;
  readonly #asking = new Set<Promise<void>>();
  /** IPSets that have asked for less than before: what they ask for after that is new. */
  readonly #reduced = new Set<string>();

  constructor(options: { client: Client; sight: Sight; dice: Dice; trace: Trace; habits: Habits }) {
    this.#client = options.client;
    this.#sight = options.sight;
    this.#dice = options.dice;
    this.#trace = options.trace;
    this.#habits = options.habits;
  }

  /** Resolves when every answer has come. */
  async answered(): Promise<void> {
    while (this.#asking.size > 0) await Promise.all(this.#asking);
  }

  prepare(): void {
    for (const namespace of NAMESPACES) this.#writeNetConfig(namespace);
    for (const name of POOL_NAMES) this.#writePool(name);
  }

  act(): void {
    const force = this.#habits.force ? 1 : 0;
    this.#dice.weighted<() => void>([
      [12, () => this.#createIPSet()],
      [6, () => this.#createClaim()],
      [8, () => this.#createService()],
      [2, () => this.#crowd()],
      [force, () => this.#createReservation()],
      [6, () => this.#delete(this.#any(IPSet))],
      [3, () => this.#delete(this.#any(AddressClaim))],
      [5, () => this.#delete(this.#any(Service))],
      [2, () => this.#replace()],
      [force, () => this.#delete(this.#any(Reservation))],
      [force, () => this.#tearOff(IPSet)],
      [force, () => this.#tearOff(AddressClaim)],
      [2, () => this.#askForMore()],
      [1, () => this.#askForLess()],
      [3, () => this.#changeService()],
      [3, () => this.#writeNetConfig(this.#namespace())],
      [2, () => this.#writePool(this.#dice.pick(POOL_NAMES) ?? 'extra')],
      [1, () => this.#delete(this.#any(IPAddressPool))],
      [this.#habits.netConfigsGo ? 2 : 0, () => this.#delete(this.#any(NetConfig))],
    ])();
  }

  #createIPSet(namespace = this.#namespace(), name = `n${this.#dice.below(12)}`): void {
    const finalizers = this.#dice.oneIn(2) ? ['openstack.org/ipset'] : [];
    const spec = drawIPSet(this.#dice);
    this.#ask(`create IPSet ${namespace}/${name} ${textOf(spec.networks)}`, () =>
      this.#client.create(IPSet, { metadata: { namespace, name, finalizers }, spec }),
    );
  }

  #createClaim(namespace = this.#namespace(), name = `c${this.#dice.below(8)}`): void {
    const finalizers = this.#dice.oneIn(2) ? ['netloom.io/addressclaim'] : [];
    const spec = drawClaim(this.#dice);
    this.#ask(`create AddressClaim ${namespace}/${name} ${textOf(spec)}`, () =>
      this.#client.create(AddressClaim, { metadata: { namespace, name, finalizers }, spec }),
    );
  }

  #createService(namespace = this.#namespace(), name = `s${this.#dice.below(8)}`): void {
    const annotations = drawServiceWishes(this.#dice);
    const spec = drawService(this.#dice);
    this.#ask(`create Service ${namespace}/${name} ${textOf({ annotations, spec })}`, () =>
      this.#client.create(Service, { metadata: { namespace, name, annotations }, spec }),
    );
  }

  #changeService(): void {
    const service = this.#any(Service);
    if (service === undefined) return;
    const { name, namespace, annotations: before = {} } = service.metadata;
    const ours = Object.entries(before).filter(([key]) => !/allow-shared-ip|loadBalancerIPs|address-pool/.test(key));
    const annotations = { ...Object.fromEntries(ours), ...drawServiceWishes(this.#dice) };
    const spec = drawService(this.#dice);
    this.#ask(`change Service ${namespace}/${name} ${textOf({ annotations, spec })}`, () =>
      this.#client.update(Service, { ...service, metadata: { ...service.metadata, annotations }, spec }),
    );
  }

  /** More than there are addresses, all at once. */
  #crowd(): void {
    const namespace = this.#namespace();
    for (let i = this.#dice.between(3, 8); i > 0; i -= 1) {
      this.#dice.weighted<() => void>([
        [3, () => this.#createIPSet(namespace)],
        [1, () => this.#createClaim(namespace)],
        [2, () => this.#createService(namespace)],
      ])();
    }
  }

  /** Somebody keeps an address by hand; it may be for an IPSet that comes later. */
  #createReservation(): void {
    const [namespace, name] = [this.#namespace(), `n${this.#dice.below(12)}`];
    const address = `172.18.0.${12 + this.#dice.below(8)}`;
    const reservation = { Storage: { network: 'Storage', subnet: 'subnet1', address } };
    this.#ask(`create Reservation ${namespace}/${name} of ${address}`, () =>
      this.#client.create(Reservation, { metadata: { namespace, name }, spec: { ipSetRef: { name }, reservation } }),
    );
  }

  #delete(object: ApiObject | undefined): void {
    if (object === undefined) return;
    const kind = KINDS.find((one) => one.kind === object.kind);
    const { namespace, name } = object.metadata;
    if (kind === undefined) return;
    this.#ask(`delete ${object.kind} ${namespace}/${name}`, () => this.#client.delete(kind, refOf(object)));
  }

  /** `kubectl replace --force`: another object of the same name, without waiting for the first one to be gone. */
  #replace(): void {
    const kind: Kind = this.#dice.pick<Kind>([IPSet, AddressClaim, Service]) ?? IPSet;
    const object = this.#any(kind);
    if (object === undefined) return;
    const { namespace, name } = object.metadata;
    this.#delete(object);
    if (object.kind === IPSet.kind) this.#createIPSet(namespace, name);
    else if (object.kind === AddressClaim.kind) this.#createClaim(namespace, name);
    else this.#createService(namespace, name);
  }

  /** Somebody is tired of waiting. */
  #tearOff(kind: Kind): void {
    const object = this.#any(kind);
    if (object === undefined) return;
    const { namespace, name } = object.metadata;
    this.#ask(`take the finalizers off ${object.kind} ${namespace}/${name}`, () =>
      this.#client.patch(kind, refOf(object), { merge: { metadata: { finalizers: null } } }),
    );
  }

  #askForMore(): void {
    const ipSet = this.#any(IPSet);
    if (ipSet === undefined || this.#reduced.has(ipSet.metadata.uid) || ipSet.metadata.deletionTimestamp !== undefined)
      return;
    const { networks } = ipSet.spec;
    if (networks.some(({ name, subnetName }) => name === 'Tenant' && subnetName === 'subnet6')) return;
    this.#changeNetworks(ipSet, [{ name: 'Tenant', subnetName: 'subnet6' }, ...networks]);
  }

  #askForLess(): void {
    const ipSet = this.#any(IPSet);
    if (ipSet === undefined || ipSet.spec.networks.length < 2 || ipSet.metadata.deletionTimestamp !== undefined) return;
    this.#reduced.add(ipSet.metadata.uid);
    this.#changeNetworks(ipSet, ipSet.spec.networks.slice(0, -1));
  }

  #changeNetworks(ipSet: IPSet, networks: NetworkRequest[]): void {
    const { namespace, name } = ipSet.metadata;
    this.#ask(`change IPSet ${namespace}/${name} to ${textOf(networks)}`, () =>
      this.#client.update(IPSet, { ...ipSet, spec: { ...ipSet.spec, networks } }),
    );
  }

  #writeNetConfig(namespace: string): void {
    const spec = { networks: drawNetworks(this.#dice) };
    const found = this.#sight.stored(NetConfig).find(({ metadata }) => metadata.namespace === namespace);
    this.#ask(`write NetConfig ${namespace}/netconfig ${textOf(spec.networks.map(({ subnets }) => subnets))}`, () =>
      found === undefined
        ? this.#client.create(NetConfig, { metadata: { namespace, name: 'netconfig' }, spec })
        : this.#client.update(NetConfig, { ...found, spec }),
    );
  }

  #writePool(name: (typeof POOL_NAMES)[number]): void {
    const spec = drawPool(name, this.#dice);
    const found = this.#sight.stored(IPAddressPool).find(({ metadata }) => metadata.name === name);
    this.#ask(`write IPAddressPool ${name} ${textOf(spec)}`, () =>
      found === undefined
        ? this.#client.create(IPAddressPool, { metadata: { namespace: POOLS, name }, spec })
        : this.#client.update(IPAddressPool, { ...found, spec }),
    );
  }

  #ask(text: string, request: () => Promise<unknown>): void {
    this.#trace.note('people', text);
    const asking: Promise<void> = request()
      .then(
        () => {},
        (error) =>
          this.#trace.note('people', `in vain: ${text.split(' ').slice(0, 3).join(' ')}: ${asError(error).message}`),
      )
      .finally(() => this.#asking.delete(asking));
    this.#asking.add(asking);
  }

  #any<T extends ApiObject>(kind: Kind<T>): T | undefined {
    return this.#dice.pick(this.#sight.stored(kind) as readonly unknown[] as readonly T[]);
  }

  #namespace(): string {
    return this.#dice.pick(NAMESPACES) ?? '';
  }
}

const KINDS: readonly Kind[] = [IPSet, AddressClaim, Service, Reservation, NetConfig, IPAddressPool];

const textOf = (value: object): string => JSON.stringify(value).replaceAll('"', '');
