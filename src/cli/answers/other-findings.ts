import { Address } from '../../api/address.ts';
import type { AddressBlock } from '../../api/netloom.io/address-block.ts';
import type { IPSet } from '../../api/network.openstack.org/ipset.ts';
import { netConfigFaults } from '../../api/network.openstack.org/netconfig.faults.ts';
import type { NetConfig } from '../../api/network.openstack.org/netconfig.ts';
import type { Reservation } from '../../api/network.openstack.org/reservation.ts';
import type { ApiObject } from '../../api/object.ts';
import type { AddressRange } from '../../api/prefix.ts';
import { byAge } from '../../ipam/environment.ts';
import { isFor } from '../../ipam/reservation.ts';
import { called, type Finding, named, note, problem } from './finding.ts';
import { START } from './general.ts';
import { nameOf } from './holder.ts';
import { holdingsOf, MOST_SHOWN } from './request-holders.ts';
import { subnetsOf } from './subnets.ts';

export interface NetConfigFacts {
  readonly netConfig: NetConfig;
  /** All of its namespace. */
  readonly netConfigs: readonly NetConfig[];
  readonly blocks: readonly AddressBlock[];
  /** What pools give to Services. */
  readonly keptOut: readonly AddressRange[];
}

/** What is wrong with a NetConfig, and how full its subnets are. */
export function netConfigFindings({ netConfig, netConfigs, blocks, keptOut }: NetConfigFacts): Finding[] {
  const about = named(netConfig);
  const faults = netConfigFaults(netConfig.spec).slice(0, MOST_FAULTS);
  const [counts] = [...netConfigs].sort(byAge);
  return [
    ...faults.map(({ field, detail }) => problem(about, `${field}: ${detail}`, { remedies: [`correct ${field}`] })),
    ...(counts === undefined || counts.metadata.uid === netConfig.metadata.uid
      ? []
      : [
          problem(about, `${called(named(counts))} is older, and only the oldest of a namespace counts`, {
            remedies: [`move its networks to ${called(named(counts))}, and delete ${called(about)}`],
          }),
        ]),
    ...subnetsOf(netConfig, keptOut).map((subnet) => {
      const { network, definition, prefix, pool } = subnet;
      const where = `network ${network.name}, subnet ${definition.name} (${prefix})`;
      if (pool.ranges.length === 0)
        return note(about, `${where}: no allocationRanges, so addresses are given as fixedIP only`);
      const holdings = holdingsOf(subnet, blocks);
      const { total, held, free, next } = subnet.capacity(holdings.map(({ address }) => address));
      const cooling = holdings.filter(
        ({ address, coolsUntil }) => coolsUntil !== undefined && subnet.pool.gives(address),
      ).length;
      const cool = cooling === 0 ? '' : `${cooling} cool down, `;
      const says = `${where}: ${held - cooling} of ${total} addresses of ${pool} are held, ${cool}${free} are free`;
      return note(about, next === undefined ? says : `${says}, the next one is ${next}`);
    }),
  ];
}

export interface ReservationFacts {
  readonly reservation: Reservation;
  /** The IPSet of its name. */
  readonly ipSet: IPSet | undefined;
  /** Those that say who holds its addresses. */
  readonly blocks: readonly AddressBlock[];
}

/** Whether what a Reservation says is what the ledger says. */
export function reservationFindings({ reservation, ipSet, blocks }: ReservationFacts): Finding[] {
  const about = named(reservation);
  const owner = ipSet !== undefined && isFor(reservation, ipSet) ? ipSet : undefined;
  const entitled = [reservation.metadata.uid, owner?.metadata.uid];
  const holdings = blocks.flatMap(({ metadata, spec }) =>
    spec.holdings.map(({ address, holder }) => ({ address, holder: nameOf(holder, metadata.namespace ?? '') })),
  );
  const entries = Object.values(reservation.spec.reservation).flatMap(({ address: text, network }): Finding[] => {
    const address = Address.parse(text)?.toString();
    if (address === undefined) return [problem(about, `"${text}" on network ${network} is not an address`)];
    const holding = holdings.find((each) => each.address === address);
    if (holding === undefined) {
      const says = `${address} on network ${network} is on record for nobody: the address controller has not taken it in`;
      return [problem(about, says, { remedies: [START] })];
    }
    if (entitled.includes(holding.holder.uid)) return [];
    return [
      problem(holding.holder, `${address} on network ${network} is held by ${called(holding.holder)}`, {
        remedies: [`delete the one of ${called(holding.holder)} and ${called(about)} that does not use ${address}`],
      }),
    ];
  });
  if (owner !== undefined) return entries;
  const says = `there is no IPSet that ${called(about)} was made for; what it reserves stays reserved until it is deleted`;
  return [...entries, note(about, says)];
}

export interface BlockFacts {
  readonly block: AddressBlock;
  /** By UID, as far as somebody looked. */
  readonly holders: ReadonlyMap<string, ApiObject | 'gone'>;
}

/** Who holds something in a block, and whether they are still there. */
export function blockFindings({ block, holders }: BlockFacts): Finding[] {
  const about = named(block);
  const { holdings, prefix } = block.spec;
  if (holdings.length === 0)
    return [note(about, `nobody holds anything of ${prefix}: the block goes after about a minute`)];
  const held = holdings.filter(({ coolsUntil }) => coolsUntil === undefined);
  const gone = held.filter(({ holder }) => holders.get(holder.uid) === 'gone');
  const cool = holdings.length > held.length ? `, ${holdings.length - held.length} cool down` : '';
  const names = gone.slice(0, MOST_SHOWN).map(({ address, holder }) => `${address} of ${holder.kind} ${holder.name}`);
  const more = gone.length > names.length ? ', …' : '';
  return [
    note(
      about,
      `${held.length} of the 256 addresses of ${prefix} ${held.length === 1 ? 'is' : 'are'} held${cool} (netloom who ${prefix})`,
    ),
    ...(gone.length === 0
      ? []
      : [
          problem(about, `these are held by objects that do not exist any more: ${names.join(', ')}${more}`, {
            remedies: [`wait for a minute; if nothing happens then, ${START}`],
          }),
        ]),
  ];
}

const MOST_FAULTS = 10;
