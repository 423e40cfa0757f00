import { Address } from '../../api/address.ts';
import type { AddressBlock } from '../../api/netloom.io/address-block.ts';
import type { IPSet } from '../../api/network.openstack.org/ipset.ts';
import type { NetConfig } from '../../api/network.openstack.org/netconfig.ts';
import type { Reservation } from '../../api/network.openstack.org/reservation.ts';
import { sameName } from '../../api/network.openstack.org/shapes.ts';
import type { ApiObject } from '../../api/object.ts';
import { called, type Finding, named, note, problem, readyOf } from './finding.ts';
import { deletion, START } from './general.ts';
import { type HolderName, nameOf } from './holder.ts';
import type { Subnet } from './subnets.ts';

/** What there is to be known about an IPSet and about those who have what it waits for. */
export interface IpSetFacts {
  readonly ipSet: IPSet;
  readonly reservation: Reservation | undefined;
  /** Of its namespace. */
  readonly netConfigs: readonly NetConfig[];
  /** Those that may hold something of the subnets of what it lacks. */
  readonly blocks: readonly AddressBlock[];
  /** Other IPSets of the namespace; perhaps not all of them. */
  readonly neighbours: readonly IPSet[];
  /** Other holders, by UID, as far as somebody looked. */
  readonly holders: ReadonlyMap<string, ApiObject | 'gone'>;
  readonly now: number;
}

export interface Holding {
  readonly address: Address;
  readonly holder: HolderName;
  readonly since: string;
  readonly coolsUntil: string | undefined;
}

/** What is held of a subnet. */
export const holdingsOf = ({ prefix }: Subnet, blocks: readonly AddressBlock[]): Holding[] =>
  blocks.flatMap(({ metadata, spec }) =>
    spec.holdings.flatMap(({ address: text, holder, since, coolsUntil }): Holding[] => {
      const address = Address.parse(text);
      if (address === undefined || !prefix.contains(address)) return [];
      return [{ address, holder: nameOf(holder, metadata.namespace ?? ''), since, coolsUntil }];
    }),
  );

/** What there is to say about somebody who has an address: a problem when it is neither there nor gone. */
export function holderFindings({ holder, coolsUntil }: Holding, { neighbours, holders, now }: IpSetFacts): Finding[] {
  if (coolsUntil !== undefined) return [];
  const object = neighbours.find(({ metadata }) => metadata.uid === holder.uid) ?? holders.get(holder.uid);
  if (object === undefined) return [];
  if (object === 'gone') {
    const says = `${called(holder)} does not exist any more; its address is given back about a minute after it went`;
    return [problem(holder, says, { remedies: [`wait for a minute; if nothing happens then, ${START}`] })];
  }
  const going = deletion({ object, now });
  if (going.length > 0) return going;
  const isReady = readyOf(object)?.status === 'True';
  return [note(named(object), `${called(holder)} ${isReady ? 'is Ready and uses it' : 'exists'}`)];
}

/** Who asks for the same and will be served first. */
export function queueBefore({ network, definition }: Subnet, { ipSet, neighbours }: IpSetFacts): Finding[] {
  const lacks = ({ spec, status }: IPSet): boolean =>
    spec.networks.some(
      ({ name, subnetName, fixedIP }) =>
        fixedIP === undefined &&
        sameName(name, network.name) &&
        sameName(subnetName, definition.name) &&
        !(status?.reservations ?? []).some((has) => sameName(has.network, name) && sameName(has.subnet, subnetName)),
    );
  const older = neighbours.filter(
    (other) =>
      other.metadata.uid !== ipSet.metadata.uid &&
      other.metadata.deletionTimestamp === undefined &&
      other.metadata.creationTimestamp < ipSet.metadata.creationTimestamp &&
      lacks(other),
  );
  if (older.length === 0) return [];
  const names = older.slice(0, MOST_SHOWN).map(({ metadata }) => metadata.name);
  const more = older.length > names.length ? ', …' : '';
  const who = older.length === 1 ? 'one older IPSet waits' : `${older.length} older IPSets wait`;
  return [note(named(ipSet), `${who} for the same and will be served first: ${names.join(', ')}${more}`)];
}

export const MOST_SHOWN = 5;
