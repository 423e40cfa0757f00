import { Address } from '../../api/address.ts';
import type { NamedRange } from '../../api/metallb.io/address-ranges.ts';
import type { AddressBlock } from '../../api/netloom.io/address-block.ts';
import type { NetConfig } from '../../api/network.openstack.org/netconfig.ts';
import { sameName } from '../../api/network.openstack.org/shapes.ts';
import type { ApiObject } from '../../api/object.ts';
import { Prefix } from '../../api/prefix.ts';
import type { Asker } from './asker.ts';
import { called, type Finding, named, note, problem, readyOf } from './finding.ts';
import { deletion, START } from './general.ts';
import { type HolderName, nameOf } from './holder.ts';
import type { Subnet } from './subnets.ts';

/** What there is to be known about somebody who asks, and about those who have what he waits for. */
export interface AskerFacts {
  readonly asker: Asker;
  /** Of its namespace. */
  readonly netConfigs: readonly NetConfig[];
  /** Those that may hold something of the subnets of what it lacks. */
  readonly blocks: readonly AddressBlock[];
  /** What pools give to Services. */
  readonly keptOut: readonly NamedRange[];
  /** Others who ask in the namespace; perhaps not all of them. */
  readonly neighbours: readonly Asker[];
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
  blocks
    // Of many subnets and many blocks most have nothing to do with each other.
    .filter(({ spec }) => Prefix.parse(spec.prefix)?.overlaps(prefix) === true)
    .flatMap(({ metadata, spec }) =>
      spec.holdings.flatMap(({ address: text, holder, since, coolsUntil }): Holding[] => {
        const address = Address.parse(text);
        if (address === undefined || !prefix.contains(address)) return [];
        return [{ address, holder: nameOf(holder, metadata.namespace ?? ''), since, coolsUntil }];
      }),
    );

/** What there is to say about somebody who has an address: a problem when it is neither there nor gone. */
export function holderFindings({ holder, coolsUntil }: Holding, { neighbours, holders, now }: AskerFacts): Finding[] {
  if (coolsUntil !== undefined) return [];
  const neighbour = neighbours.find(({ object }) => object.metadata.uid === holder.uid)?.object;
  const object = neighbour ?? holders.get(holder.uid);
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
export function queueBefore({ network, definition }: Subnet, { asker, neighbours }: AskerFacts): Finding[] {
  const { uid, creationTimestamp } = asker.object.metadata;
  const older = neighbours.filter(
    ({ object: { metadata }, lacking }) =>
      metadata.uid !== uid &&
      metadata.deletionTimestamp === undefined &&
      metadata.creationTimestamp < creationTimestamp &&
      lacking.some(
        ({ name, subnetName, fixedIP }) =>
          fixedIP === undefined && sameName(name, network.name) && sameName(subnetName, definition.name),
      ),
  );
  if (older.length === 0) return [];
  const names = older.slice(0, MOST_SHOWN).map(({ object }) => called(named(object)));
  const more = older.length > names.length ? ', …' : '';
  const who = older.length === 1 ? 'an older one waits' : `${older.length} older ones wait`;
  return [note(named(asker.object), `${who} for the same and will be served first: ${names.join(', ')}${more}`)];
}

export const MOST_SHOWN = 5;
