import { Address, compareAddresses } from '../../api/address.ts';
import type { NamedRange } from '../../api/metallb.io/address-ranges.ts';
import type { NetworkRequest } from '../../api/network.openstack.org/ipset.ts';
import { NetConfig } from '../../api/network.openstack.org/netconfig.ts';
import { sameName } from '../../api/network.openstack.org/shapes.ts';
import type { AddressRange } from '../../api/prefix.ts';
import { byAge } from '../../ipam/environment.ts';
import { Networks } from '../../ipam/networks.ts';
import { suggestion } from '../nearest.ts';
import type { Asker, Lack } from './asker.ts';
import { called, type Finding, type Named, named, note, problem, readyOf } from './finding.ts';
import { PATIENCE, START } from './general.ts';
import {
  type AskerFacts,
  type Holding,
  holderFindings,
  holdingsOf,
  MOST_SHOWN,
  queueBefore,
} from './request-holders.ts';
import { findSubnet, type Subnet } from './subnets.ts';

/** The subnets that matter for what it lacks. */
export function subnetsInQuestion({
  asker,
  netConfigs,
  keptOut,
}: Pick<AskerFacts, 'asker' | 'netConfigs' | 'keptOut'>): Subnet[] {
  const netConfig = theOne(netConfigs);
  if (netConfig === undefined) return [];
  return asker.lacking.flatMap(
    ({ name, subnetName }) => findSubnet(netConfig, { network: name, subnet: subnetName }, keptOut) ?? [],
  );
}

export function requestFindings(facts: AskerFacts): Finding[] {
  const { asker, netConfigs } = facts;
  const { namespace = '', deletionTimestamp } = asker.object.metadata;
  // What it holds it keeps until it is gone, and it gets nothing more.
  if (deletionTimestamp !== undefined) return [];
  const netConfig = theOne(netConfigs);
  if (netConfig === undefined) {
    return [
      problem(
        { kind: NetConfig.kind, namespace, name: '' },
        `there is no NetConfig in namespace ${namespace}, so nobody knows its networks`,
        { remedies: [`apply a NetConfig to namespace ${namespace}: netloom apply -f FILE -n ${namespace}`] },
      ),
    ];
  }
  const findings = asker.lacking.map((request) => requestFinding(request, netConfig, facts));
  if (netConfigs.length > 1) {
    const names = netConfigs.map(({ metadata }) => metadata.name).join(', ');
    findings.push(
      note(named(netConfig), `there are several NetConfigs in namespace ${namespace} (${names}); the oldest counts`),
    );
  }
  return findings;
}

function requestFinding(request: Lack, netConfig: NetConfig, facts: AskerFacts): Finding {
  const { name, subnetName, fixedIP, isPromised = false } = request;
  const subnet = findSubnet(netConfig, { network: name, subnet: subnetName }, facts.keptOut);
  if (subnet === undefined) return unknownSubnet(request, netConfig, facts.asker);
  if (fixedIP === undefined) return anyAddress(subnet, netConfig, facts);
  return isPromised ? promisedAddress(fixedIP, subnet, facts) : fixedAddress(fixedIP, subnet, netConfig, facts);
}

function unknownSubnet({ name, subnetName }: NetworkRequest, netConfig: NetConfig, asker: Asker): Finding {
  const about = named(netConfig);
  const why = String(new Networks(netConfig).find(name, subnetName));
  const network = netConfig.spec.networks.find((each) => sameName(each.name, name));
  if (network === undefined) {
    const names = netConfig.spec.networks.map((each) => each.name);
    return problem(about, `${why}.${suggestion(name, names)}`, {
      remedies: [
        `add network ${name} to ${called(about)}`,
        `${anew(asker)} for one of the networks ${names.join(', ')}`,
      ],
    });
  }
  const names = network.subnets.map((each) => each.name);
  if (names.some((each) => sameName(each, subnetName))) {
    return problem(about, `subnet ${subnetName} of network ${name} cannot be used: ${why}`, {
      remedies: [`put that right in ${called(about)}`],
    });
  }
  return problem(about, `${why}.${suggestion(subnetName, names)}`, {
    remedies: [
      `add subnet ${subnetName} to network ${network.name} in ${called(about)}`,
      `${anew(asker)} for one of its subnets ${names.join(', ')}`,
    ],
  });
}

