import { isJsonObject, type Json, type JsonObject } from '../../../api/json.ts';
import { fieldOf } from '../own-fields.ts';
import { encodeManagers, type Managers } from './managers.ts';

export function managedFieldsOf(object: JsonObject): Json | undefined {
  const metadata = fieldOf(object, 'metadata');
  return isJsonObject(metadata) ? fieldOf(metadata, 'managedFields') : undefined;
}

/** The object with these managers in its metadata, and no managedFields when there are none. */
export function withManagers(object: JsonObject, managers: Managers): JsonObject {
  if (managers.size === 0) return withManagedFields(object, undefined);
  const entries = encodeManagers(managers);
  const before = managedFieldsOf(object);
  const isSame =
    Array.isArray(before) &&
    before.length === entries.length &&
    entries.every((entry, index) => entry === before[index]);
  return isSame ? object : withManagedFields(object, entries);
}

export function withManagedFields(object: JsonObject, entries: Json | undefined): JsonObject {
  if (managedFieldsOf(object) === entries) return object;
  const before = fieldOf(object, 'metadata');
  const metadata: JsonObject = isJsonObject(before) ? { ...before } : {};
  if (entries === undefined) delete metadata['managedFields'];
  else metadata['managedFields'] = entries;
  return { ...object, metadata };
}
