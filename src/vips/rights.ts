import { Namespace } from '../api/core/namespace.ts';
import { Service } from '../api/core/service.ts';
import { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import { L2Advertisement } from '../api/metallb.io/l2-advertisement.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { may, mayHear, type Right } from '../runtime/right.ts';

export const vipsRights: readonly Right[] = [
  ...mayHear(Service, Namespace, IPAddressPool, L2Advertisement, NetConfig, AddressBlock),
  ...may('patch', [Service, IPAddressPool], 'status'),
  // The pool that an address is from is an annotation; on IPAddressPools patches put on finalizers and take them off.
  ...may('get patch', [Service, IPAddressPool]),
  ...may('get create update', [AddressBlock]),
];
