import { isJsonObject, type Json, type JsonObject } from '../../../api/json.ts';
import { fieldOf } from '../own-fields.ts';
import type { FieldSet } from './field-set.ts';
import { decodeFields, encodeFields } from './fields-v1.ts';

/** One entry of metadata.managedFields. */
export interface Manager {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly fields: FieldSet;
  /** The entry as it was read, for as long as it says the same. */
  readonly entry?: JsonObject;
}

/** By identity. Never changed in place. */
export type Managers = ReadonlyMap<string, Manager>;

/**
 * What makes two writes come from one manager. An applier stays itself when it moves to another version of the API; whoever
 * updates in two versions is two managers.
 */
export function identityOf({
  name,
  operation,
  apiVersion,
  subresource,
}: Pick<Manager, 'name' | 'operation' | 'apiVersion' | 'subresource'>): string {
  return JSON.stringify([name, operation, operation === 'Apply' ? '' : apiVersion, subresource]);
}

/** Undefined when the entries are not what a server could have written. */
export function decodeManagers(managedFields: Json | undefined): Managers | undefined {
  if (managedFields === undefined || managedFields === null) return new Map();
  if (!Array.isArray(managedFields)) return undefined;
  const managers = new Map<string, Manager>();
  for (const entry of managedFields) {
    const manager = isJsonObject(entry) ? decodeManager(entry) : undefined;
    if (manager === undefined) return undefined;
    managers.set(identityOf(manager), manager);
  }
  return managers;
}

function decodeManager(entry: JsonObject): Manager | undefined {
  const operation = fieldOf(entry, 'operation');
  const apiVersion = fieldOf(entry, 'apiVersion');
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  if (typeof apiVersion !== 'string' || apiVersion === '' || fieldOf(entry, 'fieldsType') !== 'FieldsV1')
    return undefined;
  const fields = decodeFields(fieldOf(entry, 'fieldsV1') ?? {});
  if (fields === undefined) return undefined;
  const time = fieldOf(entry, 'time');
  return {
    name: textOf(entry, 'manager'),
    operation,
    apiVersion,
    subresource: textOf(entry, 'subresource'),
    time: typeof time === 'string' ? time : undefined,
    fields,
    entry,
  };
}

const textOf = (entry: JsonObject, field: string): string => {
  const value = fieldOf(entry, field);
  return typeof value === 'string' ? value : '';
};

export function encodeManagers(managers: Managers): JsonObject[] {
  return [...managers.values()].sort(byOperationThenTime).map((manager) => manager.entry ?? encodeManager(manager));
}

function encodeManager({ name, operation, apiVersion, time, subresource, fields }: Manager): JsonObject {
  return {
    manager: name,
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: encodeFields(fields),
    ...(subresource === '' ? {} : { subresource }),
  };
}

function byOperationThenTime(a: Manager, b: Manager): number {
  return (
    compareText(a.operation, b.operation) ||
    secondsOf(a) - secondsOf(b) ||
    compareText(a.name, b.name) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

/** A manager without a time counts as older than any. */
export function secondsOf({ time }: Manager): number {
  const milliseconds = time === undefined ? 0 : Date.parse(time);
  return Number.isNaN(milliseconds) ? 0 : Math.floor(milliseconds / 1000);
}

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The managers with one more, or one changed. */
export function withManager(managers: Managers, manager: Manager): Managers {
  return new Map(managers).set(identityOf(manager), manager);
}

export function withoutManager(managers: Managers, identity: string): Managers {
  const rest = new Map(managers);
  rest.delete(identity);
  return rest;
}

/** The managers after `change` to the fields of each; who is left with none is gone. */
export function withFields(managers: Managers, change: (manager: Manager, identity: string) => FieldSet): Managers {
  let result: Map<string, Manager> | undefined;
  for (const [identity, manager] of managers) {
    const fields = change(manager, identity);
    const isGone = fields.below.size === 0;
    if (fields === manager.fields && !isGone) continue;
    result ??= new Map(managers);
    if (isGone) result.delete(identity);
    else {
      const { entry: _, ...rest } = manager;
      result.set(identity, { ...rest, fields });
    }
  }
  return result ?? managers;
}
