import { isJsonObject, type Json, type JsonObject } from '../../../api/json.ts';
import { isTooDeep } from '../depth.ts';

/**
 * One step from a container to what is in it, spelled as FieldsV1 spells it: `f:` and a field's name, `k:` and the keys of a list
 * item as JSON, `v:` and an item of a set as JSON, `i:` and a position. One thing has one spelling here, so that elements
 * compare as strings: keys sorted, no white space.
 */
export const fieldElement = (name: string): string => `f:${name}`;
export const valueElement = (value: Json): string => `v:${canonicalJson(value)}`;

/** `k:{…}` from the values of the keys, which must come in the order of their names. */
export function keyElement(keys: readonly (readonly [name: string, value: Json])[]): string {
  const fields = keys.map(([name, value]) => `${JSON.stringify(name)}:${canonicalJson(value)}`);
  return `k:{${fields.join(',')}}`;
}

/** Undefined for kinds of elements that do not exist yet: a reader ignores those. Throws SyntaxError on what is no element. */
export function parseElement(text: string): string | undefined {
  if (text[1] !== ':') throw new SyntaxError(`${JSON.stringify(text.slice(0, 100))} is not a path element`);
  switch (text[0]) {
    case 'f':
      return text;
    case 'v':
    case 'k':
      return canonicalElement(text);
    case 'i':
      if (!/^i:-?[0-9]+$/.test(text)) throw new SyntaxError(`${text.slice(0, 100)} is not a position`);
      return text;
    default:
      return undefined;
  }
}

/** The same few keys come with every write of every object, and reading JSON is what decoding costs. */
const spellings = new Map<string, string>();
const mostSpellings = 10_000;
const longestSpelling = 256;

function canonicalElement(text: string): string {
  const known = spellings.get(text);
  if (known !== undefined) return known;
  const value: Json = JSON.parse(text.slice(2));
  if (isTooDeep(value)) throw new SyntaxError(`${text.slice(0, 100)} is nested too deep to be a path element`);
  if (text[0] === 'k' && !isJsonObject(value)) {
    throw new SyntaxError(`${text.slice(0, 100)} does not name the keys of a list item`);
  }
  const element = `${text[0]}:${canonicalJson(value)}`;
  if (spellings.size >= mostSpellings) spellings.clear();
  if (text.length <= longestSpelling) spellings.set(text, element);
  return element;
}

/** The path as messages name it: `.spec.containers[name="app"].image`. */
export const shownElements = (path: readonly string[]): string => path.map(shownElement).join('');

function shownElement(element: string): string {
  const content = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${content}`;
    case 'k': {
      const keys: JsonObject = JSON.parse(content);
      return `[${Object.keys(keys).map((name) => `${name}=${JSON.stringify(keys[name])}`)}]`;
    }
    case 'v':
      return `[=${content}]`;
    default:
      return `[${content}]`;
  }
}

function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const fields = Object.keys(value).sort();
  return `{${fields.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name] ?? null)}`).join(',')}}`;
}
