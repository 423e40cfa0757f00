import { Address } from '../../api/address.ts';
import { Deployment } from '../../api/apps/workloads.ts';
import { Namespace } from '../../api/core/namespace.ts';
import { Node } from '../../api/core/node.ts';
import { Pod } from '../../api/core/pod.ts';
import { Service } from '../../api/core/service.ts';
import type { Kind } from '../../api/kind.ts';
import { IPAddressPool } from '../../api/metallb.io/ip-address-pool.ts';
import { L2Advertisement } from '../../api/metallb.io/l2-advertisement.ts';
import { AddressBlock } from '../../api/netloom.io/address-block.ts';
import { AddressClaim } from '../../api/netloom.io/address-claim.ts';
import { DNSData } from '../../api/network.openstack.org/dnsdata.ts';
import { DNSMasq } from '../../api/network.openstack.org/dnsmasq.ts';
import { IPSet } from '../../api/network.openstack.org/ipset.ts';
import { NetConfig } from '../../api/network.openstack.org/netconfig.ts';
import { Reservation } from '../../api/network.openstack.org/reservation.ts';
import type { ApiObject } from '../../api/object.ts';
import { UNDERLAY } from '../../ipam/environment.ts';
import type { Event } from '../../runtime/builtin.ts';
import { type Asker, claimAsker, ipSetAsker, ipSetNeighbour, promisedTo } from './asker.ts';
import { dnsDataFindings } from './dns-findings.ts';
import type { Finding } from './finding.ts';
import { type HolderName, nameOf } from './holder.ts';
import { blockFindings, netConfigFindings, reservationFindings } from './other-findings.ts';
import { rangesOf } from './place.ts';
import { advertisementFindings, poolFindings } from './pool-findings.ts';
import type { Reader } from './reader.ts';
import { requestFindings, subnetsInQuestion } from './request-findings.ts';
import { holdingsOf } from './request-holders.ts';
import { isServed, serviceFindings } from './service-findings.ts';
import { selectsNamespaces } from './service-pool-findings.ts';
import { requestedBy } from './service-request-findings.ts';
import { subnetsOf } from './subnets.ts';
import { aboutBackends, aboutDnsMasq, aboutNode, aboutPod, aboutWorkload } from './workloads.ts';

export interface Surroundings {
  readonly reader: Reader;
  /** About the object, the newest first. */
  readonly events: readonly Event[];
  readonly now: number;
}

export interface Special {
  readonly special: readonly Finding[];
  readonly served?: boolean | undefined;
}

/** Reads what is needed to know more of an object of certain kinds than any object says of itself. */
export async function special(kind: Kind, object: ApiObject, surroundings: Surroundings): Promise<Special> {
  if (isA(IPSet, kind, object)) {
    return { special: await aboutAsker(await askerOf(object, surroundings.reader), surroundings) };
  }
  if (isA(AddressClaim, kind, object)) return { special: await aboutAsker(claimAsker(object), surroundings) };
  if (isA(NetConfig, kind, object)) return { special: await aboutNetConfig(object, surroundings) };
  if (isA(Reservation, kind, object)) return { special: await aboutReservation(object, surroundings) };
  if (isA(AddressBlock, kind, object)) {
    const holders = object.spec.holdings.map(({ holder }) => nameOf(holder, object.metadata.namespace ?? ''));
    return { special: blockFindings({ block: object, holders: await lookAt(holders, surroundings.reader) }) };
  }
  if (isA(Service, kind, object)) {
    const [given, backends] = await Promise.all([
      aboutService(object, surroundings),
      aboutBackends(object, surroundings),
    ]);
    const served = backends.length > 0 ? false : isServed(object);
    return { special: [...given, ...backends], served };
  }
  if (isA(IPAddressPool, kind, object)) return { special: await aboutPool(object, surroundings) };
  if (isA(L2Advertisement, kind, object)) {
    const { namespace = '' } = object.metadata;
    const pools = await surroundings.reader.list(IPAddressPool, { namespace });
    return { special: advertisementFindings({ advertisement: object, pools }) };
  }
  if (isA(DNSData, kind, object)) {
    const dnsMasqs = await surroundings.reader.list(DNSMasq, { namespace: object.metadata.namespace ?? '' });
    return { special: dnsDataFindings({ dnsData: object, dnsMasqs }) };
  }
  if (isA(DNSMasq, kind, object)) return aboutDnsMasq(object, surroundings);
  if (isA(Pod, kind, object)) return aboutPod(object, surroundings);
  if (isA(Node, kind, object)) return aboutNode(object, surroundings);
  if (kind.group === Deployment.group && WORKLOADS.has(kind.kind)) return aboutWorkload(object, surroundings);
  return { special: [] };
}

/** What an IPSet says that it has, it has. What is only promised to it somebody else may have. */
async function askerOf(ipSet: IPSet, reader: Reader): Promise<Asker> {
  const { namespace = '', name, uid } = ipSet.metadata;
  const reservation = await reader.see(Reservation, namespace, name);
  const said = new Set((ipSet.status?.reservations ?? []).map(({ address }) => address));
  const unsaid = promisedTo(ipSet, reservation).flatMap(({ address }) =>
    said.has(address) ? [] : (Address.parse(address) ?? []),
  );
  const blocks = await reader.blocksAt(unsaid, namespace);
  const others = blocks.flatMap(({ spec }) =>
    spec.space === UNDERLAY ? spec.holdings.filter(({ holder }) => holder.uid !== uid) : [],
  );
  const taken = new Set(others.map(({ address }) => address));
  return ipSetAsker(ipSet, reservation, (text) => taken.has(`${Address.parse(text)}`));
}

