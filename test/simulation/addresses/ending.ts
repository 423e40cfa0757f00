import { Service } from '../../../src/api/core/service.ts';
import { AddressBlock } from '../../../src/api/netloom.io/address-block.ts';
import { AddressClaim } from '../../../src/api/netloom.io/address-claim.ts';
import { IPSet } from '../../../src/api/network.openstack.org/ipset.ts';
import { NetConfig } from '../../../src/api/network.openstack.org/netconfig.ts';
import { Reservation } from '../../../src/api/network.openstack.org/reservation.ts';
import { Books } from './books.ts';
import { netConfigsAround } from './facts.ts';
import { POOLS } from './networks.ts';
import { Reasons } from './reasons.ts';
import { fullnessFaults, poolFaults } from './reports.ts';
import { ServiceRules } from './service-rules.ts';
import type { Sight } from './sight.ts';
import { toldTo } from './told.ts';

/** What is wrong when everything has become quiet, a sentence each. `sweptUp`: also what is abandoned was seen to. Everything is worked out anew here, by going through every address. */
export function faultsInTheEnd(sight: Sight, { sweptUp = true } = {}): string[] {
  return [
    ...hostFaults(sight),
    ...serviceFaults(sight),
    ...(sweptUp ? lostAddresses(sight) : []),
    ...fullnessFaults(sight),
    ...poolFaults(sight),
  ];
}

/** Every host has what it asks for, or says why not; and what says so agrees. */
function hostFaults(sight: Sight): string[] {
  const reasons = new Reasons(sight);
  const namespaces = new Set(sight.stored(NetConfig).map(({ metadata }) => metadata.namespace));
  // Without networks nothing more is told, and nothing is given back.
  const decided = (namespace: string, addresses: readonly string[], told: readonly string[]): readonly string[] =>
    namespaces.has(namespace) ? addresses : addresses.filter((one) => told.includes(one));
  const faults: string[] = [];
  for (const ipSet of sight.stored(IPSet)) {
    const { namespace = '', name, uid } = ipSet.metadata;
    const who = `IPSet ${namespace}/${name}`;
    if (ipSet.metadata.deletionTimestamp !== undefined) {
      faults.push(`${who} does not come to its end`);
      continue;
    }
    const { status } = ipSet;
    const told = (status?.reservations ?? []).map(({ address }) => address).sort();
    const held = heldBy(sight, namespace, (holder) => holder === uid);
    const reservation = sight
      .stored(Reservation)
      .find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    const isOwn = reservation?.spec.ipSetRef.uid === uid;
    const promised = isOwn ? Object.values(reservation.spec.reservation).map(({ address }) => address) : [];
    // What was promised to two, as it may be from former times or by hand, one of them waits for.
    const anothers = heldBy(sight, namespace, (holder) => holder !== uid);
    const reserved = promised.filter((address) => !anothers.includes(address));
    // Without networks it is not written anew either.
    if (namespaces.has(namespace)) faults.push(...differing(`the Reservation of ${who}`, reserved, told));
    faults.push(...differing(`the record of ${who}`, decided(namespace, held, told), told));
    if (status?.observedGeneration !== ipSet.metadata.generation) faults.push(`${who} was not looked at`);
    faults.push(...reasons.faultsOf(ipSet, ipSet.spec.networks, told, status?.conditions));
  }
  for (const claim of sight.stored(AddressClaim)) {
    const { namespace = '', name, uid } = claim.metadata;
    const who = `AddressClaim ${namespace}/${name}`;
    if (claim.metadata.deletionTimestamp !== undefined) {
      faults.push(`${who} does not come to its end`);
      continue;
    }
    const { address, conditions } = claim.status ?? {};
    const told = address === undefined ? [] : [address];
    const held = heldBy(sight, namespace, (holder) => holder === uid);
    faults.push(...differing(`the record of ${who}`, decided(namespace, held, told), told));
    const { network, subnet, address: fixedIP } = claim.spec;
    const request = { name: network, subnetName: subnet, ...(fixedIP === undefined ? {} : { fixedIP }) };
    faults.push(...reasons.faultsOf(claim, [request], told, conditions));
  }
  return faults;
}

