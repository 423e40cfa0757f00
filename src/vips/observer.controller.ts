import { Service } from '../api/core/service.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { index } from '../runtime/cache.ts';
import { type Context, type Controller, controller } from '../runtime/controller.ts';
import { done, type Outcome } from '../runtime/outcome.ts';
import { type Ref, refOf } from '../runtime/ref.ts';
import { ingressOf, poolAnnotation, userOf } from './applicant.ts';
import { Office } from './office.ts';
import { nameOf } from './terms.ts';
import { concerns, isService } from './vip.ts';

/** Where MetalLB gives the addresses: what Services have goes on record, so that no host is given one. Nothing else is written. */
export const observedAddresses = ({ namespace }: { namespace: string }): Controller => ({
  name: 'vips-observer',
  start(host) {
    const observer = new Observer(Office.of(host, namespace));
    return controller({
      name: 'vips-observer',
      for: Service,
      watches: [
        {
          kind: AddressBlock,
          wakes: (block) => (concerns(block) ? block.spec.holdings.flatMap(({ holder }) => serviceRef(holder)) : []),
        },
        { kind: NetConfig, wakes: (_, caches) => caches.of(Service).list().filter(isBalanced).map(refOf) },
      ],
      reconcile: (service, context) => observer.look(service, context),
      gone: (ref, context) => observer.leave(ref, undefined, context),
    }).start(host);
  },
});

const serviceRef = (holder: AddressBlock['spec']['holdings'][number]['holder']): Ref[] =>
  isService(holder) ? [{ namespace: holder.namespace ?? '', name: holder.name }] : [];

const isBalanced = ({ spec }: Service): boolean => spec.type === 'LoadBalancer';

const byAddress = index(Service, (service) => (isBalanced(service) ? ingressOf(service).map(String) : []));

class Observer {
  readonly #office: Office;
  /** Which Service → what it was last told about a host that has its address. */
  readonly #told = new Map<string, string>();

  constructor(office: Office) {
    this.#office = office;
  }

  async look(service: Service, context: Context): Promise<Outcome<NonNullable<Service['status']>>> {
    const { claims } = this.#office;
    const networks = this.#office.networks(context.caches);
    const addresses = isBalanced(service) ? ingressOf(service) : [];
    const faults: string[] = [];
    for (const address of addresses) {
      // Who has the address is decided elsewhere; here any of those who share it will do as the holder.
      const users = [service, ...context.caches.of(Service).by(byAddress, address.toString())].map(userOf);
      faults.push(...(await claims.take({ address, pool: poolAnnotation(service) ?? '', users }, networks)));
    }
    await this.leave(refOf(service), service, context);
    const key = nameOf(userOf(service));
    const text = faults.join('; ');
    if (text !== '' && this.#told.get(key) !== text) context.events.warning(service, 'AddressConflict', text);
    if (text === '') this.#told.delete(key);
    else this.#told.set(key, text);
    return done();
  }

  /** Gives back what is held for Services of that name and is not theirs any more. */
  async leave(ref: Ref, living: Service | undefined, { caches, client }: Context): Promise<void> {
    const { claims, underlay } = this.#office;
    const networks = this.#office.networks(caches);
    for (const uid of [...underlay.uidsOf(nameOf(ref))]) {
      for (const address of underlay.claimedFor(uid)) {
        const isTheirs = living?.metadata.uid === uid && ingressOf(living).some((one) => one.equals(address));
        const around = networks.namespacesAround(address);
        const namespaces = underlay.at(address).map(({ namespace }) => namespace);
        const held = claims.held(address, namespaces, new Set([uid]));
        if (isTheirs) {
          await claims.release(held.filter(({ namespace }) => !around.includes(namespace)));
          continue;
        }
        const newest = await client.get(Service, ref.name, ref.namespace);
        if (newest?.metadata.uid === uid && ingressOf(newest).some((one) => one.equals(address))) continue;
        const [heir] = caches
          .of(Service)
          .by(byAddress, address.toString())
          .filter((other) => other.metadata.uid !== uid);
        if (heir === undefined) await claims.release(held);
        else await claims.take({ address, pool: poolAnnotation(heir) ?? '', users: [userOf(heir)] }, networks);
      }
    }
  }
}
