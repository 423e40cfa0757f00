import type { Admission } from '../../api/admission.ts';
import { builtinKind } from '../../api/kind.ts';
import { ApiError, forbidden } from '../../api/status.ts';
import { SYSTEM_CLASSES } from '../builtin/scheduling/system-classes.ts';
import type { Context } from '../objects/context.ts';
import { create } from '../objects/create.ts';
import { storageEndpoint } from './garbage-collector.ts';
import { internalOptions } from './internal-options.ts';

const RESOURCE = 'priorityclasses.scheduling.k8s.io';
const PriorityClass = builtinKind('scheduling.k8s.io', 'v1', 'PriorityClass', 'priorityclasses', 'Cluster');

/** Makes the classes that are there from the start. */
export async function createSystemClasses(context: Context): Promise<void> {
  const endpoint = storageEndpoint(context, RESOURCE);
  if (endpoint === undefined) return;
  for (const { name, value, description } of SYSTEM_CLASSES) {
    if (context.store.newest(RESOURCE, '', name) !== undefined) continue;
    const object = { metadata: { name }, value, description };
    const target = { endpoint, namespace: '', name: '', subresource: '' };
    try {
      await create(context, target, { object, duplicates: [] }, internalOptions('netloom'));
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 409)) throw error;
    }
  }
}

/** Pods of the system name these classes: nobody deletes them. */
export const lastingClasses: Admission = {
  kind: PriorityClass,
  operations: ['DELETE'],
  validate({ name }) {
    if (SYSTEM_CLASSES.some((each) => each.name === name)) {
      throw forbidden(PriorityClass, name, 'this is a system priority class and cannot be deleted');
    }
    return [];
  },
};