function serviceFaults(sight: Sight): string[] {
  const rules = new ServiceRules(sight);
  const books = new Books(sight);
  const faults: string[] = [];
  const netConfigs = sight.stored(NetConfig);
  for (const service of sight.stored(Service)) {
    const { namespace = '', name, uid } = service.metadata;
    const who = `Service ${namespace}/${name}`;
    const told = toldTo.service(service);
    const used = usedBy(sight, uid);
    faults.push(...differing(`the register of ${who}`, used, told));
    for (const address of told) {
      for (const around of netConfigsAround(netConfigs, address)) {
        const holding = books.holding(`${around}/underlay`, address);
        const isOurs =
          holding?.holder.kind === Service.kind &&
          books.servicesAt(address).some(({ metadata }) => metadata.uid === holding.holder.uid);
        // A network that came later may have given it to a host before.
        if (!isOurs && holding?.holder.kind !== IPSet.kind && holding?.holder.kind !== AddressClaim.kind) {
          faults.push(`${who} has ${address}, which is not on record in ${around}`);
        }
      }
    }
    faults.push(...rules.faultsOf(service, told));
  }
  return faults;
}

/** Whatever is held is held by somebody who says that he has it. */
function lostAddresses(sight: Sight): string[] {
  const holders = new Set([
    ...[...sight.stored(IPSet), ...sight.stored(AddressClaim), ...sight.stored(Service)].map(
      ({ metadata }) => metadata.uid,
    ),
    ...sight.stored(Reservation).map(({ metadata }) => metadata.uid),
  ]);
  const living = new Set(
    sight.stored(IPSet).map(({ metadata }) => `${metadata.namespace}/${metadata.name} ${metadata.uid}`),
  );
  const netConfigs = sight.stored(NetConfig);
  const blocks = sight.stored(AddressBlock).flatMap(({ metadata: { namespace, name }, spec }) => {
    if (spec.holdings.length === 0) return [`the block ${namespace}/${name} holds nothing and stays`];
    return spec.holdings.flatMap(({ address, holder, coolsUntil }) => {
      if (coolsUntil !== undefined) return [`${address} in ${namespace} has cooled down, and is not free`];
      if (!holders.has(holder.uid)) return [`${address} in ${namespace} is lost to ${holder.kind} ${holder.name}`];
      const isElsewhere =
        holder.kind === Service.kind &&
        spec.space === 'underlay' &&
        !netConfigsAround(netConfigs, address).includes(namespace ?? '');
      return isElsewhere ? [`${address} is held in ${namespace}, which has no network with it`] : [];
    });
  });
  const reservations = sight.stored(Reservation).flatMap(({ metadata: { namespace, name }, spec }) => {
    const { uid } = spec.ipSetRef;
    return uid === undefined || living.has(`${namespace}/${name} ${uid}`)
      ? []
      : [`the Reservation ${namespace}/${name} is for nobody`];
  });
  return [...blocks, ...reservations];
}

const heldBy = (sight: Sight, namespace: string, by: (uid: string) => boolean): string[] =>
  sight
    .stored(AddressBlock)
    .filter(({ metadata, spec }) => metadata.namespace === namespace && spec.space === 'underlay')
    .flatMap(({ spec }) => spec.holdings.flatMap(({ address, holder }) => (by(holder.uid) ? [address] : [])));

const usedBy = (sight: Sight, uid: string): string[] =>
  sight
    .stored(AddressBlock)
    .filter(({ metadata, spec }) => metadata.namespace === POOLS && spec.space === 'vips')
    .flatMap(({ spec }) =>
      spec.holdings.flatMap(({ address, sharers = [] }) => (sharers.some((one) => one.uid === uid) ? [address] : [])),
    );

function differing(what: string, found: readonly string[], told: readonly string[]): string[] {
  const [is, should] = [[...found].sort().join(' '), [...told].sort().join(' ')];
  return is === should ? [] : [`${what} is [${is}], and its status says [${should}]`];
}
