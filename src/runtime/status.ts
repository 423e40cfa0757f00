import type { Json, JsonObject } from '../api/json.ts';
import type { Kind } from '../api/kind.ts';
import type { ApiObject } from '../api/object.ts';
import type { Client } from './client.ts';
import type { StatusOf } from './draft.ts';
import { mergePatch } from './merge-patch.ts';
import { refOf } from './ref.ts';

/**
 * Writes what differs from the status that `object` has, and nothing when nothing does. Refused with a conflict when
 * the object was changed in between: what was concluded from an old object must not overwrite what is known of the new.
 */
export async function writeStatus<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  object: T,
  status: StatusOf<T>,
): Promise<T> {
  const changes = changesOf(object, status);
  if (changes === undefined) return object;
  const metadata = { resourceVersion: object.metadata.resourceVersion };
  return client.patch(kind, refOf(object), { merge: { metadata, status: changes } }, 'status');
}

/** Whether there is nothing to write. Servers differ in which fields without a value they leave out and which are null. */
export const saysStatus = <T extends ApiObject>(object: T, status: StatusOf<T>): boolean =>
  changesOf(object, status) === undefined;

const changesOf = (object: ApiObject, status: unknown) => mergePatch(plain(statusIn(object)), plain(status));

/** The status as it is, changed in some fields, and marked as being about the object as it is now. */
export const nextStatus = <T extends ApiObject, Changes extends object>(
  object: T,
  changes: Changes,
): Changes & { observedGeneration: number } => ({
  ...statusIn(object),
  ...changes,
  observedGeneration: object.metadata.generation ?? 0,
});

/** Whether the status is about the object as it is now. */
export function isObserved(object: ApiObject): boolean {
  const status = statusIn(object);
  return 'observedGeneration' in status && status.observedGeneration === object.metadata.generation;
}

function statusIn(object: ApiObject): object {
  const status: unknown = 'status' in object ? object.status : undefined;
  return typeof status === 'object' && status !== null ? status : {};
}

/** As it will be on the wire. Null is what a merge patch says for absent, so a field set to null is one left out. */
function plain(value: unknown): JsonObject {
  const said: JsonObject = {};
  for (const [key, inner] of Object.entries(value ?? {})) {
    const json = onTheWire(inner);
    if (json !== undefined) said[key] = json;
  }
  return said;
}

function onTheWire(value: unknown): Json | undefined {
  if (Array.isArray(value)) return value.map((item) => onTheWire(item) ?? null);
  if (typeof value === 'object' && value !== null) return plain(value);
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
