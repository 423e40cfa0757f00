import type { JsonObject } from '../../api/json.ts';
import { badRequest, conflict, type FieldError, invalid, notFound } from '../../api/status.ts';
import {
  entriesAt,
  isAbsent,
  metadataOf,
  nameOf,
  objectAt,
  objectMadeAt,
  objectsAt,
  specOf,
  textAt,
} from '../builtin/reading.ts';
import type { Context, Target, WriteOptions } from '../objects/context.ts';
import { encodeAt, objectOf, toStorage } from '../objects/encoding.ts';
import { RevisionMismatch } from '../store/errors.ts';
import { setCondition } from './conditions.ts';

/** Places a pod on a node, once: what a scheduler does. */
export async function bind(
  context: Context,
  target: Target,
  binding: JsonObject,
  options: WriteOptions,
): Promise<void> {
  if (nameOf(binding) !== target.name) throw badRequest('name in URL does not match name in Binding object');
  const faults = targetFaults(binding);
  if (faults.length > 0) throw invalid({ group: '', kind: 'Binding' }, target.name, faults);
  for (;;) {
    try {
      await place(context, target, binding, options);
      return;
    } catch (error) {
      if (!(error instanceof RevisionMismatch)) throw error;
    }
  }
}

function targetFaults(binding: JsonObject): FieldError[] {
  const node = objectAt(binding, 'target');
  const kind = textAt(node, 'kind');
  const faults: FieldError[] = [];
  if (kind !== '' && kind !== 'Node') {
    const detail = 'supported values: "Node", "<empty>"';
    faults.push({ type: 'NotSupported', field: 'target.kind', value: kind, detail });
  }
  if (textAt(node, 'name') === '') faults.push({ type: 'Required', field: 'target.name', detail: '' });
  return faults;
}

async function place(context: Context, target: Target, binding: JsonObject, options: WriteOptions): Promise<void> {
  const { endpoint, namespace, name } = target;
  const old = context.store.newest(endpoint.resource.id, namespace, name);
  if (old === undefined) throw notFound(endpoint.resource, name);
  const pod = objectOf(endpoint, old);
  const refuse = (why: string) => conflict({ group: '', plural: 'pods/binding', kind: 'Binding' }, name, why);
  const { uid, resourceVersion } = metadataOf(binding);
  if ((uid ?? '') !== '' && uid !== metadataOf(pod)['uid']) {
    throw refuse(`Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadataOf(pod)['uid']}`);
  }
  if ((resourceVersion ?? '') !== '' && resourceVersion !== String(old.revision)) {
    throw refuse(
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${old.revision}`,
    );
  }
  if (!isAbsent(metadataOf(pod), 'deletionTimestamp')) {
    throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  }
  const there = textAt(specOf(pod), 'nodeName');
  if (there !== '') throw refuse(`pod ${name} is already assigned to node "${there}"`);
  if (objectsAt(specOf(pod), 'schedulingGates').length > 0) {
    throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
  }
  objectMadeAt(pod, 'spec')['nodeName'] = textAt(objectAt(binding, 'target'), 'name');
  const annotations = entriesAt(metadataOf(binding), 'annotations');
  if (annotations.length > 0)
    Object.assign(objectMadeAt(metadataOf(pod), 'annotations'), Object.fromEntries(annotations));
  setCondition(pod, { type: 'PodScheduled', status: 'True' }, context.timestamp());
  if (options.dryRun) return;
  const stored = toStorage(endpoint, pod);
  await context.store.put({
    resource: endpoint.resource.id,
    namespace,
    name,
    expected: old.revision,
    encode: (revision) => encodeAt(stored, revision),
  });
}
