import { Address, addressFault, type Family } from '../api/address.ts';
import type { Service } from '../api/core/service.ts';

export const PREFIX = 'metallb.io/';
export const DEPRECATED_PREFIX = 'metallb.universe.tf/';
/** Written by us, under the current prefix only. */
export const POOL_OF_ADDRESSES = `${PREFIX}ip-allocated-from-pool`;

const KEYS = ['address-pool', 'loadBalancerIPs', 'allow-shared-ip'] as const;

/** What a Service asks for by annotations and by `spec.loadBalancerIP`. */
export interface Wishes {
  /** Empty: any. */
  readonly pool: string;
  /** Exactly these, one of each family at most; empty: any. Or why they cannot be understood. */
  readonly addresses: readonly Address[] | { readonly fault: string };
  readonly sharingKey: string;
  /** The annotations in use whose prefix is the former one. */
  readonly deprecated: readonly string[];
}

export function wishesOf({ metadata: { annotations = {} }, spec }: Service): Wishes {
  const find = (key: string): string | undefined =>
    valueAt(annotations, PREFIX + key) ?? valueAt(annotations, DEPRECATED_PREFIX + key);
  const listed = find('loadBalancerIPs') ?? '';
  const single = spec.loadBalancerIP ?? '';
  return {
    pool: find('address-pool') ?? '',
    addresses:
      listed !== '' && single !== ''
        ? { fault: `service can not have both ${PREFIX}loadBalancerIPs and svc.Spec.LoadBalancerIP` }
        : requested(listed !== '' ? listed.split(',') : single !== '' ? [single] : []),
    sharingKey: find('allow-shared-ip') ?? '',
    deprecated: KEYS.map((key) => DEPRECATED_PREFIX + key).filter((key) => valueAt(annotations, key) !== undefined),
  };
}

function requested(texts: readonly string[]): Wishes['addresses'] {
  const found: Address[] = [];
  for (const text of texts.map((one) => one.trim())) {
    const address = Address.parse(text);
    if (address === undefined) return { fault: `invalid loadBalancerIP "${text}": "${text}" ${addressFault(text)}` };
    found.push(address);
  }
  const fault = pairFault(found);
  return fault === undefined ? found : { fault };
}

/** An address of each family is the most that a Service can have. */
export function pairFault(addresses: readonly Address[]): string | undefined {
  if (addresses.length > 2) return `more than two addresses: ${quoted(addresses)}`;
  const [first, second] = addresses;
  if (first === undefined || second === undefined || first.family !== second.family) return undefined;
  return `${quoted(addresses)} has the same family, a Service has one IPv4 and one IPv6 address at most`;
}

/** As MetalLB writes a list of addresses. */
export const quoted = (addresses: readonly Address[]): string =>
  `[${addresses.map((address) => `"${address}"`).join(' ')}]`;

export const familiesIn = (addresses: readonly Address[]): Set<Family> =>
  new Set(addresses.map(({ family }) => family));

const valueAt = (annotations: Record<string, string>, key: string): string | undefined =>
  Object.hasOwn(annotations, key) ? annotations[key] : undefined;
