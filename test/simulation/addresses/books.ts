import { Address } from '../../../src/api/address.ts';
import { Service } from '../../../src/api/core/service.ts';
import {
  AddressBlock,
  type AddressHolding,
  blockName,
  blockPrefix,
} from '../../../src/api/netloom.io/address-block.ts';
import { AddressClaim } from '../../../src/api/netloom.io/address-claim.ts';
import { IPSet } from '../../../src/api/network.openstack.org/ipset.ts';
import { NetConfig } from '../../../src/api/network.openstack.org/netconfig.ts';
import type { Sight } from './sight.ts';
import { type Told, toldTo } from './told.ts';

/** What the server has at this moment, asked by address. */
export class Books {
  readonly #sight: Sight;

  constructor(sight: Sight) {
    this.#sight = sight;
  }

  /** `place`: the namespace and the space. */
  holding(place: string, address: string): AddressHolding | undefined {
    const [namespace, space = ''] = place.split('/');
    const parsed = Address.parse(address);
    if (parsed === undefined) return undefined;
    const key = `${namespace}/${blockName(space, blockPrefix(parsed))}`;
    return this.#sight.find(AddressBlock, key)?.spec.holdings.find((holding) => holding.address === address);
  }

  ipSet(namespace: string, name: string): IPSet | undefined {
    return this.#sight.find(IPSet, `${namespace}/${name}`);
  }

  get netConfigs(): readonly NetConfig[] {
    return this.#sight.stored(NetConfig);
  }

  /** The hosts that say that they have the address. */
  toldAt(namespace: string, address: string): Told[] {
    const all = [
      ...this.#sight.stored(IPSet).map((ipSet) => toldTo.ipSet(ipSet)),
      ...this.#sight.stored(AddressClaim).map((claim) => toldTo.claim(claim)),
    ];
    return all
      .filter((told) => told !== undefined)
      .filter((told) => told.namespace === namespace && told.addresses.some((said) => said.address === address));
  }

  servicesAt(address: string): Service[] {
    return this.#sight.stored(Service).filter((service) => toldTo.service(service).includes(address));
  }

  /** Whether the holder asks for this address by number, or may have: nobody knows what somebody asked for who is gone. */
  mayAskFor(namespace: string, { holder: { kind, name, uid } }: AddressHolding, address: string): boolean {
    if (kind === IPSet.kind) {
      const ipSet = this.ipSet(namespace, name);
      return ipSet?.metadata.uid !== uid || ipSet.spec.networks.some(({ fixedIP }) => fixedIP === address);
    }
    const claim = this.#sight.stored(AddressClaim).find(({ metadata }) => metadata.uid === uid);
    return claim === undefined || claim.spec.address === address;
  }
}
