import assert from 'node:assert/strict';
import { noFaults, storm } from '../../test/simulation/faults.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { AddressClaim } from '../api/netloom.io/address-claim.ts';
import { IPSet, type NetworkRequest } from '../api/network.openstack.org/ipset.ts';
import { NetConfig, type NetConfigNetwork } from '../api/network.openstack.org/netconfig.ts';
import { Reservation } from '../api/network.openstack.org/reservation.ts';
import type { ApiObject } from '../api/object.ts';
import { Lab, NAMESPACE, network, type Running, subnet } from './environment.fixture.ts';

/**
 * People and machines at their worst, made up from a seed: IPSets and AddressClaims come and go, ranges grow and shrink, two sets of
 * controllers both believe that they are the ones, everything is slow, lost, refused or restarted. Then all becomes quiet,
 * and everything must be as it should be.
 */
export class Story {
  readonly #lab: Lab;
  /** UID, network and subnet → the address that the Reservation of an IPSet or the status of a claim named first. */
  readonly #promised = new Map<string, string>();
  #running: Running[] = [];

  constructor(seed: number) {
    this.#lab = new Lab({ seed, coolDown: seed % 2 === 0 ? 0 : 20_000 });
  }

  static async tell({ seed, steps }: { seed: number; steps: number }): Promise<void> {
    const story = new Story(seed);
    await story.#lab.netConfig(...story.#networks());
    story.#running = [await story.#lab.start(storm), await story.#lab.start(storm)];
    for (let i = 0; i < steps; i += 1) {
      await story.#something();
      await story.#lab.settle(story.#below(4_000));
      story.#nothingIsGivenTwice();
    }
    await story.#quiet();
    story.#nothingIsGivenTwice();
    story.#allIsWell();
    await story.#lab.stop();
  }

