import { Namespace } from '../api/core/namespace.ts';
import { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { AddressClaim } from '../api/netloom.io/address-claim.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { Reservation } from '../api/network.openstack.org/reservation.ts';
import { may, mayBlockDeletion, mayHear, type Right } from '../runtime/right.ts';

export const ipamRights: readonly Right[] = [
  ...mayHear(NetConfig, IPSet, AddressClaim, Reservation, IPAddressPool, AddressBlock),
  ...may('patch', [NetConfig, IPSet, AddressClaim], 'status'),
  // Patches put on finalizers and take them off.
  ...may('get patch', [IPSet, AddressClaim]),
  ...may('get create update patch delete', [Reservation, AddressBlock]),
  ...mayBlockDeletion(IPSet),
  // Whether a namespace goes as a whole.
  ...may('get', [Namespace]),
];
