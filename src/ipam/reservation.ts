import { isDeepStrictEqual } from 'node:util';
import { Address } from '../api/address.ts';
import { apiVersionOf } from '../api/kind.ts';
import { IPSet, type NetworkRequest } from '../api/network.openstack.org/ipset.ts';
import type { Reservation, ReservationEntry } from '../api/network.openstack.org/reservation.ts';
import { folded, sameName } from '../api/network.openstack.org/shapes.ts';
import { labelValueFaults, qualifiedNameFaults } from '../api/syntax.ts';
import type { Draft } from '../runtime/draft.ts';
import { ownedBy } from '../runtime/owner.ts';
import type { Subnet } from './networks.ts';

/** On an IPSet and on its Reservation: both stay until the addresses are given back. */
export const FINALIZER = { name: 'openstack.org/ipset', former: ['IPSet'] };
export const FINALIZERS: readonly string[] = [FINALIZER.name, ...FINALIZER.former];

/** Whether the Reservation was made for exactly this object, and not for an earlier one of its name. */
export function isFor({ spec, metadata }: Reservation, { metadata: { uid } }: IPSet): boolean {
  return spec.ipSetRef.uid === uid || (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);
}

/** The addresses that a Reservation names, as we write them: others may spell them otherwise. */
export const addressesIn = ({ spec }: Reservation): Set<string> =>
  new Set(Object.values(spec.reservation).flatMap(({ address }) => Address.parse(address)?.toString() ?? []));

/** An address that an IPSet has, and where. */
export interface Reserved {
  readonly subnet: Subnet;
  readonly address: Address;
}

/** What a Reservation is about: what its IPSet has, and the requests of which nobody can say now what it has there. */
interface Said {
  readonly reserved: readonly Reserved[];
  readonly undecided: readonly NetworkRequest[];
}

export const isAbout = (
  { name, subnetName }: NetworkRequest,
  { network, subnet }: Pick<ReservationEntry, 'network' | 'subnet'>,
): boolean => sameName(name, network) && sameName(subnetName, subnet);

/** What the Reservation of an IPSet says. `before`: the object of that name that there is already. */
export function reservationFor(ipSet: IPSet, decided: Said, before: Reservation | undefined): Draft<Reservation> {
  const { name, namespace = '', uid } = ipSet.metadata;
  const own = before !== undefined && isFor(before, ipSet) ? before : undefined;
  const reservation = entriesOf(ipSet, decided, own);
  const finalizers = (before?.metadata.finalizers ?? []).filter((finalizer) => !isOurs(finalizer));
  const others = (before?.metadata.ownerReferences ?? []).filter(({ controller }) => controller !== true);
  return {
    metadata: {
      name,
      namespace,
      labels: { ...labelsOf(reservation), ...before?.metadata.labels },
      ...(before?.metadata.annotations === undefined ? {} : { annotations: before.metadata.annotations }),
      finalizers: [...finalizers, FINALIZER.name],
      ownerReferences: [...others, ownedBy(ipSet)],
    },
    spec: { ipSetRef: { apiVersion: apiVersionOf(IPSet), kind: IPSet.kind, namespace, name, uid }, reservation },
  };
}

/** Whether writing the draft would change nothing. */
export const isWritten = (draft: Draft<Reservation>, found: Reservation): boolean =>
  isDeepStrictEqual(said(draft), said(found));

const said = ({ metadata: { labels = {}, finalizers = [], ownerReferences = [] }, spec }: Draft<Reservation>) => ({
  labels,
  finalizers,
  ownerReferences,
  spec,
});

/**
 * An entry keeps its key. The first address on a network is found under the network's name, a second one, of the other family,
 * under `<network>.<subnet>`.
 */
function entriesOf(
  { spec }: IPSet,
  { reserved, undecided }: Said,
  own: Reservation | undefined,
): Record<string, ReservationEntry> {
  const known = Object.entries(own?.spec.reservation ?? {});
  const entries = new Map<string, ReservationEntry>();
  const unknown: ReservationEntry[] = [];
  const met = new Set<string>();
  for (const { subnet, address } of reserved) {
    const entry = { network: subnet.network.name, subnet: subnet.definition.name, address: address.toString() };
    const key = known.find(([, before]) => before.address === entry.address)?.[0];
    if (key === undefined) unknown.push(entry);
    else entries.set(key, entry);
    met.add(placeOf(entry));
  }
  for (const entry of unknown) {
    entries.set(entries.has(entry.network) ? `${entry.network}.${entry.subnet}` : entry.network, entry);
  }
  for (const [key, entry] of known) {
    // Of a network that the NetConfig does not have now, nobody can say that the address is not in use.
    const isOpen = undecided.some(({ name }) => sameName(name, entry.network));
    const isUnmet = spec.networks.some((request) => isAbout(request, entry)) && !met.has(placeOf(entry));
    if (!entries.has(key) && (isOpen || isUnmet)) entries.set(key, entry);
  }
  return Object.fromEntries(entries);
}

const placeOf = ({ network, subnet }: ReservationEntry): string => `${folded(network)}/${folded(subnet)}`;

/** `<network>: <subnet>` for each entry, so that selectors find who is on a network. */
function labelsOf(entries: Record<string, ReservationEntry>): Record<string, string> {
  const labels = Object.entries(entries).map(([key, { subnet }]) => [`${LABEL_PREFIX}${key}`, subnet] as const);
  // Two names that are fine by themselves may be too long together.
  return Object.fromEntries(
    labels.filter(([key, value]) => qualifiedNameFaults(key).length === 0 && labelValueFaults(value).length === 0),
  );
}

export const isOurs = (finalizer: string): boolean => FINALIZERS.includes(finalizer);

const LABEL_PREFIX = 'ipam.network.openstack.org/';
