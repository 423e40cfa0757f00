import type { DeclaredKind } from './kind.ts';
import { AddressBlock } from './netloom.io/address-block.ts';
import { IPSet } from './network.openstack.org/ipset.ts';
import { NetConfig } from './network.openstack.org/netconfig.ts';
import { Reservation } from './network.openstack.org/reservation.ts';

/** Every kind that Netloom declares itself, in the order in which people meet them. */
export const allKinds: readonly DeclaredKind[] = [NetConfig, IPSet, Reservation, AddressBlock];
