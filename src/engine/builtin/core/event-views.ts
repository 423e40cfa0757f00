import type { JsonObject } from '../../../api/json.ts';

/** Gives an event in the form in which it is stored. */
export type Reader = (event: JsonObject) => JsonObject;

/** Stored name → name in events.k8s.io, where they differ. */
const RENAMED = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
] as const;
export const TO_STORED = new Map<string, string>(RENAMED.map(([stored, shown]) => [shown, stored]));
const FROM_STORED = new Map<string, string>(RENAMED);

export function toStored(event: JsonObject): JsonObject {
  return { ...renamed(event, TO_STORED), apiVersion: 'v1' };
}

export function fromStored(event: JsonObject): JsonObject {
  return { ...renamed(event, FROM_STORED), apiVersion: 'events.k8s.io/v1' };
}

const renamed = (event: JsonObject, names: ReadonlyMap<string, string>): JsonObject =>
  Object.fromEntries(Object.entries(event).map(([name, value]) => [names.get(name) ?? name, value]));
