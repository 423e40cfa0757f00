import { type PodTemplate, StatefulSet } from '../../api/apps/workloads.ts';
import { Pod } from '../../api/core/pod.ts';
import type { ApiObject } from '../../api/object.ts';
import { ApiError } from '../../api/status.ts';
import type { Context } from '../../runtime/controller.ts';
import { asError } from '../../runtime/log.ts';
import { refOf } from '../../runtime/ref.ts';
import { podName, podOf } from './template.ts';
import type { Unheard } from './unheard.ts';

type Tools = Pick<Context, 'client' | 'events' | 'system'> & { readonly unheard: Unheard<Pod> };

/** Names that a workload may have used: whether the server made the pod was never heard, or it refused to. */
export class SpareNames {
  readonly #names = new Map<string, string[]>();

  /** One that is not taken: a pod of which the server said nothing may have been heard of since, and is counted already. */
  take(owner: string, isTaken: (name: string) => boolean): string | undefined {
    const names = this.#names.get(owner) ?? [];
    const free = names.findIndex((name) => !isTaken(name));
    const left = free < 0 ? [] : names.slice(free + 1);
    if (left.length === 0) this.#names.delete(owner);
    else this.#names.set(owner, left);
    return names[free];
  }

  keep(owner: string, name: string): void {
    this.#names.set(owner, [...(this.#names.get(owner) ?? []), name]);
  }

  forget(owner: string): void {
    this.#names.delete(owner);
  }
}

/**
 * Makes so many pods: first one, then twice as many each time, so that what is always refused is not asked for hundreds of
 * times. The names are ours, so that a pod whose making was never confirmed is asked for again and not made again.
 * @returns the first refusal
 */
export async function createPods(
  owner: ApiObject,
  template: PodTemplate,
  count: number,
  tools: Tools & { readonly spare: SpareNames },
): Promise<Error | undefined> {
  let left = count;
  for (let batch = 1; left > 0; batch *= 2) {
    const size = Math.min(batch, left);
    const made = await Promise.all(Array.from({ length: size }, () => createPod(owner, template, tools)));
    const refusal = made.find((each) => each !== undefined);
    if (refusal !== undefined) return refusal;
    left -= size;
  }
  return undefined;
}

async function createPod(
  owner: ApiObject,
  template: PodTemplate,
  tools: Tools & { readonly spare: SpareNames },
): Promise<Error | undefined> {
  const { uid, name: base, namespace = '' } = owner.metadata;
  const isTaken = (name: string): boolean => tools.unheard.knows({ namespace, name });
  const name = tools.spare.take(uid, isTaken) ?? podName(base, tools.system);
  const error = await makePod(owner, template, name, tools);
  if (error !== undefined) tools.spare.keep(uid, name);
  return error;
}

/** Makes one pod of this name, unless the owner has it already. */
export async function makePod(
  owner: ApiObject,
  template: PodTemplate,
  name: string,
  { client, events, unheard }: Tools,
): Promise<Error | undefined> {
  const { uid, namespace = '' } = owner.metadata;
  unheard.expectNew(uid, { namespace, name });
  try {
    await client.create(Pod, podOf(owner, template, name));
    events.normal(owner, 'SuccessfulCreate', success(owner, 'create', name));
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'AlreadyExists') {
      const found = await client.get(Pod, name, namespace).catch(() => undefined);
      if (found?.metadata.ownerReferences?.some((reference) => reference.uid === uid) === true) {
        unheard.check(uid, { namespace, name });
        return undefined;
      }
    }
    unheard.forget(uid, { namespace, name });
    if (isRefusal(error) && !isForEndOfNamespace(error)) {
      events.warning(owner, 'FailedCreate', failure(owner, 'create', name, error));
    }
    return asError(error);
  }
}

/** @returns the first refusal */
export async function deletePods(owner: ApiObject, pods: readonly Pod[], tools: Tools): Promise<Error | undefined> {
  const ends = await Promise.all(pods.map((pod) => deletePod(owner, pod, tools)));
  return ends.find((each) => each !== undefined);
}

export async function deletePod(
  owner: ApiObject,
  pod: Pod,
  { client, events, unheard }: Tools,
): Promise<Error | undefined> {
  const { uid } = pod.metadata;
  unheard.expectEnd(owner.metadata.uid, pod);
  try {
    const wasThere = await client.delete(Pod, refOf(pod), { uid });
    if (!wasThere) unheard.check(owner.metadata.uid, refOf(pod));
    if (wasThere) events.normal(owner, 'SuccessfulDelete', success(owner, 'delete', pod.metadata.name));
    return undefined;
  } catch (error) {
    // Another pod has the name by now: this one is gone.
    if (error instanceof ApiError && error.code === 409) return undefined;
    unheard.failed(owner.metadata.uid, refOf(pod), error);
    if (isRefusal(error)) events.warning(owner, 'FailedDelete', failure(owner, 'delete', pod.metadata.name, error));
    return asError(error);
  }
}

/** Kubernetes tells the same of a StatefulSet in other words than of a ReplicaSet. */
const success = (owner: ApiObject, verb: 'create' | 'delete', pod: string): string =>
  owner.kind === StatefulSet.kind
    ? `${verb} Pod ${pod} in StatefulSet ${owner.metadata.name} successful`
    : `${verb === 'create' ? 'Created' : 'Deleted'} pod: ${pod}`;

const failure = (owner: ApiObject, verb: 'create' | 'delete', pod: string, { message }: Error): string =>
  owner.kind === StatefulSet.kind
    ? `${verb} Pod ${pod} in StatefulSet ${owner.metadata.name} failed error: ${message}`
    : `Error ${verb === 'create' ? 'creating' : 'deleting'}: ${message}`;

const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code >= 400 && error.code < 500 && error.code !== 429;

const isForEndOfNamespace = ({ status }: ApiError): boolean =>
  status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true;
