import { Address } from '../api/address.ts';
import { Service } from '../api/core/service.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import type { Caches } from '../runtime/cache.ts';
import { keyOfObject, type Ref, refOf } from '../runtime/ref.ts';
import type { Office } from './office.ts';
import { isService, UNDERLAY } from './vip.ts';
import type { Waiting } from './waiting.ts';

/** Which Services must see to their records when a block arrives. */
export class Concerned {
  readonly #office: Office;
  readonly #waiting: Waiting;
  /** Block → what it had on record when it was last heard of. */
  readonly #known = new Map<string, ReadonlySet<string>>();

  constructor({ office, waiting }: { office: Office; waiting: Waiting }) {
    this.#office = office;
    this.#waiting = waiting;
  }

  /**
   * Called with a block as it was and as it is. Concerned are Services that are not there (any more), because nobody else would
   * give back what they have; those whose record has vanished, because somebody may have tampered with it; those with a new record
   * that have been told something else, because another leader may have made it before it went; and those with a record in a namespace
   * whose networks do not have the address, because a network may go before we hear what was held in it.
   */
  by(block: AddressBlock, caches: Caches): Ref[] {
    const { namespace: home = '', name } = block.metadata;
    const key = keyOfObject(block);
    const now = caches.of(AddressBlock).get({ namespace: home, name });
    const kept = new Set(now === undefined ? [] : usersIn(now).map(recordOf));
    const isNow = now?.metadata.resourceVersion === block.metadata.resourceVersion;
    const known = isNow ? (this.#known.get(key) ?? NOTHING) : kept;
    if (now === undefined) this.#known.delete(key);
    else if (isNow) this.#known.set(key, kept);
    const networks = block.spec.space === UNDERLAY ? this.#office.networks(caches) : undefined;
    return usersIn(block).flatMap((user) => {
      const ref = { namespace: user.namespace, name: user.name };
      const service = caches.of(Service).get(ref);
      if (service?.metadata.uid !== user.uid || !kept.has(recordOf(user))) return [ref];
      const address = Address.parse(user.address);
      if (address !== undefined && networks?.haveIn(home, address) === false) return [ref];
      // A promise that is renewed is on its way to be told.
      const isNews = !known.has(recordOf(user));
      return isNews && !isTold(service, user.address) && !this.#isOnItsWay(service) ? [ref] : [];
    });
  }

  /** Whether somebody is at it to tell it its first address. */
  #isOnItsWay(service: Service): boolean {
    return (
      service.spec.type === 'LoadBalancer' &&
      (service.status?.loadBalancer?.ingress ?? []).length === 0 &&
      !this.#waiting.has(refOf(service))
    );
  }
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

const recordOf = ({ address, uid }: { address: string; uid: string }): string => `${address} ${uid}`;

const NOTHING: ReadonlySet<string> = new Set();

const usersIn = ({ spec }: AddressBlock) =>
  spec.holdings.flatMap(({ address, holder, sharers = [] }) =>
    (sharers.length > 0 ? sharers : isService(holder) ? [holder] : []).map(({ namespace = '', name, uid }) => ({
      address,
      namespace,
      name,
      uid,
    })),
  );
