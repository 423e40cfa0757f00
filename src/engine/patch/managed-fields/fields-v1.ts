import { isJsonObject, type Json, type JsonObject } from '../../../api/json.ts';
import { type FieldSet, leaf, node, noFields, union } from './field-set.ts';
import { parseElement } from './path-element.ts';

/** FieldsV1 as the set it stands for; undefined when it is not FieldsV1. */
export function decodeFields(fields: Json): FieldSet | undefined {
  if (!isJsonObject(fields)) return undefined;
  try {
    return decodeBelow(fields, false);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function decodeBelow(fields: JsonObject, owned: boolean): FieldSet {
  const below = new Map<string, FieldSet>();
  for (const text of Object.keys(fields)) {
    if (text === '.') continue;
    const element = parseElement(text);
    if (element === undefined) continue;
    const set = decodeNode(fields[text] ?? null);
    const twin = below.get(element);
    // Two spellings of one key (`{"a":1,"b":2}` and `{"b":2,"a":1}`) are one item.
    below.set(element, twin === undefined ? set : union(twin, set));
  }
  return node(owned, below);
}

function decodeNode(content: Json): FieldSet {
  if (content === null) return leaf;
  if (!isJsonObject(content)) throw new SyntaxError('below a path element stands an object');
  const set = decodeBelow(content, Object.hasOwn(content, '.'));
  return set === noFields ? leaf : set;
}

/** The fields in the order of their names, so that one set has one form. */
export function encodeFields({ below }: FieldSet): JsonObject {
  return encodeBelow({}, below);
}

function encodeBelow(into: JsonObject, below: ReadonlyMap<string, FieldSet>): JsonObject {
  const elements = [...below.keys()];
  if (elements.length > 1) elements.sort();
  for (const element of elements) {
    const set = below.get(element);
    if (set === undefined) continue;
    into[element] = encodeBelow(set.owned && set.below.size > 0 ? { '.': {} } : {}, set.below);
  }
  return into;
}
