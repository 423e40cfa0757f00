import { isJsonObject, type JsonObject } from '../../api/json.ts';
import type { ApiObject } from '../../api/object.ts';
import { ApiError, badRequest, forbidden, internalError, notFound } from '../../api/status.ts';
import { selects } from '../builtin/label-selectors.ts';
import {
  entriesAt,
  isAbsent,
  metadataOf,
  nameOf,
  numberAt,
  objectAt,
  objectMadeAt,
  objectsAt,
  specOf,
  statusOf,
  textAt,
  textMapAt,
} from '../builtin/reading.ts';
import type { Context, Target, WriteOptions } from '../objects/context.ts';
import { type DeleteOptions, remove } from '../objects/delete.ts';
import { encodeAt, objectOf, toStorage } from '../objects/encoding.ts';
import type { Endpoint } from '../resources/resource.ts';
import { RevisionMismatch } from '../store/errors.ts';
import type { Version } from '../store/version.ts';
import { setCondition } from './conditions.ts';

/** Deletes a pod as `kubectl drain` does: unless those who need it say, by a disruption budget, that it may not go now. */
export async function evict(
  context: Context,
  target: Target,
  eviction: JsonObject,
  wishes: DeleteOptions,
  options: WriteOptions,
): Promise<void> {
  if (nameOf(eviction) !== target.name) throw badRequest('name in URL does not match name in Eviction object');
  const { endpoint, namespace, name } = target;
  for (let isCounted = false; ; ) {
    const version = context.store.newest(endpoint.resource.id, namespace, name);
    if (version === undefined) throw notFound(endpoint.resource, name);
    const pod = objectOf(endpoint, version);
    await requireLeave(context, target, pod, options);
    try {
      if (!isCounted && !isGoingAnyway(pod)) isCounted = await askBudget(context, namespace, pod, options);
      if (!options.dryRun) await markAsTarget(context, target, version, pod);
      break;
    } catch (error) {
      // Somebody has written the budget or the pod meanwhile: judged anew, but counted only once.
      if (!(error instanceof RevisionMismatch)) throw error;
    }
  }
  await remove(context, { ...target, subresource: '' }, wishes, options);
}

/** Before anything is counted or marked: whoever may not evict this pod leaves no trace on it. */
async function requireLeave(
  { admission }: Context,
  { endpoint, namespace, name }: Target,
  pod: JsonObject,
  { dryRun, user, warnings }: WriteOptions,
): Promise<void> {
  const oldObject = pod as unknown as ApiObject;
  const request = { operation: 'CREATE', subresource: 'eviction', namespace, name, dryRun, user, oldObject } as const;
  warnings.push(...(await admission.validate(endpoint.resource, request)));
}

/** Pods that do no work yet, or no more, are missed by nobody. */
const isGoingAnyway = (pod: JsonObject): boolean =>
  ['Succeeded', 'Failed', 'Pending'].includes(textAt(statusOf(pod), 'phase')) ||
  !isAbsent(metadataOf(pod), 'deletionTimestamp');

/** Says on the pod why it goes. */
async function markAsTarget(
  context: Context,
  { endpoint, namespace, name }: Target,
  version: Version,
  pod: JsonObject,
): Promise<void> {
  if (!isAbsent(metadataOf(pod), 'deletionTimestamp')) return;
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  setCondition(pod, condition, context.timestamp());
  const stored = toStorage(endpoint, pod);
  await context.store.put({
    resource: endpoint.resource.id,
    namespace,
    name,
    expected: version.revision,
    encode: (revision) => encodeAt(stored, revision),
  });
}

const BUDGETS = 'poddisruptionbudgets.policy';