  async #something(): Promise<void> {
    const { client, api } = this.#lab.world;
    const actions: [weight: number, action: () => Promise<unknown> | undefined][] = [
      [10, () => this.#create()],
      [5, () => this.#createClaim()],
      [6, () => this.#any((ipSet) => client.delete(IPSet, refOf(ipSet)))],
      [3, () => this.#anyOf(this.#claims(), (claim) => client.delete(AddressClaim, refOf(claim)))],
      [1, () => this.#anyOf(this.#claims(), (claim) => client.patch(AddressClaim, refOf(claim), WITHOUT_FINALIZERS))],
      [2, () => this.#any((ipSet) => this.#askForMore(ipSet))],
      [1, () => this.#any((ipSet) => client.patch(IPSet, refOf(ipSet), WITHOUT_FINALIZERS))],
      [1, () => this.#any((ipSet) => client.delete(Reservation, refOf(ipSet)))],
      [2, () => this.#changeNetworks()],
      [2, () => this.#replace()],
      [1, () => this.#outage()],
      [1, async () => api.collectGarbage()],
    ];
    let point = this.#below(actions.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, action] of actions) {
      if (point < weight) {
        await action();
        return;
      }
      point -= weight;
    }
  }

  /** Few addresses for many, so that people wait; sometimes fewer than there were. */
  #networks(): NetConfigNetwork[] {
    const last = () => 12 + this.#below(8);
    const excludeAddresses = this.#below(3) === 0 ? ['172.18.0.11'] : [];
    const allocationRanges = [{ start: '172.18.0.10', end: `172.18.0.${last()}` }];
    const tenant = [{ start: '172.20.0.250', end: `172.20.1.${last() - 10}` }];
    const six = [{ start: 'fd00::fffe', end: `fd00::1:${(last() - 8).toString(16)}` }];
    return [
      network({ subnets: [subnet({ allocationRanges, excludeAddresses })] }),
      network({
        name: 'Tenant',
        subnets: [
          subnet({ cidr: '172.20.0.0/16', allocationRanges: tenant }),
          subnet({ name: 'subnet6', cidr: 'fd00::/64', allocationRanges: six }),
        ],
      }),
    ];
  }

  async #create(): Promise<void> {
    // Names come back: an IPSet may find what a former one of its name left behind.
    const metadata = {
      name: `n${this.#below(25)}`,
      namespace: NAMESPACE,
      finalizers: this.#below(2) === 0 ? ['openstack.org/ipset'] : [],
    };
    if (this.#ipSets().some(({ metadata: { name } }) => name === metadata.name)) return;
    const fixedIP = this.#below(4) === 0 ? { fixedIP: `172.18.0.${8 + this.#below(8)}` } : {};
    const requests: NetworkRequest[] = [{ name: 'Storage', subnetName: 'subnet1', ...fixedIP }];
    if (this.#below(2) === 0) requests.push({ name: 'tenant', subnetName: 'subnet1' });
    await this.#lab.world.client.create(IPSet, { metadata, spec: { immutable: false, networks: requests } });
  }

  async #createClaim(): Promise<void> {
    const finalizers = this.#below(2) === 0 ? ['netloom.io/addressclaim'] : [];
    const metadata = { name: `c${this.#below(12)}`, namespace: NAMESPACE, finalizers };
    if (this.#claims().some(({ metadata: { name } }) => name === metadata.name)) return;
    const fixed = this.#below(4) === 0 ? { address: `172.18.0.${8 + this.#below(8)}` } : {};
    const spec = { host: 'host-a', network: 'storage', subnet: 'subnet1', ...fixed };
    await this.#lab.world.client.create(AddressClaim, { metadata, spec });
  }

  async #askForMore(ipSet: IPSet): Promise<void> {
    const { networks } = ipSet.spec;
    if (networks.some(({ subnetName }) => subnetName === 'subnet6') || ipSet.metadata.deletionTimestamp !== undefined)
      return;
    const more = { name: 'Tenant', subnetName: 'subnet6' };
    await this.#lab.world.client.update(IPSet, { ...ipSet, spec: { ...ipSet.spec, networks: [more, ...networks] } });
  }

  async #changeNetworks(): Promise<void> {
    const [found] = this.#lab.world.api.objects(NetConfig);
    if (found !== undefined)
      await this.#lab.world.client.update(NetConfig, { ...found, spec: { networks: this.#networks() } });
  }

  /** One of the two dies in the middle of whatever it does, and another one takes its place. */
  async #replace(): Promise<void> {
    const [dying, ...others] = this.#running;
    if (dying !== undefined) await this.#lab.world.clock.run(dying.manager.stop({ within: 0 }));
    this.#running = [...others, await this.#lab.start(storm)];
  }

  async #outage(): Promise<void> {
    this.#lab.world.api.stop();
    await this.#lab.settle(this.#below(3_000));
    this.#lab.world.api.start({ forget: this.#below(2) === 0 });
  }

  /** Long enough for every dead connection to be noticed, and for what is abandoned to be swept up. */
  async #quiet(): Promise<void> {
    for (const { transport } of this.#running) transport.faults = { ...noFaults, delay: [1, 5] };
    for (let i = 0; i < 4; i += 1) {
      await this.#lab.settle(600_000);
      this.#lab.world.api.collectGarbage();
    }
  }

  #nothingIsGivenTwice(): void {
    const seen = new Map<string, string>();
    for (const { spec } of this.#lab.world.api.objects(AddressBlock)) {
      for (const { address, holder } of spec.holdings) claim(seen, address, holder.uid);
    }
    const promised = new Map<string, string>();
    for (const ipSet of living(this.#ipSets())) {
      const { uid } = ipSet.metadata;
      const reservation = this.#lab.reservation(ipSet.metadata.name);
      if (reservation === undefined || reservation.spec.ipSetRef.uid !== uid) continue;
      for (const entry of Object.values(reservation.spec.reservation)) {
        const { address } = entry;
        claim(promised, address, uid);
        this.#doesNotMove(`${uid} ${entry.network} ${entry.subnet}`, address, ipSet.metadata.name);
      }
    }
    const told = new Map<string, string>();
    for (const { metadata, status } of living(this.#ipSets())) {
      for (const { address } of status?.reservations ?? []) claim(told, address, metadata.uid);
    }
    for (const { metadata, status } of living(this.#claims())) {
      if (status?.address === undefined) continue;
      claim(told, status.address, metadata.uid);
      this.#doesNotMove(metadata.uid, status.address, metadata.name);
    }
  }

  #doesNotMove(key: string, address: string, name: string): void {
    const first = this.#promised.get(key);
    if (first === undefined) this.#promised.set(key, address);
    else assert.equal(address, first, `the address of ${name} moved`);
  }

  /** Everyone has what it asked for or says why not, everything that says so agrees, and nothing is lost. */
  #allIsWell(): void {
    const { api } = this.#lab.world;
    const ipSets = this.#ipSets();
    const held = new Map(
      api
        .objects(AddressBlock)
        .flatMap(({ spec }) => spec.holdings.map(({ address, holder }) => [address, holder.uid] as const)),
    );
    for (const { metadata, spec, status } of ipSets) {
      const { name, uid } = metadata;
      assert.equal(metadata.deletionTimestamp, undefined, `${name} does not come to its end`);
      assert.equal(status?.observedGeneration, metadata.generation, `${name} was not looked at`);
      const ready = status?.conditions?.[0];
      const told = (status?.reservations ?? []).map(({ address }) => address).sort();
      const reserved = Object.values(this.#lab.reservation(name)?.spec.reservation ?? {}).map(({ address }) => address);
      const recorded = [...held].filter(([, holder]) => holder === uid).map(([address]) => address);
      assert.deepEqual(reserved.sort(), told, `the Reservation of ${name}`);
      assert.deepEqual(recorded.sort(), told, `the record of ${name}`);
      if (ready?.status === 'True')
        assert.equal(told.length, spec.networks.length, `${name} is ready without all it needs`);
      else assert.match(ready?.message ?? '', REASONS, name);
    }
    for (const { metadata, status } of this.#claims()) {
      const { name, uid } = metadata;
      assert.equal(metadata.deletionTimestamp, undefined, `${name} does not come to its end`);
      const told = status?.address === undefined ? [] : [status.address];
      const recorded = [...held].filter(([, holder]) => holder === uid).map(([address]) => address);
      assert.deepEqual(recorded, told, `the record of ${name}`);
      const ready = status?.conditions?.[0];
      if (ready?.status === 'True') assert.equal(told.length, 1, `${name} is ready without an address`);
      else assert.match(ready?.message ?? '', REASONS, name);
    }
    const holders = new Set([...ipSets, ...this.#claims()].map(({ metadata }) => metadata.uid));
    for (const [address, uid] of held) assert.ok(holders.has(uid), `${address} is lost to ${uid}`);
    for (const { metadata, spec } of api.objects(Reservation)) {
      assert.ok(holders.has(spec.ipSetRef.uid ?? ''), `the Reservation ${metadata.name} is for nobody`);
    }
    this.#nobodyWaitsInVain(held);
  }

  #nobodyWaitsInVain(held: ReadonlyMap<string, string>): void {
    const [netConfig] = this.#lab.world.api.objects(NetConfig);
    const definition = netConfig?.spec.networks[0]?.subnets[0];
    const last = Number(definition?.allocationRanges[0]?.end.split('.').at(-1));
    for (let i = 10; i <= last; i += 1) {
      const address = `172.18.0.${i}`;
      if (held.has(address) || definition?.excludeAddresses?.includes(address) === true) continue;
      for (const { metadata, status } of [...this.#ipSets(), ...this.#claims()]) {
        const message = status?.conditions?.[0]?.message ?? '';
        const waits = message.includes('Storage subnet subnet1: none') || message.includes(`${address} already`);
        assert.ok(!waits, `${metadata.name} waits while ${address} is free`);
      }
    }
  }

  #ipSets(): IPSet[] {
    return this.#lab.world.api.objects(IPSet);
  }

  #claims(): AddressClaim[] {
    return this.#lab.world.api.objects(AddressClaim);
  }

  #any(action: (ipSet: IPSet) => Promise<unknown>): Promise<void> {
    return this.#anyOf(this.#ipSets(), action);
  }

  async #anyOf<T>(objects: readonly T[], action: (object: T) => Promise<unknown>): Promise<void> {
    const object = objects[this.#below(objects.length)];
    if (object !== undefined) await action(object);
  }

  #below(limit: number): number {
    return Math.floor(this.#lab.world.clock.random() * limit);
  }
}

const refOf = ({ metadata: { name } }: ApiObject) => ({ name, namespace: NAMESPACE });

/** One that is being deleted may have given back what is still written about it. */
const living = <T extends ApiObject>(objects: readonly T[]): T[] =>
  objects.filter(({ metadata }) => metadata.deletionTimestamp === undefined);

const WITHOUT_FINALIZERS = { merge: { metadata: { finalizers: null } } };
/** Why somebody may be without an address in the end. */
const REASONS = /none of .* is left|already reserved by|ExcludeAddresses/;

function claim(claims: Map<string, string>, address: string, uid: string): void {
  const other = claims.get(address) ?? uid;
  assert.equal(other, uid, `${address} was given twice`);
  claims.set(address, uid);
}
