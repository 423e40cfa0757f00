import type { DeclaredKind } from './kind.ts';
import { IPAddressPool } from './metallb.io/ip-address-pool.ts';
import { L2Advertisement } from './metallb.io/l2-advertisement.ts';
import { ServiceL2Status } from './metallb.io/service-l2-status.ts';
import { AddressBlock } from './netloom.io/address-block.ts';
import { AddressClaim } from './netloom.io/address-claim.ts';
import { DNSData } from './network.openstack.org/dnsdata.ts';
import { DNSMasq } from './network.openstack.org/dnsmasq.ts';
import { IPSet } from './network.openstack.org/ipset.ts';
import { NetConfig } from './network.openstack.org/netconfig.ts';
import { Reservation } from './network.openstack.org/reservation.ts';
import { Topology } from './topology.openstack.org/topology.ts';

/** Every kind that Netloom declares itself, in the order in which people meet them. */
export const allKinds: readonly DeclaredKind[] = [
  NetConfig,
  IPSet,
  Reservation,
  AddressClaim,
  DNSMasq,
  DNSData,
  Topology,
  IPAddressPool,
  L2Advertisement,
  ServiceL2Status,
  AddressBlock,
];