function fixedAddress(fixedIP: string, subnet: Subnet, netConfig: NetConfig, facts: AskerFacts): Finding {
  const about = named(netConfig);
  const where = whereOf(subnet);
  const held = holdingsOf(subnet, facts.blocks);
  const address = Address.parse(fixedIP);
  const { byNumber, object } = facts.asker;
  const other = `${anew(facts.asker)} with another ${byNumber}${exampleOf(subnet, held)}, or with none`;
  if (address === undefined || !subnet.prefix.contains(address)) {
    return problem(about, `${byNumber} ${fixedIP} is not an address of ${where}`, { remedies: [other] });
  }
  if (subnet.excludes(address)) {
    return problem(about, `${byNumber} ${address} is in excludeAddresses of ${where}`, {
      remedies: [
        `take ${address} out of excludeAddresses of subnet ${subnet.definition.name} in ${called(about)}`,
        other,
      ],
    });
  }
  const holding = held.find((each) => each.address.equals(address));
  if (holding === undefined) return notYetGiven(`${address} of ${where} is free`, facts);
  if (holding.holder.uid === object.metadata.uid) return notYetGiven(`${address} of ${where} is its own`, facts);
  if (holding.coolsUntil !== undefined) {
    const says = `${byNumber} ${address} of ${where} was given back by ${called(holding.holder)} and cools down until ${holding.coolsUntil}`;
    return problem(about, says, { remedies: [`wait until ${holding.coolsUntil}: it is served then`, other] });
  }
  return heldByAnother(`${byNumber} ${address} of ${where} is`, holding, other, facts);
}

/** What was promised to it somebody else has: two were promised the same, or somebody wrote that by hand. */
function promisedAddress(text: string, subnet: Subnet, facts: AskerFacts): Finding {
  const { object } = facts.asker;
  const where = whereOf(subnet);
  const promised = Address.parse(text);
  const holding = holdingsOf(subnet, facts.blocks).find(({ address }) => promised?.equals(address));
  if (holding === undefined || holding.holder.uid === object.metadata.uid) {
    return notYetGiven(`${text} of ${where} is promised to it`, facts);
  }
  const another = `${anew(facts.asker)}, for another address`;
  return heldByAnother(`${text} of ${where} is promised to ${called(named(object))}, but`, holding, another, facts);
}

function heldByAnother(what: string, holding: Holding, otherwise: string, facts: AskerFacts): Finding {
  const { holder, since } = holding;
  const because = holderFindings(holding, facts);
  const remedies = because.some(isProblem) ? [otherwise] : [otherwise, deleteOf(holder)];
  return problem(holder, `${what} held by ${called(holder)} since ${since}`, { because, remedies });
}

