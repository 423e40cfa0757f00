import type { Service } from '../../../src/api/core/service.ts';
import { AddressClaim } from '../../../src/api/netloom.io/address-claim.ts';
import { IPSet } from '../../../src/api/network.openstack.org/ipset.ts';

/** A host's addresses by its own words. */
export interface Told {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly addresses: readonly { readonly network: string; readonly subnet: string; readonly address: string }[];
}

/** What objects say that they have. Who is being deleted says nothing any more, and who does not ask for a network has nothing there. */
export const toldTo = {
  ipSet(ipSet: IPSet | undefined): Told | undefined {
    if (ipSet === undefined || ipSet.metadata.deletionTimestamp !== undefined) return undefined;
    const { namespace = '', name, uid } = ipSet.metadata;
    const said = ipSet.status?.reservations ?? [];
    const addresses = said.filter((entry) => toldTo.asksFor(ipSet, entry));
    return { namespace, kind: IPSet.kind, name, uid, addresses };
  },

  claim(claim: AddressClaim | undefined): Told | undefined {
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return undefined;
    const { namespace = '', name, uid } = claim.metadata;
    const address = claim.status?.address;
    const addresses = address === undefined ? [] : [{ ...claim.spec, address }];
    return { namespace, kind: AddressClaim.kind, name, uid, addresses };
  },

  service: (service: Service | undefined): string[] =>
    (service?.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []),

  asksFor: ({ spec }: IPSet, { network, subnet }: { network: string; subnet: string }): boolean =>
    spec.networks.some(({ name, subnetName }) => name.toLowerCase() === network.toLowerCase() && subnetName === subnet),
};
