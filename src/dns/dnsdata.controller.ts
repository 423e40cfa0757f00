import { ConfigMap } from '../api/core/config.ts';
import { DNSData, type DNSDataStatus } from '../api/network.openstack.org/dnsdata.ts';
import { Conditions, readyOf } from '../runtime/conditions.ts';
import { type Context, type Controller, controller } from '../runtime/controller.ts';
import { done, wait } from '../runtime/outcome.ts';
import { nextStatus } from '../runtime/status.ts';
import { fingerprint } from './fingerprint.ts';
import { hostsFile, leftOut, textOf, textOfLine } from './hosts-file.ts';
import { byController, HOSTS_LABEL, labelsOf, selectorValue } from './names.ts';
import { somebodyElses } from './ownership.ts';
import { losersLast, shards } from './shards.ts';

/** Writes the hosts of a DNSData into ConfigMaps, where DNSMasqs look for them. */
export const dnsData = (): Controller =>
  controller({
    for: DNSData,
    owns: [ConfigMap],
    parallel: 8,
    finalizer: {
      name: 'openstack.org/dnsdata',
      former: ['DNSData'],
      // What it owns is garbage when it is gone.
      release: async () => done(),
    },
    async reconcile(object, context) {
      const { lines, faults } = hostsFile(object.spec.hosts ?? []);
      const parts = shards(lines, {
        // A host that gets another address stays in its ConfigMap.
        keyOf: ({ names }) => names[0] ?? '',
        sizeOf: (line) => textOfLine(line).length,
        limit: LARGEST_CONFIG_MAP,
      });
      const { namespace = '' } = object.metadata;
      const texts = parts.map(textOf);
      const names = texts.map((_, i) => configMapName(object, i));
      const found = names.map((name) => context.caches.of(ConfigMap).get({ namespace, name }));
      for (const [i, name] of names.entries()) {
        const holder = somebodyElses(object, found[i]);
        if (holder !== undefined) return wait({ status: withoutConfigMap(object, `${name} ${holder}`, context) });
      }
      const configMaps = texts.map((text, i) => ({
        metadata: metadataOf(object, names[i] ?? ''),
        data: { [keyOf(object, i)]: text },
      }));
      const former = found.map((configMap, i) => configMap?.data?.[keyOf(object, i)] ?? '');
      for (const i of losersLast(former, texts)) {
        await context.children.apply(ConfigMap, configMaps[i] ?? { metadata: { name: '' } }, object);
      }
      await removeSurplus(object, new Set(names), context);
      const hash = fingerprint(configMaps.map(({ metadata, data }) => [metadata.name, fingerprint(data)]));
      return done({ status: statusOf(object, faults, hash, context) });
    },
  });

/** A ConfigMap may have 1 MiB. But who changes one record sends, stores and reads the whole of the one that it is in. */
const LARGEST_CONFIG_MAP = 64 * 1024;

const configMapName = ({ metadata: { name } }: DNSData, shard: number): string =>
  shard === 0 ? name.toLowerCase() : `${name.toLowerCase()}-shard-${shard}`;

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
  const message = `Service config create error occurred ConfigMap ${why}`;
  conditions.failed('ServiceConfigReady', message, { severity: 'Error' });
  if (readyOf(object.status?.conditions)?.message !== message) events.warning(object, 'ConfigMapTaken', message);
  return nextStatus(object, { conditions: conditions.list() });
}

const conditionsOf = ({ status }: DNSData, now: number): Conditions =>
  new Conditions({
    about: { HostsAccepted: 'Hosts not checked', ServiceConfigReady: 'Service config create not started' },
    before: status?.conditions,
    now,
  });