function anyAddress(subnet: Subnet, netConfig: NetConfig, facts: AskerFacts): Finding {
  const about = named(netConfig);
  const where = whereOf(subnet);
  const at = `of subnet ${subnet.definition.name} in ${called(about)}`;
  if (subnet.pool.ranges.length === 0) {
    return problem(about, `${where} has no allocationRanges`, {
      remedies: [
        `add allocationRanges to subnet ${subnet.definition.name} in ${called(about)}`,
        `${anew(facts.asker)} with a certain ${facts.asker.byNumber}`,
      ],
    });
  }
  const held = holdingsOf(subnet, facts.blocks);
  const addresses = held.map(({ address }) => address);
  const own = held.find(({ holder }) => holder.uid === facts.asker.object.metadata.uid);
  if (own !== undefined) return notYetGiven(`${own.address} of ${where} is its own`, facts);
  const { total, withheld, free, next } = subnet.capacity(addresses);
  if (next !== undefined)
    return freeButNotGiven(`${free} of ${total} addresses of ${subnet.pool} in ${where} are free`, subnet, facts);
  const inRanges = held.filter(({ address }) => subnet.pool.contains(address));
  const cooling = inRanges.flatMap(({ coolsUntil }) => coolsUntil ?? []).sort();
  const spare = subnet.capacityOfAll(addresses).free;
  const leaving = inRanges.map((holding) => holderFindings(holding, facts).filter(isProblem));
  const staying = inRanges.filter(({ coolsUntil }, i) => coolsUntil === undefined && leaving[i]?.length === 0);
  const remedies = [
    ...cooling.slice(0, 1).map((soonest) => `wait until ${soonest}: an address has cooled down then`),
    ...(spare > 0n ? [`widen allocationRanges ${at}: ${spare} more addresses of ${subnet.prefix} are free`] : []),
    ...(spare === 0n
      ? [`add another subnet to network ${subnet.network.name} in ${called(about)}, and ${anew(facts.asker)} for it`]
      : []),
    ...excludedInRanges(subnet)
      .map((text) => `take ${text} out of excludeAddresses ${at}`)
      .slice(0, 1),
    ...staying
      .slice(0, 1)
      .map(({ holder }) => `${deleteOf(holder)}, or another holder there (netloom who ${subnet.prefix})`),
  ];
  const because = [
    ...leaving.flat().slice(0, MOST_SHOWN),
    ...poolsWithin(subnet, facts.keptOut).map((text) => note(about, text)),
    ...queueBefore(subnet, facts),
  ];
  if (total === 0n) {
    const says = `${where} has nothing to give: all of ${subnet.pool} is excluded or not given unasked`;
    return problem(about, says, { because, remedies });
  }
  const but =
    withheld === 0n ? '' : `; ${withheld} more ${withheld === 1n ? 'is' : 'are'} excluded or not given unasked`;
  const some = cooling.length === 0 ? '' : ` or cool down (${cooling.length}, the first until ${cooling[0]})`;
  const all = total === 1n ? `the one address of ${subnet.pool} is` : `all ${total} addresses of ${subnet.pool} are`;
  return problem(about, `${where} is full: ${all} held${some}${but}`, { because, remedies });
}

/** What of its ranges is for Services. */
const poolsWithin = ({ pool }: Subnet, keptOut: readonly NamedRange[]): string[] =>
  keptOut
    .filter((range) => pool.ranges.some((each) => overlapping(range, each)))
    .map(({ text, pool: name }) => `${text} of pool ${name} is for Services`);

/** Something is there for it, so its controller has yet to act; or somebody else is served first. */
function freeButNotGiven(says: string, subnet: Subnet, facts: AskerFacts): Finding {
  const before = queueBefore(subnet, facts);
  const finding = notYetGiven(says, facts);
  return { ...finding, because: [...before, ...finding.because] };
}

function notYetGiven(says: string, { asker: { object }, now }: AskerFacts): Finding {
  const about = named(object);
  const ready = readyOf(object);
  // That nobody has looked at it at all is said once, not for every network.
  if (ready === undefined) return note(about, says);
  if (now - Date.parse(ready.lastTransitionTime) < PATIENCE) return problem(about, `${says}: it is about to be served`);
  return problem(about, `${says}, but it is not served: no controller seems to act`, { remedies: [START] });
}

const theOne = (netConfigs: readonly NetConfig[]): NetConfig | undefined => [...netConfigs].sort(byAge)[0];

const whereOf = ({ network, definition, prefix }: Subnet): string =>
  `subnet ${definition.name} (${prefix}) of network ${network.name}`;

/** What is asked for cannot be changed, only added to. */
const anew = ({ object }: Asker): string => `delete ${called(named(object))} and create it anew`;

function exampleOf(subnet: Subnet, held: readonly Holding[]): string {
  const addresses = held.map(({ address }) => address);
  const free = subnet.capacity(addresses).next ?? subnet.capacityOfAll(addresses).next;
  return free === undefined ? '' : ` (${free} is free)`;
}

const excludedInRanges = (subnet: Subnet): string[] =>
  (subnet.definition.excludeAddresses ?? []).filter((text) => {
    const value = Address.parse(text)?.value;
    return (
      value !== undefined && subnet.pool.ranges.some(({ first, last }) => first.value <= value && value <= last.value)
    );
  });

const deleteOf = (holder: Named): string =>
  `delete ${called(holder)}: netloom delete ${holder.kind.toLowerCase()} ${holder.name} -n ${holder.namespace}`;

const overlapping = (a: AddressRange, b: AddressRange): boolean =>
  compareAddresses(a.first, b.last) <= 0 && compareAddresses(b.first, a.last) <= 0;

const isProblem = ({ severity }: Finding): boolean => severity === 'problem';
