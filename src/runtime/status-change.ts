import type { ApiObject, ObjectMeta } from '../api/object.ts';
import type { Change } from './informer.ts';

/** Whether an object stayed as it was, except for its status. Where the server does not count generations nobody can say. */
export function changesStatusOnly({ before, now }: Change<ApiObject>): boolean {
  if (before === undefined || now === undefined || now.metadata.generation === undefined) return false;
  return outsideOfStatus(before.metadata) === outsideOfStatus(now.metadata);
}

/** What a write of the status leaves alone. The generation stands for everything but the metadata. */
function outsideOfStatus({ uid, generation, deletionTimestamp, ...metadata }: ObjectMeta): string {
  const { labels, annotations, ownerReferences, finalizers } = metadata;
  return JSON.stringify([uid, generation, deletionTimestamp, labels, annotations, ownerReferences, finalizers]);
}
