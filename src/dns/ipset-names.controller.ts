import { DNSData, type DNSHost } from '../api/network.openstack.org/dnsdata.ts';
import { DNSMasq } from '../api/network.openstack.org/dnsmasq.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import type { Caches } from '../runtime/cache.ts';
import { type Context, type Controller, controller } from '../runtime/controller.ts';
import { done } from '../runtime/outcome.ts';
import { keyOfObject, type Ref, refOf } from '../runtime/ref.ts';
import { hostsOf, MOST_IN_ONE, PARTS, partName, partOf } from './ipset-names.ts';
import { byController } from './names.ts';
import { isTaken } from './ownership.ts';

/** Names the addresses of IPSets for each DNSMasq of their namespace. */
export const ipSetNames = (): Controller => ({
  name: 'ipset-names',
  start(host) {
    const changes = new Changes();
    return controller({
      name: 'ipset-names',
      for: DNSMasq,
      owns: [DNSData],
      watches: [{ kind: IPSet, wakes: (ipSet, caches) => changes.of(ipSet, caches) }],
      async reconcile(object, context) {
        if (object.metadata.deletionTimestamp !== undefined) return done();
        const parts = changes.take(object);
        try {
          await nameAll(object, parts, context);
        } catch (error) {
          changes.putBack(object, parts);
          throw error;
        }
        return done();
      },
      gone: (ref) => changes.forget(ref),
    }).start(host);
  },
});

/** Which parts of a DNSMasq's names have to be looked at: all at first, then those whose IPSets have changed. */
class Changes {
  /** Namespace and name of a DNSMasq → parts. */
  readonly #parts = new Map<string, Set<number>>();

  of({ metadata }: IPSet, caches: Caches): Ref[] {
    return caches
      .of(DNSMasq)
      .list(metadata.namespace)
      .map((dnsMasq) => {
        this.#parts.get(keyOfObject(dnsMasq))?.add(partOf(metadata.name));
        return refOf(dnsMasq);
      });
  }

  take(object: DNSMasq): readonly number[] {
    const parts = this.#parts.get(keyOfObject(object)) ?? ALL;
    this.#parts.set(keyOfObject(object), new Set());
    return [...parts];
  }

  putBack(object: DNSMasq, parts: readonly number[]): void {
    const waiting = this.#parts.get(keyOfObject(object));
    for (const part of parts) waiting?.add(part);
  }

  forget({ namespace, name }: Ref): void {
    this.#parts.delete(`${namespace}/${name}`);
  }
}

const ALL: ReadonlySet<number> = new Set(Array.from({ length: PARTS }, (_, part) => part));

async function nameAll(
  object: DNSMasq,
  changed: readonly number[],
  { caches, children, client, events }: Context,
): Promise<void> {
  const { name, namespace = '' } = object.metadata;
  const { dnsDataLabelSelectorValue } = object.spec;
  const ipSets = caches.of(IPSet);
  const ours = new Set(
    caches
      .of(DNSData)
      .by(ownedData, object.metadata.uid)
      .map(({ metadata }) => metadata.name),
  );
  const whole = partName(name, undefined);
  const write = async (dataName: string, hosts: DNSHost[]): Promise<void> => {
    if (hosts.length === 0 && !ours.has(dataName)) return;
    const metadata = { name: dataName, namespace };
    if (hosts.length === 0) await client.delete(DNSData, metadata);
    else if (!isTaken(object, metadata, { caches, events }))
      await children.apply(DNSData, { metadata, spec: { dnsDataLabelSelectorValue, hosts } }, object);
  };
  const isCut = ours.has(whole) ? false : [...ours].some((each) => each.startsWith(`${whole}-`));
  const all = ipSets.list(namespace);
  if (!isCut && all.length <= MOST_IN_ONE) return write(whole, sorted(all));
  const parts = isCut ? changed : ALL;
  for (const part of parts) await write(partName(name, part), sorted(ipSets.by(byPart, `${namespace}/${part}`)));
  await write(whole, []);
}

/** The same IPSets always make the same words, in whatever order they were heard of. */
const sorted = (ipSets: IPSet[]): DNSHost[] =>
  ipSets.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)).flatMap(hostsOf);

const ownedData = byController(DNSData);

const byPart = {
  kind: IPSet,
  keys: ({ metadata }: IPSet): string[] => [`${metadata.namespace}/${partOf(metadata.name)}`],
};
