import { Address } from '../../api/address.ts';
import { Service } from '../../api/core/service.ts';
import { AddressClaim } from '../../api/netloom.io/address-claim.ts';
import { IPSet } from '../../api/network.openstack.org/ipset.ts';
import { Reservation } from '../../api/network.openstack.org/reservation.ts';
import type { Reader } from './reader.ts';

/** The addresses that objects of this name say that they have. The ledger decides whether that is so. */
export async function addressesSaidBy(name: string, reader: Reader, namespace?: string): Promise<Address[]> {
  const [ipSets, reservations, claims, services] = await Promise.all([
    reader.named(IPSet, name, namespace),
    reader.named(Reservation, name, namespace),
    reader.named(AddressClaim, name, namespace),
    reader.named(Service, name, namespace),
  ]);
  const texts = [
    ...ipSets.flatMap(({ status }) => (status?.reservations ?? []).map(({ address }) => address)),
    ...reservations.flatMap(({ spec }) => Object.values(spec.reservation).map(({ address }) => address)),
    ...claims.flatMap(({ status }) => status?.address ?? []),
    ...services.flatMap(({ status }) => (status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip)),
  ];
  return texts.flatMap((text) => Address.parse(text) ?? []);
}
