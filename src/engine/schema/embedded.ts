import type { Json, JsonObject } from '../../api/json.ts';
import { isJsonObject } from '../../api/json.ts';
import type { FieldError } from '../../api/status.ts';
import {
  dns1035LabelFaults,
  dnsLabelFaults,
  labelValueFaults,
  pathSegmentFaults,
  qualifiedNameFaults,
} from '../../api/syntax.ts';
import type { Place } from './place.ts';

const MAX_ANNOTATIONS = 256 * 1024;

/** What every object embedded in another must have: an apiVersion, a kind, and metadata that could be stored. */
export function embeddedResourceFaults(object: JsonObject, place: Place): FieldError[] {
  const faults: FieldError[] = [];
  const say: Say = (path, value, detail) =>
    faults.push({ type: 'Invalid', field: place.bracketed(...path), value, detail });
  for (const field of ['apiVersion', 'kind']) {
    const value = object[field];
    if (value === undefined) {
      faults.push({ type: 'Required', field: place.bracketed(field), detail: 'must not be empty' });
    } else if (typeof value !== 'string') say([field], value, 'must be a string');
    else if (value === '') say([field], value, 'must not be empty');
    else if (field === 'apiVersion' && value.split('/', 3).length > 2) {
      say([field], value, `unexpected GroupVersion string: ${value}`);
    } else if (field === 'kind') {
      const wrong = dns1035LabelFaults(value.toLowerCase());
      if (wrong.length > 0) {
        say([field], value, `may have mixed case, but should otherwise match: ${wrong.join(',')}`);
      }
    }
  }
  const metadata = object['metadata'];
  if (isJsonObject(metadata)) metadataFaults(metadata, say);
  else if (metadata !== undefined && metadata !== null) say(['metadata'], metadata, 'must be an object');
  return faults;
}

type Say = (path: string[], value: Json, detail: string) => void;

function metadataFaults(metadata: JsonObject, say: Say): void {
  for (const [field, check] of [
    ['name', pathSegmentFaults],
    ['generateName', pathSegmentFaults],
    ['namespace', dnsLabelFaults],
  ] as const) {
    const value = metadata[field];
    if (value === undefined || value === null || value === '') continue;
    if (typeof value !== 'string') say(['metadata', field], value, 'must be a string');
    else for (const fault of check(value)) say(['metadata', field], value, fault);
  }
  for (const [key, value] of stringsIn(metadata, 'labels', say)) {
    for (const fault of qualifiedNameFaults(key)) say(['metadata', 'labels'], key, fault);
    for (const fault of labelValueFaults(value)) say(['metadata', 'labels'], value, fault);
  }
  let size = 0;
  for (const [key, value] of stringsIn(metadata, 'annotations', say)) {
    for (const fault of qualifiedNameFaults(key.toLowerCase())) say(['metadata', 'annotations'], key, fault);
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (size > MAX_ANNOTATIONS) say(['metadata', 'annotations'], size, `may not be more than ${MAX_ANNOTATIONS} bytes`);
}

function stringsIn(metadata: JsonObject, field: string, say: Say): [string, string][] {
  const map = metadata[field];
  if (map === undefined || map === null) return [];
  if (!isJsonObject(map)) {
    say(['metadata', field], map, 'must be a map of strings');
    return [];
  }
  const strings: [string, string][] = [];
  for (const [key, value] of Object.entries(map)) {
    if (typeof value === 'string') strings.push([key, value]);
    else if (value !== null) say(['metadata', field, key], value, 'must be a string');
  }
  return strings;
}
