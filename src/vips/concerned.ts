import { Address } from '../api/address.ts';
import { Service } from '../api/core/service.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import type { Caches } from '../runtime/cache.ts';
import { type Ref, refOf } from '../runtime/ref.ts';
import type { Office } from './office.ts';
import { isService, UNDERLAY } from './vip.ts';
import type { Waiting } from './waiting.ts';

interface Surroundings {
  readonly office: Office;
  readonly waiting: Waiting;
  readonly caches: Caches;
}

/**
 * Services that must see to their record in a block: those that are not there (any more), because nobody else would give back what
 * they have; those whose record has vanished, because somebody may have tampered with it; those that have been told something
 * else, because another leader may have put it on record before it went; and those with a record in a namespace whose networks do
 * not have the address, because a network may go before we hear what was held in it.
 */
export function concernedBy(block: AddressBlock, { office, waiting, caches }: Surroundings): Ref[] {
  const users = usersIn(block);
  if (users.length === 0) return [];
  const { namespace: home = '' } = block.metadata;
  const networks = block.spec.space === UNDERLAY ? office.networks(caches) : undefined;
  const now = caches.of(AddressBlock).get(refOf(block));
  const kept = new Set(now === undefined ? [] : usersIn(now).map(({ address, uid }) => `${address} ${uid}`));
  return users.flatMap(({ address: text, namespace, name, uid }) => {
    const ref = { namespace, name };
    const service = caches.of(Service).get(ref);
    if (service?.metadata.uid !== uid || !kept.has(`${text} ${uid}`)) return [ref];
    const address = Address.parse(text);
    if (address !== undefined && networks?.haveIn(home, address) === false) return [ref];
    return isTold(service, text) || isOnItsWay(service, waiting) ? [] : [ref];
  });
}

/** Services that have been told an address that a host had all the same: now that it is free, it is to be on record for them. */
export function unclaimedAt(address: Address, office: Office, caches: Caches): Ref[] {
  const users = office.register.at(address)?.users ?? [];
  if (users.length === 0) return [];
  const claimed = new Set(office.underlay.at(address).map(({ namespace }) => namespace));
  const around = office.networks(caches).namespacesAround(address);
  if (around.every((namespace) => claimed.has(namespace))) return [];
  return users.flatMap(({ namespace, name }) => {
    const service = caches.of(Service).get({ namespace, name });
    return service !== undefined && isTold(service, address.toString()) ? [refOf(service)] : [];
  });
}

const isTold = ({ status }: Service, address: string): boolean =>
  (status?.loadBalancer?.ingress ?? []).some(({ ip }) => ip === address);

/** Whether somebody is at it to tell it its first address. */
const isOnItsWay = (service: Service, waiting: Waiting): boolean =>
  service.spec.type === 'LoadBalancer' &&
  (service.status?.loadBalancer?.ingress ?? []).length === 0 &&
  !waiting.has(refOf(service));

const usersIn = ({ spec }: AddressBlock) =>
  spec.holdings.flatMap(({ address, holder, sharers = [] }) =>
    (sharers.length > 0 ? sharers : isService(holder) ? [holder] : []).map(({ namespace = '', name, uid }) => ({
      address,
      namespace,
      name,
      uid,
    })),
  );
