import type { Admission, LiveReader } from '../../api/admission.ts';
import type { JsonObject } from '../../api/json.ts';
import { builtinKind } from '../../api/kind.ts';
import type { ApiObject } from '../../api/object.ts';
import { forbidden } from '../../api/status.ts';
import { flagAt, isAbsent, nameOf, numberAt, objectMadeAt, specOf, textAt } from '../builtin/reading.ts';

const Pod = builtinKind('', 'v1', 'Pod', 'pods');
const PriorityClass = builtinKind<ApiObject>('scheduling.k8s.io', 'v1', 'PriorityClass', 'priorityclasses');

/** Gives pods the number that their class stands for: schedulers know numbers alone, and nobody writes them by himself. */
export const podPriorities: Admission = {
  kind: Pod,
  operations: ['CREATE', 'UPDATE'],
  async mutate({ operation, name, object, oldObject }, live) {
    const spec = objectMadeAt(asJson(object), 'spec');
    if (operation === 'UPDATE') keep(spec, specOf(asJson(oldObject)));
    else give(spec, await classFor(spec, name, live), name);
  },
};

/** Of classes for everybody there can be one. */
export const oneDefaultClass: Admission = {
  kind: PriorityClass,
  operations: ['CREATE', 'UPDATE'],
  async validate({ name, object }, live) {
    if (!flagAt(asJson(object), 'globalDefault')) return [];
    const other = (await live.list(PriorityClass)).find((each) => each.metadata.name !== name && isDefault(each));
    if (other === undefined) return [];
    const why = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`;
    throw forbidden(PriorityClass, name, why);
  },
};

/** Whoever writes the whole pod without what was filled in does not want it away. */
function keep(spec: JsonObject, old: JsonObject | undefined): void {
  for (const field of ['priority', 'preemptionPolicy']) {
    const value = old?.[field];
    if (isAbsent(spec, field) && value !== undefined) spec[field] = value;
  }
}

async function classFor(spec: JsonObject, pod: string, live: LiveReader): Promise<JsonObject | undefined> {
  const name = textAt(spec, 'priorityClassName');
  if (name === '') {
    const found = (await live.list(PriorityClass)).find(isDefault);
    return found && asJson(found);
  }
  const found = await live.get(PriorityClass, name);
  if (found === undefined) throw forbidden(Pod, pod, `no PriorityClass with name ${name} was found`);
  return asJson(found);
}

function give(spec: JsonObject, priorityClass: JsonObject | undefined, pod: string): void {
  const priority = priorityClass === undefined ? 0 : numberAt(priorityClass, 'value');
  const policy = (priorityClass && textAt(priorityClass, 'preemptionPolicy')) || 'PreemptLowerPriority';
  const computed = (value: number | string) =>
    `must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`;
  if (!isAbsent(spec, 'priority') && spec['priority'] !== priority) {
    throw forbidden(Pod, pod, `the integer value of priority (${spec['priority']}) ${computed(priority)}`);
  }
  if (!isAbsent(spec, 'preemptionPolicy') && spec['preemptionPolicy'] !== policy) {
    throw forbidden(Pod, pod, `the string value of PreemptionPolicy (${spec['preemptionPolicy']}) ${computed(policy)}`);
  }
  if (priorityClass !== undefined) spec['priorityClassName'] = nameOf(priorityClass);
  spec['priority'] = priority;
  spec['preemptionPolicy'] = policy;
}

const isDefault = (priorityClass: ApiObject): boolean => flagAt(asJson(priorityClass), 'globalDefault');

const asJson = (object: unknown): JsonObject => (object ?? {}) as JsonObject;
