import type { Address } from '../api/address.ts';
import { Service } from '../api/core/service.ts';
import { AddressBlock, type AddressHolding } from '../api/netloom.io/address-block.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { type Caches, index } from '../runtime/cache.ts';
import { type Context, type Controller, controller } from '../runtime/controller.ts';
import { done, type Outcome } from '../runtime/outcome.ts';
import { type Ref, refOf } from '../runtime/ref.ts';
import { ingressOf, poolAnnotation, userOf } from './applicant.ts';
import { Office, UNHEARD } from './office.ts';
import { nameOf, type User } from './terms.ts';
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
          wakes: (block, caches) =>
            concerns(block) ? block.spec.holdings.flatMap((one) => concerned(one, caches)) : [],
        },
        { kind: NetConfig, wakes: (_, caches) => caches.of(Service).list().filter(isBalanced).map(refOf) },
      ],
      reconcile: (service, context) => observer.look(service, context),
      // One that the server has, and that we have not heard of, may go before we do, and then nobody tells us.
      gone: async (ref, context) => ((await observer.leave(ref, undefined, context)) ? { after: UNHEARD } : undefined),
    }).start(host);
  },
});

/** The Service that has the address on record; of what a host has, those that MetalLB gave it as well: they have it when the host goes. */
const concerned = ({ address, holder }: AddressHolding, caches: Caches): Ref[] =>
  isService(holder)
    ? [{ namespace: holder.namespace ?? '', name: holder.name }]
    : caches.of(Service).by(byAddress, address).map(refOf);

const isBalanced = ({ spec }: Service): boolean => spec.type === 'LoadBalancer';

const addressesOf = (service: Service): Address[] => (isBalanced(service) ? ingressOf(service) : []);

const byAddress = index(Service, (service) => addressesOf(service).map(String));

/** Who has the address is decided elsewhere; here any of those who share it will do as the holder. */
const usersOf = (address: Address, service: Service, caches: Caches): User[] =>
  [service, ...caches.of(Service).by(byAddress, address.toString())].map(userOf);

class Observer {
  readonly #office: Office;
  /** Which Service → what it was last told about a host that has its address. */
  readonly #told = new Map<string, string>();

  constructor(office: Office) {
    this.#office = office;
  }

  async look(known: Service, context: Context): Promise<Outcome<NonNullable<Service['status']>>> {
    const service = await this.#newest(known, context);
    if (service === undefined) {
      await this.leave(refOf(known), undefined, context);
      return done();
    }
    const { claims } = this.#office;
    const networks = this.#office.networks(context.caches);
    const faults: string[] = [];
    for (const address of addressesOf(service)) {
      const users = usersOf(address, service, context.caches);
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

  /**
   * The server is asked before anything is put on record: whoever knew before us that the Service is gone, or has another address, has
   * taken the record off, and we would make it again and he take it off without end.
   */
  async #newest(known: Service, { caches, client }: Context): Promise<Service | undefined> {
    const { underlay } = this.#office;
    const networks = this.#office.networks(caches);
    const isLacking = addressesOf(known).some((address) => {
      const uids = new Set(usersOf(address, known, caches).map(({ uid }) => uid));
      const holders = new Map(underlay.at(address).map(({ namespace, holder }) => [namespace, holder]));
      return networks.namespacesAround(address).some((namespace) => {
        const holder = holders.get(namespace);
        return holder === undefined || (isService(holder) && !uids.has(holder.uid));
      });
    });
    return isLacking ? client.get(Service, known.metadata.name, known.metadata.namespace) : known;
  }

  /** Gives back what is held for Services of that name and is not theirs any more. Answers whether one has something of whom we have not heard. */
  async leave(ref: Ref, living: Service | undefined, { caches, client }: Context): Promise<boolean> {
    const { claims, underlay } = this.#office;
    const networks = this.#office.networks(caches);
    let isThere = false;
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
        if (newest?.metadata.uid === uid && ingressOf(newest).some((one) => one.equals(address))) {
          isThere = true;
          continue;
        }
        const [heir] = caches
          .of(Service)
          .by(byAddress, address.toString())
          .filter((other) => other.metadata.uid !== uid);
        if (heir === undefined) {
          await claims.release(held);
          continue;
        }
        await claims.take({ address, pool: poolAnnotation(heir) ?? '', users: [userOf(heir)] }, networks);
        // Where no network is any more, nobody inherits.
        await this.#office.releaseElsewhere(address, held, caches);
      }
    }
    return isThere;
  }
}
