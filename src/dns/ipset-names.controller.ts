import { DNSData, type DNSHost } from '../api/network.openstack.org/dnsdata.ts';
import { DNSMasq } from '../api/network.openstack.org/dnsmasq.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import type { Caches } from '../runtime/cache.ts';
import { type Context, type Controller, controller } from '../runtime/controller.ts';
import { done } from '../runtime/outcome.ts';
import { keyOfObject, type Ref, refOf } from '../runtime/ref.ts';
import { hostsOf, MOST_IN_ONE, PARTS, partName, partOf, readPartName } from './ipset-names.ts';
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
      watches: [
        { kind: IPSet, wakes: (ipSet, caches) => changes.of(ipSet, caches) },
        { kind: DNSData, wakes: (data) => changes.ofData(data) },
      ],
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

/** Which parts of a DNSMasq's names have to be looked at: all at first, then those of which something has changed. */
class Changes {
  /** Namespace and name of a DNSMasq → parts. */
  readonly #parts = new Map<string, Set<number>>();
  /** Namespace and name of a DNSMasq → the selector value that stands in all other parts. */
  readonly #selectors = new Map<string, string>();

  of({ metadata }: IPSet, caches: Caches): Ref[] {
    return caches
      .of(DNSMasq)
      .list(metadata.namespace)
      .map((dnsMasq) => {
        this.#parts.get(keyOfObject(dnsMasq))?.add(partOf(metadata.name));
        return refOf(dnsMasq);
      });
  }

  /** Whoever has written it: what we wrote may be gone, and what was in our way as well. */
  ofData({ metadata: { namespace = '', name } }: DNSData): Ref[] {
    const { dnsMasq, part } = readPartName(name) ?? {};
    if (dnsMasq === undefined) return [];
    if (part !== undefined) this.#parts.get(`${namespace}/${dnsMasq}`)?.add(part);
    return [{ namespace, name: dnsMasq }];
  }

  take(object: DNSMasq): readonly number[] {
    const key = keyOfObject(object);
    const selector = object.spec.dnsDataLabelSelectorValue;
    const parts = this.#selectors.get(key) === selector ? this.#parts.get(key) : undefined;
    this.#parts.set(key, new Set());
    this.#selectors.set(key, selector);
    return [...(parts ?? ALL)];
  }

  putBack(object: DNSMasq, parts: readonly number[]): void {
    const waiting = this.#parts.get(keyOfObject(object));
    for (const part of parts) waiting?.add(part);
  }

  forget({ namespace, name }: Ref): void {
    this.#parts.delete(`${namespace}/${name}`);
    this.#selectors.delete(`${namespace}/${name}`);
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
  if (!isCut) {
    const all = ipSets.list(namespace);
    if (all.length <= MOST_IN_ONE) return write(whole, hostsOf(all));
  }
  const parts = isCut ? changed : ALL;
  for (const part of parts) await write(partName(name, part), hostsOf(ipSets.by(byPart, `${namespace}/${part}`)));
  await write(whole, []);
}

const ownedData = byController(DNSData);

const byPart = {
  kind: IPSet,
  keys: ({ metadata }: IPSet): string[] => [`${metadata.namespace}/${partOf(metadata.name)}`],
};
