import { Address } from '../api/address.ts';
import { Service } from '../api/core/service.ts';
import type { AddressBlock, AddressHolder, AddressHolding } from '../api/netloom.io/address-block.ts';
import { isNewer } from '../ledger/space.ts';
import { sameTerms, type User } from './terms.ts';

/** The space, in the namespace of the pools, in which Services hold addresses. */
export const VIPS = 'vips';
/** The space of the hosts' addresses, one in each namespace that has networks. */
export const UNDERLAY = 'underlay';

/** An address that Services use. */
export interface Vip {
  readonly address: Address;
  /** Name of the pool that it was given from. */
  readonly pool: string;
  readonly since: string;
  /** Never empty; the first is the holder. */
  readonly users: readonly User[];
}

export function vipOf({ address: text, network, since, sharers = [] }: AddressHolding): Vip | undefined {
  const address = Address.parse(text);
  if (address === undefined || sharers.length === 0) return undefined;
  const users = sharers.map(({ namespace = '', name, uid, since, ports, sharingKey = '', backends = '' }) => ({
    namespace,
    name,
    uid,
    terms: { sharingKey, backends, ports },
    ...(since === undefined ? {} : { since }),
  }));
  return { address, pool: network, since, users };
}

export function holdingOf({ address, pool, since, users }: Vip): AddressHolding | undefined {
  const [first] = users;
  if (first === undefined) return undefined;
  return {
    address: address.toString(),
    holder: serviceAsHolder(first),
    network: pool,
    subnet: '',
    since,
    sharers: users.map((user) => ({
      ...serviceAsHolder(user),
      ...(user.since === undefined ? {} : { since: user.since }),
      ports: [...user.terms.ports],
      ...(user.terms.sharingKey === '' ? {} : { sharingKey: user.terms.sharingKey }),
      ...(user.terms.backends === '' ? {} : { backends: user.terms.backends }),
    })),
  };
}

export const serviceAsHolder = ({ namespace, name, uid }: Pick<User, 'namespace' | 'name' | 'uid'>): AddressHolder => ({
  kind: Service.kind,
  namespace,
  name,
  uid,
});

export const isService = ({ apiGroup = '', kind }: AddressHolder): boolean =>
  apiGroup === Service.group && kind === Service.kind;

export const sameVip = (a: Vip, b: Vip): boolean =>
  a.pool === b.pool &&
  a.users.length === b.users.length &&
  a.users.every((user, i) => {
    const other = b.users[i];
    return user.uid === other?.uid && user.since === other.since && sameTerms(user.terms, other.terms);
  });

/** Whether everybody is there who was, on the same terms. */
export const isOnlyMore = (before: Vip, now: Vip | undefined): boolean =>
  before.users.every((user) => now?.users.some(({ uid, terms }) => uid === user.uid && sameTerms(terms, user.terms)));

/** Whether a block is about addresses that Services or hosts have. */
export const concerns = ({ spec: { space } }: AddressBlock): boolean => space === VIPS || space === UNDERLAY;

/** How a block is called here: names alone are unique in a namespace only. */
export const blockKey = (namespace: string, name: string): string => `${namespace}/${name}`;

export const isNews = ({ metadata }: AddressBlock, known: AddressBlock | undefined): boolean =>
  known === undefined ||
  known.metadata.uid !== metadata.uid ||
  isNewer(metadata.resourceVersion, known.metadata.resourceVersion);