/** Throws 429 if the pod may not go. Returns whether it has been counted among those that may be missing. */
async function askBudget(
  context: Context,
  namespace: string,
  pod: JsonObject,
  options: WriteOptions,
): Promise<boolean> {
  const endpoint = context.catalog.endpoint('policy', 'v1', 'poddisruptionbudgets');
  if (endpoint === undefined) return false;
  const labels = textMapAt(metadataOf(pod), 'labels');
  const budgets = context.store
    .list({ resource: BUDGETS, namespace })
    // With what somebody else has just written, which is not on the disk yet: whoever starts from less tries for ever, as
    // the write that he waits for has no turn meanwhile.
    .versions.flatMap(({ name }) => context.store.newest(BUDGETS, namespace, name) ?? [])
    .map((version) => ({ version, budget: objectOf(endpoint, version) }))
    .filter(({ budget }) => {
      const selector = objectAt(specOf(budget), 'selector');
      return selector !== undefined && selects(selector, labels);
    });
  const [first, second] = budgets;
  if (first === undefined) return false;
  if (second !== undefined) {
    throw internalError(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  if (!isReady(pod) && needsNoCount(first.budget)) return false;
  await take(context, endpoint, first, pod, options);
  return true;
}

const isReady = (pod: JsonObject): boolean =>
  objectsAt(statusOf(pod), 'conditions').some(
    (condition) => condition['type'] === 'Ready' && condition['status'] === 'True',
  );

/** A pod that is not ready was not counted as healthy: it may go if enough others are, or if the budget says so. */
function needsNoCount(budget: JsonObject): boolean {
  if (textAt(specOf(budget), 'unhealthyPodEvictionPolicy') === 'AlwaysAllow') return true;
  const status = statusOf(budget);
  const desired = numberAt(status, 'desiredHealthy');
  return desired > 0 && numberAt(status, 'currentHealthy') >= desired;
}

/** As many evictions as may be under way without anybody having seen that the pods are gone. */
const MOST_UNSEEN = 2000;

async function take(
  context: Context,
  endpoint: Endpoint,
  { version, budget }: { version: Version; budget: JsonObject },
  pod: JsonObject,
  options: WriteOptions,
): Promise<void> {
  const status = objectMadeAt(budget, 'status');
  const name = nameOf(budget);
  const allowed = numberAt(status, 'disruptionsAllowed');
  if (numberAt(status, 'observedGeneration') < numberAt(metadataOf(budget), 'generation')) {
    throw violation(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  const budgetName = { group: 'policy', plural: 'poddisruptionbudget', kind: 'PodDisruptionBudget' };
  if (allowed < 0) throw forbidden(budgetName, name, 'pdb disruptions allowed is negative');
  if (entriesAt(status, 'disruptedPods').length > MOST_UNSEEN) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw forbidden(budgetName, name, why);
  }
  if (allowed === 0) {
    const [needed, there] = [numberAt(status, 'desiredHealthy'), numberAt(status, 'currentHealthy')];
    throw violation(`The disruption budget ${name} needs ${needed} healthy pods and has ${there} currently`, 0);
  }
  status['disruptionsAllowed'] = allowed - 1;
  if (allowed === 1) {
    const condition = { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods', message: '' };
    const observed = numberAt(status, 'observedGeneration');
    setCondition(budget, { ...condition, observedGeneration: observed }, context.timestamp());
  }
  if (options.dryRun) return;
  // Whoever keeps the budget's numbers does not count this pod as healthy, even before it is gone.
  const disrupted = isJsonObject(status['disruptedPods']) ? status['disruptedPods'] : {};
  status['disruptedPods'] = { ...disrupted, [nameOf(pod)]: context.timestamp() };
  const stored = toStorage(endpoint, budget);
  await context.store.put({
    resource: BUDGETS,
    namespace: version.namespace,
    name,
    expected: version.revision,
    encode: (revision) => encodeAt(stored, revision),
  });
}

const violation = (message: string, retryAfterSeconds: number): ApiError =>
  new ApiError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
    ...(retryAfterSeconds === 0 ? {} : { retryAfterSeconds }),
  });
