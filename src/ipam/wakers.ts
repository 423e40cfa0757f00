import type { Kind } from '../api/kind.ts';
import { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { AddressClaim } from '../api/netloom.io/address-claim.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import type { ApiObject } from '../api/object.ts';
import type { Watch } from '../runtime/controller.ts';
import type { Environments } from './environment.ts';

type Wakers = [Watch<NetConfig>, Watch<AddressBlock>, Watch<IPAddressPool>, Watch<IPSet>, Watch<AddressClaim>];

/** What wakes those of a kind who get addresses: another NetConfig, an address that is freed, somebody ahead who leaves. */
export const wakersOf = <T extends ApiObject>(kind: Kind<T>, environments: Environments): Wakers => [
  { kind: NetConfig, wakes: (netConfig, caches) => environments.wokenByNetConfig(kind, netConfig, caches) },
  { kind: AddressBlock, wakes: (block, caches) => environments.wokenByBlock(kind, block, caches) },
  { kind: IPAddressPool, wakes: () => environments.wokenByOthers(kind) },
  { kind: IPSet, wakes: (ipSet, caches) => environments.wokenByLeaving(kind, IPSet, ipSet, caches) },
  { kind: AddressClaim, wakes: (claim, caches) => environments.wokenByLeaving(kind, AddressClaim, claim, caches) },
];
