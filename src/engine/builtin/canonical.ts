import type { Json, JsonObject } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import { formatQuantity, parseQuantity } from '../../api/quantity.ts';
import { setKey } from './reading.ts';
import { omittedWhenEmpty, type Spelling, spellingOf } from './schemas.ts';

/**
 * Brings an object of a built-in kind to the form in which Go would write it, so that what means the same is the same:
 * fields that are null or say nothing are absent; quantities, timestamps and base64 have one spelling. Values that are no
 * such thing stay as they are, for validation to find.
 */
export function canonicalize(object: JsonObject, schema: JsonSchema): void {
  // A stack instead of recursion: schemas are cyclic, and how deep the object goes is the sender's choice.
  const open: [JsonObject | Json[], JsonSchema][] = [[object, schema]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, node] = next;
    if (node['x-kubernetes-preserve-unknown-fields'] === true) continue;
    const empties = omittedWhenEmpty(node);
    for (const [key, child] of Object.entries(value)) {
      const childSchema = schemaOfChild(node, value, key);
      if (child === null && !Array.isArray(value)) {
        // In a map of texts, null is the empty text: that is how Go reads it.
        if (node.additionalProperties === childSchema && childSchema?.type === 'string') setKey(value, key, '');
        else delete value[key];
      } else if (isEmpty(child, childSchema?.type) && !Array.isArray(value) && empties.has(key)) {
        delete value[key];
      } else if (childSchema !== undefined) {
        const spelling = spellingOf(childSchema);
        if (spelling !== undefined) respell(value, key, child, spelling);
        else if (typeof child === 'object' && child !== null) open.push([child, childSchema]);
      }
    }
  }
}

/** Whether a value says nothing. What would say nothing in a field of another type is a mistake, and stays to be found. */
function isEmpty(value: Json, type: string | undefined): boolean {
  const own = Array.isArray(value) ? 'array' : typeof value;
  if (type !== undefined && own !== (type === 'integer' ? 'number' : type)) return false;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === '' || value === 0 || value === false;
}

function schemaOfChild(node: JsonSchema, value: JsonObject | Json[], key: string): JsonSchema | undefined {
  if (Array.isArray(value)) return node.items;
  if (node.properties !== undefined && Object.hasOwn(node.properties, key)) return node.properties[key];
  return typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined;
}

function respell(holder: JsonObject | Json[], key: string, value: Json, spelling: Spelling): void {
  const better = respelled(value, spelling);
  if (better !== value) setKey(holder, key, better);
}

function respelled(value: Json, spelling: Spelling): Json {
  if (spelling === 'quantity') {
    const quantity = parseQuantity(value);
    return quantity === undefined ? value : formatQuantity(quantity);
  }
  if (typeof value !== 'string') return value;
  // Go's decoder passes over line breaks.
  if (spelling === 'bytes') return value.replace(/[\r\n]+/g, '');
  return utc(value, spelling === 'microTime');
}

function utc(text: string, inMicroseconds: boolean): string {
  const parts = /^(\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/.exec(text);
  if (parts === null) return text;
  const [, moment = '', fraction = '', zone = ''] = parts;
  const time = Date.parse(`${moment.toUpperCase()}${zone.toUpperCase()}`);
  if (Number.isNaN(time)) return text;
  const seconds = new Date(time).toISOString().slice(0, 19);
  return inMicroseconds ? `${seconds}.${fraction.slice(0, 6).padEnd(6, '0')}Z` : `${seconds}Z`;
}
