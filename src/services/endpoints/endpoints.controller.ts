import { Endpoints } from '../../api/core/endpoints.ts';
import { Pod } from '../../api/core/pod.ts';
import { Service } from '../../api/core/service.ts';
import { equalJson, type Json } from '../../api/json.ts';
import { ApiError } from '../../api/status.ts';
import { type Context, type Controller, controller } from '../../runtime/controller.ts';
import { done, wait } from '../../runtime/outcome.ts';
import { ownedBy } from '../../runtime/owner.ts';
import { keyOfObject, refOf } from '../../runtime/ref.ts';
import { isSelecting, podsOf, servicesOf } from './selection.ts';
import { labelsFor } from './slices.controller.ts';
import { subsetsOf } from './subsets.ts';

const MANAGED_BY = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' };
const OVER_CAPACITY = 'endpoints.kubernetes.io/over-capacity';

/** One object holds all endpoints, so with many of them it is written at most this often, in milliseconds. */
const SELDOM = 1_000;
const MANY = 100;
/** News that are on their way for so long are looked for once more. */
const LATE = 1_000;

/** Says the same as EndpointSlices in the older form, for those who read that. */
export const endpoints = (): Controller => {
  /** Service → when its endpoints were last written. */
  const written = new Map<string, number>();
  return controller({
    name: 'endpoints',
    for: Service,
    watches: [
      { kind: Pod, wakes: servicesOf },
      { kind: Endpoints, wakes: (object) => [refOf(object)] },
    ],
    parallel: 16,
    async reconcile(service, context) {
      const { caches, system } = context;
      if (!isSelecting(service) || service.metadata.deletionTimestamp !== undefined) return done();
      const key = keyOfObject(service);
      const pods = podsOf(service, caches.of(Pod));
      const left = (written.get(key) ?? Number.NEGATIVE_INFINITY) + SELDOM - system.uptime();
      if (pods.length > MANY && left > 0) return wait({ after: left });
      const isWritten = await write(service, pods, context);
      if (isWritten === 'late') return wait({ after: LATE });
      if (isWritten === 'now') written.set(key, system.uptime());
      return done();
    },
    async gone(ref, { client, caches }) {
      written.delete(`${ref.namespace}/${ref.name}`);
      const found = caches.of(Endpoints).get(ref);
      // Those that people wrote too: without their Service they mean nothing.
      if (found !== undefined) await client.delete(Endpoints, ref, { uid: found.metadata.uid });
    },
  });
};

async function write(service: Service, pods: readonly Pod[], { caches, client }: Context) {
  const { name, namespace = '' } = service.metadata;
  const { subsets, isTruncated } = subsetsOf(service, pods);
  const found = caches.of(Endpoints).get({ namespace, name });
  const { [OVER_CAPACITY]: _, ...others } = found?.metadata.annotations ?? {};
  const annotations = isTruncated ? { ...others, [OVER_CAPACITY]: 'truncated' } : others;
  const labels = { ...labelsFor(service), ...MANAGED_BY };
  const ownerReferences = [ownedBy(service)];
  if (found === undefined) {
    try {
      await client.create(Endpoints, { metadata: { name, namespace, labels, annotations, ownerReferences }, subsets });
      return 'now';
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'AlreadyExists') return 'late';
      throw error;
    }
  }
  const wanted = { ...found, metadata: { ...found.metadata, labels, annotations, ownerReferences }, subsets };
  if (equalJson(substance(found), substance(wanted))) return 'before';
  await client.update(Endpoints, wanted);
  return 'now';
}

/** What counts of an object; the server leaves out what is empty. */
const substance = ({ metadata, subsets = [] }: Endpoints): Json =>
  JSON.parse(
    JSON.stringify([metadata.labels ?? {}, metadata.annotations ?? {}, metadata.ownerReferences ?? [], subsets]),
  );
