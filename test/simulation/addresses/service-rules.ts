import type { Family } from '../../../src/api/address.ts';
import type { Service } from '../../../src/api/core/service.ts';
import { IPAddressPool } from '../../../src/api/metallb.io/ip-address-pool.ts';
import { AddressBlock, type AddressSharer } from '../../../src/api/netloom.io/address-block.ts';
import { Event } from '../../../src/runtime/builtin.ts';
import { addressesOf, familyOf } from './facts.ts';
import type { Sight } from './sight.ts';

/** What Services may have, by going through every address of every pool. */
export class ServiceRules {
  readonly #sight: Sight;
  readonly #pools: readonly IPAddressPool[];
  /** Address → who shares it. */
  readonly #users = new Map<string, readonly AddressSharer[]>();
  /** Addresses that hosts have, in some namespace. */
  readonly #hosts = new Set<string>();

  constructor(sight: Sight) {
    this.#sight = sight;
    this.#pools = sight.stored(IPAddressPool);
    for (const { spec } of sight.stored(AddressBlock)) {
      for (const { address, holder, sharers = [] } of spec.holdings) {
        if (spec.space === 'vips') this.#users.set(address, sharers);
        else if (holder.kind !== 'Service') this.#hosts.add(address);
      }
    }
  }

  /** `told`: what its status says. */
  faultsOf(service: Service, told: readonly string[]): string[] {
    const { namespace, name } = service.metadata;
    const who = `Service ${namespace}/${name}`;
    if (service.spec.type !== 'LoadBalancer')
      return told.length === 0 ? [] : [`${who} is no load balancer, and has ${told}`];
    const { wanted, oneWillDo } = familiesOf(service);
    if (told.length > 0) {
      const has = told.map(familyOf);
      const isRight = has.every((family) => wanted.includes(family)) && (has.length === wanted.length || oneWillDo);
      return isRight ? [] : [`${who} has ${told}, and wants IPv${wanted}`];
    }
    const found = this.#pools.map((pool) => this.#fits(service, pool)).find((addresses) => addresses.length > 0);
    if (found !== undefined) return [`${who} waits, and could have ${found}`];
    const said = this.#sight
      .stored(Event)
      .filter(({ involvedObject: { uid }, type }) => uid === service.metadata.uid && type === 'Warning');
    // Without pools nobody asked us to serve anybody.
    return said.length === 0 && this.#pools.length > 0 ? [`${who} waits, and nobody has said why`] : [];
  }

  /** What it could have from a pool. */
  #fits(service: Service, pool: IPAddressPool): string[] {
    const { name, deletionTimestamp } = pool.metadata;
    const pooled = wish(service, 'address-pool');
    const asked = wish(service, 'loadBalancerIPs');
    if (deletionTimestamp !== undefined || (pooled !== undefined && pooled !== name)) return [];
    if (asked === undefined && pooled === undefined && !pool.spec.autoAssign) return [];
    const usable = addressesOf(pool)
      .filter((address) => !(pool.spec.avoidBuggyIPs && /\.(0|255)$/.test(address)))
      .filter((address) => (asked === undefined || asked === address) && this.#mayHave(service, address));
    const { wanted, oneWillDo } = familiesOf(service);
    const found = wanted.flatMap((family) => usable.find((address) => familyOf(address) === family) ?? []);
    return found.length === wanted.length || oneWillDo ? found : [];
  }

  #mayHave(service: Service, address: string): boolean {
    if (this.#hosts.has(address)) return false;
    const users = (this.#users.get(address) ?? []).filter(({ uid }) => uid !== service.metadata.uid);
    const key = wish(service, 'allow-shared-ip');
    const ports = portsOf(service);
    const backends = service.spec.externalTrafficPolicy === 'Local' ? 'app=web' : undefined;
    return users.every(
      (user) =>
        key !== undefined &&
        user.sharingKey === key &&
        user.backends === backends &&
        !user.ports.some((port) => ports.includes(port)),
    );
  }
}

export const wish = ({ metadata: { annotations = {} } }: Service, key: string): string | undefined =>
  annotations[`metallb.io/${key}`] ?? annotations[`metallb.universe.tf/${key}`];

export const portsOf = ({ spec }: Service): string[] =>
  (spec.ports ?? []).map(({ protocol = 'TCP', port }) => `${protocol}/${port}`);

export function familiesOf({ spec }: Service): { wanted: Family[]; oneWillDo: boolean } {
  const oneWillDo = spec.ipFamilyPolicy === 'PreferDualStack';
  if (oneWillDo || spec.ipFamilyPolicy === 'RequireDualStack') return { wanted: [4, 6], oneWillDo };
  return { wanted: spec.ipFamilies?.[0] === 'IPv6' ? [6] : [4], oneWillDo };
}
