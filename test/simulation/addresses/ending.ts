import { Service } from '../../../src/api/core/service.ts';
import { AddressBlock } from '../../../src/api/netloom.io/address-block.ts';
import { AddressClaim } from '../../../src/api/netloom.io/address-claim.ts';
import { IPSet } from '../../../src/api/network.openstack.org/ipset.ts';
import { NetConfig } from '../../../src/api/network.openstack.org/netconfig.ts';
import { Reservation } from '../../../src/api/network.openstack.org/reservation.ts';
import { Event } from '../../../src/runtime/builtin.ts';
import { Books } from './books.ts';
import { netConfigsAround } from './facts.ts';
import { POOLS } from './networks.ts';
import type { Plot } from './plot.ts';
import { Reasons } from './reasons.ts';
import { foreignPoolFaults, fullnessFaults, givenPoolFaults } from './reports.ts';
import { ServiceRules } from './service-rules.ts';
import type { Sight } from './sight.ts';
import { toldTo } from './told.ts';

/** What is wrong when everything has become quiet, a sentence each. `sweptUp`: also what is abandoned was seen to. Everything is worked out anew here, by going through every address. */
export function faultsInTheEnd(
  sight: Sight,
  { sweptUp = true, poolsOf = 'netloom' }: { sweptUp?: boolean; poolsOf?: Plot['poolsOf'] } = {},
): string[] {
  const poolFaults = poolsOf === 'netloom' ? givenPoolFaults : foreignPoolFaults;
  return [
    ...hostFaults(sight),
    ...serviceFaults(sight),
    ...(poolsOf === 'netloom' ? givenFaults(sight) : conflictFaults(sight)),
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
  const books = new Books(sight);
  const faults: string[] = [];
  const netConfigs = sight.stored(NetConfig);
  for (const service of sight.stored(Service)) {
    const who = `Service ${service.metadata.namespace}/${service.metadata.name}`;
    const told = toldTo.service(service);
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
  }
  return faults;
}

/** Every Service has of us what it is told, and what it may have. */
function givenFaults(sight: Sight): string[] {
  const rules = new ServiceRules(sight);
  return sight.stored(Service).flatMap((service) => {
    const { namespace, name, uid } = service.metadata;
    const told = toldTo.service(service);
    return [
      ...differing(`the register of Service ${namespace}/${name}`, usedBy(sight, uid), told),
      ...rules.faultsOf(service, told),
    ];
  });
}

/** Where others have given a Service what a host has, it is said. */
function conflictFaults(sight: Sight): string[] {
  const books = new Books(sight);
  const netConfigs = sight.stored(NetConfig);
  return sight.stored(Service).flatMap((service) => {
    const { namespace, name, uid } = service.metadata;
    const said = sight
      .stored(Event)
      .flatMap(({ involvedObject, reason, message = '' }) =>
        involvedObject.uid === uid && reason === 'AddressConflict' ? message : [],
      );
    return toldTo.service(service).flatMap((address) => {
      const isMet = netConfigsAround(netConfigs, address).some((around) => {
        const holder = books.holding(`${around}/underlay`, address)?.holder;
        return holder !== undefined && holder.kind !== Service.kind;
      });
      return isMet && !said.some((message) => message.includes(`"${address}"`))
        ? [`Service ${namespace}/${name} has ${address}, which is that of a host, and nobody has said so`]
        : [];
    });
  });
}

/** Whatever is held is held by somebody who says that he has it. */
function lostAddresses(sight: Sight): string[] {
  const books = new Books(sight);
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
      const isTold = books.servicesAt(address).some(({ metadata }) => metadata.uid === holder.uid);
      if (holder.kind === Service.kind && !isTold) {
        return [`${address} in ${namespace} is held for Service ${holder.name}, which does not have it`];
      }
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