/** Of somebody who asks for addresses: what it lacks, who has that, and what those wait for. */
async function aboutAsker(asker: Asker, { reader, now }: Surroundings): Promise<Finding[]> {
  const { namespace = '' } = asker.object.metadata;
  const [netConfigs, pools] = await Promise.all([reader.list(NetConfig, { namespace }), reader.list(IPAddressPool)]);
  const keptOut = rangesOf(pools);
  const subnets = subnetsInQuestion({ asker, netConfigs, keptOut });
  const prefixes = subnets.map(({ prefix }) => prefix);
  const [blocks, neighbours] = await Promise.all([
    reader.blocksUnder(prefixes, namespace),
    subnets.length === 0 ? [] : neighboursIn(namespace, reader),
  ]);
  const fixed = asker.lacking.flatMap(({ fixedIP = '' }) => Address.parse(fixedIP) ?? []);
  const known = new Set(neighbours.map(({ object }) => object.metadata.uid));
  // Those in the way come first; of the others it is worth knowing who is about to go.
  const inTheWay = subnets
    .flatMap((subnet) => holdingsOf(subnet, blocks))
    .filter(({ holder, coolsUntil }) => coolsUntil === undefined && !known.has(holder.uid))
    .map((holding) => ({ ...holding, isFirst: fixed.some((address) => address.equals(holding.address)) }))
    .sort((a, b) => Number(b.isFirst) - Number(a.isFirst))
    .map(({ holder }) => holder);
  const holders = await lookAt(inTheWay, reader);
  return requestFindings({ asker, netConfigs, keptOut, blocks, neighbours, holders, now });
}

async function neighboursIn(namespace: string, reader: Reader): Promise<Asker[]> {
  const [ipSets, claims] = await Promise.all([
    reader.some(IPSet, namespace, MOST_NEIGHBOURS),
    reader.some(AddressClaim, namespace, MOST_NEIGHBOURS),
  ]);
  return [...ipSets.map(ipSetNeighbour), ...claims.map(claimAsker)];
}

async function aboutNetConfig(netConfig: NetConfig, { reader }: Surroundings): Promise<Finding[]> {
  const { namespace = '' } = netConfig.metadata;
  const prefixes = subnetsOf(netConfig).map(({ prefix }) => prefix);
  const [netConfigs, pools, blocks] = await Promise.all([
    reader.list(NetConfig, { namespace }),
    reader.list(IPAddressPool),
    reader.blocksUnder(prefixes, namespace),
  ]);
  return netConfigFindings({ netConfig, netConfigs, blocks, keptOut: rangesOf(pools) });
}

async function aboutReservation(reservation: Reservation, { reader }: Surroundings): Promise<Finding[]> {
  const { namespace = '', name } = reservation.metadata;
  const addresses = Object.values(reservation.spec.reservation).flatMap(({ address }) => Address.parse(address) ?? []);
  const [ipSet, blocks] = await Promise.all([
    reader.see(IPSet, namespace, name),
    reader.blocksAt(addresses, namespace),
  ]);
  return reservationFindings({ reservation, ipSet, blocks });
}

async function aboutService(service: Service, { reader, events }: Surroundings): Promise<Finding[]> {
  if (isServed(service) === undefined) return [];
  const addresses = requestedBy(service).flatMap((text) => Address.parse(text) ?? []);
  const [pools, blocks] = await Promise.all([reader.list(IPAddressPool), reader.blocksAt(addresses)]);
  // Not everybody may see namespaces, and few pools ask for their labels.
  const namespace = pools.some(selectsNamespaces)
    ? await reader.see(Namespace, '', service.metadata.namespace ?? '')
    : undefined;
  const namespaceLabels = namespace === undefined ? undefined : (namespace.metadata.labels ?? {});
  const warning = events.find(({ type }) => type === 'Warning')?.message;
  return serviceFindings({ service, pools, blocks, namespaceLabels, warning });
}

async function aboutPool(pool: IPAddressPool, { reader }: Surroundings): Promise<Finding[]> {
  const { namespace = '' } = pool.metadata;
  const [services, advertisements] = await Promise.all([
    reader.list(Service),
    reader.list(L2Advertisement, { namespace }),
  ]);
  return poolFindings({ pool, services, advertisements });
}

/** The holders that these names stand for. Not more than a person could read about. */
async function lookAt(holders: readonly HolderName[], reader: Reader): Promise<Map<string, ApiObject | 'gone'>> {
  const distinct = [...new Map(holders.map((holder) => [holder.uid, holder])).values()].slice(0, MOST_HOLDERS);
  const found = await Promise.all(distinct.map(async (holder) => [holder.uid, await reader.holder(holder)] as const));
  return new Map(found.flatMap(([uid, object]) => (object === undefined ? [] : [[uid, object]])));
}

/** That an object of a kind has the fields of that kind is the server's promise. */
function isA<T extends ApiObject>(wanted: Kind<T>, { group, kind }: Kind, _object: ApiObject): _object is T {
  return wanted.group === group && wanted.kind === kind;
}

/** Kinds of `apps` that keep pods. */
const WORKLOADS: ReadonlySet<string> = new Set(['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet']);

const MOST_NEIGHBOURS = 500;
const MOST_HOLDERS = 64;
