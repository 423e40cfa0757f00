import { Namespace } from '../api/core/namespace.ts';
import { Service } from '../api/core/service.ts';
import { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import { L2Advertisement } from '../api/metallb.io/l2-advertisement.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import type { ApiObject } from '../api/object.ts';
import type { Caches } from '../runtime/cache.ts';
import { type Controller, controller } from '../runtime/controller.ts';
import { type Ref, refOf } from '../runtime/ref.ts';
import { Allocator } from './allocator.ts';
import { Concerned, unclaimedAt } from './concerned.ts';
import { Office } from './office.ts';
import { concerns } from './vip.ts';
import { Waiting } from './waiting.ts';

/** Gives Services of type LoadBalancer addresses from pools, and keeps them for as long as they are asked for. */
export const serviceAddresses = ({
  namespace,
  loadBalancerClass,
}: {
  namespace: string;
  loadBalancerClass: string;
}): Controller => ({
  name: 'vips',
  start(host) {
    const office = Office.of(host, namespace);
    const waiting = new Waiting();
    const allocator = new Allocator({ office, waiting, loadBalancerClass });
    const concerned = new Concerned({ office, waiting });
    const changed = new Changed();
    const balanced = (caches: Caches, where?: string): Ref[] =>
      caches
        .of(Service)
        .list(where)
        .filter(({ spec }) => spec.type === 'LoadBalancer')
        .map(refOf);
    return controller({
      name: 'vips',
      for: Service,
      watches: [
        {
          kind: AddressBlock,
          wakes: (block, caches) => {
            if (!concerns(block)) return [];
            const freed = office.takeFreed();
            return [
              ...concerned.by(block, caches),
              ...freed.flatMap((address) => unclaimedAt(address, office, caches)),
              ...waiting.for(freed, office.pools(caches)),
            ];
          },
        },
        {
          kind: IPAddressPool,
          wakes: (pool, caches) =>
            changed.since(pool, caches.of(IPAddressPool).get(refOf(pool))) ? balanced(caches) : [],
        },
        { kind: L2Advertisement, wakes: (_, caches) => balanced(caches) },
        { kind: NetConfig, wakes: (_, caches) => balanced(caches) },
        {
          kind: Namespace,
          wakes: (one, caches) => {
            const now = caches.of(Namespace).get(refOf(one));
            return changed.since(one, now) ? balanced(caches, one.metadata.name) : [];
          },
        },
      ],
      batch: { max: 256 },
      reconcileMany: (services, context) => allocator.serve(services, context),
      gone: (ref, context) => allocator.leave(ref, context),
    }).start(host);
  },
});

/** Tells changes of what people wrote from those of a status. */
class Changed {
  readonly #known = new Map<string, string>();

  since(object: ApiObject, now: ApiObject | undefined): boolean {
    const key = `${object.kind} ${object.metadata.name}`;
    const words =
      now === undefined ? undefined : JSON.stringify([now.metadata.uid, now.metadata.generation, now.metadata.labels]);
    if (this.#known.get(key) === words) return false;
    if (words === undefined) this.#known.delete(key);
    else this.#known.set(key, words);
    return true;
  }
}
