import { ConfigMap } from '../api/core/config.ts';
import { DNSData, type DNSDataStatus } from '../api/network.openstack.org/dnsdata.ts';
import type { Caches } from '../runtime/cache.ts';
import { Conditions, readyOf } from '../runtime/conditions.ts';
import { type Context, type Controller, controller } from '../runtime/controller.ts';
import { done, failed, type Outcome, wait } from '../runtime/outcome.ts';
import { controllerOf } from '../runtime/owner.ts';
import type { Ref } from '../runtime/ref.ts';
import { nextStatus } from '../runtime/status.ts';
import { DNSDataParts, type Made } from './dnsdata-parts.ts';
import { fingerprint } from './fingerprint.ts';
import { leftOut } from './hosts-file.ts';
import { byController, HOSTS_LABEL, labelsOf, selectorValue } from './names.ts';
import { objectionIn } from './objection.ts';
import { somebodyElses } from './ownership.ts';
import { losersLast } from './shards.ts';

/** Writes the hosts of a DNSData into ConfigMaps, where DNSMasqs look for them. */
export const dnsData = (): Controller => {
  const made = new DNSDataParts();
  return controller({
    for: DNSData,
    owns: [ConfigMap],
    // When what has the name of one goes, there is something to be done.
    watches: [{ kind: ConfigMap, wakes: wantedBy }],
    parallel: 8,
    finalizer: {
      name: 'openstack.org/dnsdata',
      former: ['DNSData'],
      // What it owns is garbage when it is gone.
      async release(object) {
        made.forget(object);
        return done();
      },
    },
    async reconcile(object, context) {
      try {
        return await write(object, made.of(object), context);
      } catch (error) {
        const objection = objectionIn(error);
        if (objection === undefined) throw error;
        return failed(objection, { status: withoutConfigMap(object, objection.message, context) });
      }
    },
  });
};

async function write(object: DNSData, { parts, faults }: Made, context: Context): Promise<Outcome<DNSDataStatus>> {
  const { namespace = '' } = object.metadata;
  const names = parts.map((_, i) => configMapName(object, i));
  const found = names.map((name) => context.caches.of(ConfigMap).get({ namespace, name }));
  for (const [i, name] of names.entries()) {
    const holder = somebodyElses(object, found[i]);
    if (holder !== undefined) return wait({ status: withoutConfigMap(object, `ConfigMap ${name} ${holder}`, context) });
  }
  const texts = parts.map(({ text }) => text);
  const former = found.map((configMap, i) => configMap?.data?.[keyOf(object, i)] ?? '');
  for (const i of losersLast(former, texts)) {
    const metadata = metadataOf(object, names[i] ?? '');
    await context.children.apply(ConfigMap, { metadata, data: { [keyOf(object, i)]: texts[i] ?? '' } }, object);
  }
  await removeSurplus(object, new Set(names), context);
  const hash = fingerprint(parts.map((part, i) => [names[i], part.hash]));
  return done({ status: statusOf(object, faults, hash, context) });
}

const configMapName = ({ metadata: { name } }: DNSData, shard: number): string =>
  shard === 0 ? name.toLowerCase() : `${name.toLowerCase()}-shard-${shard}`;

/** Whoever would write a ConfigMap of this name, and has not. */
function wantedBy(configMap: ConfigMap, caches: Caches): Ref[] {
  if (controllerOf(configMap, DNSData) !== undefined) return [];
  const { namespace = '', name } = configMap.metadata;
  const refs = [name, name.replace(/-shard-\d+$/, '')].map((each) => ({ namespace, name: each }));
  return refs.filter((ref) => caches.of(DNSData).get(ref) !== undefined);
}

const keyOf = (object: DNSData, shard: number): string =>
  shard === 0 ? object.metadata.name : configMapName(object, shard);

const metadataOf = (object: DNSData, name: string) => ({
  name,
  ...(object.metadata.namespace === undefined ? {} : { namespace: object.metadata.namespace }),
  labels: { ...labelsOf(object), [HOSTS_LABEL]: selectorValue(object.spec) },
});

const configMaps = byController(ConfigMap);

async function removeSurplus(object: DNSData, wanted: ReadonlySet<string>, { caches, client }: Context): Promise<void> {
  for (const { metadata } of caches.of(ConfigMap).by(configMaps, object.metadata.uid)) {
    const { namespace = '', name } = metadata;
    if (!wanted.has(name)) await client.delete(ConfigMap, { namespace, name });
  }
}

/** Entries that cannot be served do not keep the others from being served: it is ready, and says what it left out. */
function statusOf(
  object: DNSData,
  faults: readonly string[],
  hash: string,
  { events, system }: Context,
): DNSDataStatus {
  const conditions = conditionsOf(object, system.now());
  conditions.met('ServiceConfigReady', 'Input data complete');
  if (faults.length === 0) {
    conditions.met('HostsAccepted', 'All hosts are served');
  } else {
    const message = leftOut(faults);
    conditions.failed('HostsAccepted', message);
    conditions.set('Ready', { status: 'True', message: `Setup complete, but ${message}` });
    if (readyOf(object.status?.conditions)?.message?.endsWith(message) !== true) {
      events.warning(object, 'HostsLeftOut', message);
    }
  }
  return nextStatus(object, { conditions: conditions.list(), hash });
}

function withoutConfigMap(object: DNSData, why: string, { events, system }: Context): DNSDataStatus {
  const conditions = conditionsOf(object, system.now());
  const message = `Service config create error occurred ${why}`;
  conditions.failed('ServiceConfigReady', message, { severity: 'Error' });
  if (readyOf(object.status?.conditions)?.message !== message) events.warning(object, 'HostsNotWritten', message);
  return nextStatus(object, { conditions: conditions.list() });
}

const conditionsOf = ({ status }: DNSData, now: number): Conditions =>
  new Conditions({
    about: { HostsAccepted: 'Hosts not checked', ServiceConfigReady: 'Service config create not started' },
    before: status?.conditions,
    now,
  });
