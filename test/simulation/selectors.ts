import { isJsonObject, type Json, type JsonObject } from '../../src/api/json.ts';
import { badRequest } from '../../src/api/status.ts';

export type Matcher = (object: JsonObject) => boolean;

/** The matcher of a request's labelSelector and fieldSelector. */
export function matcherOf(parameters: URLSearchParams): Matcher {
  const tests = [
    ...requirements(parameters.get('labelSelector') ?? '').map(labelTest),
    ...requirements(parameters.get('fieldSelector') ?? '').map(fieldTest),
  ];
  return (object) => tests.every((test) => test(object));
}

/** Split at commas, but not within the parentheses of a set. */
const requirements = (selector: string): string[] =>
  selector.split(/,(?![^(]*\))/).filter((requirement) => requirement.trim() !== '');

function labelTest(requirement: string): Matcher {
  const set = /^\s*(\S+)\s+(in|notin)\s+\(([^)]*)\)\s*$/.exec(requirement);
  if (set !== null) {
    const [, key = '', operator, list = ''] = set;
    const values = list.split(',').map((value) => value.trim());
    return (object) => values.includes(String(labelOf(object, key) ?? '\0')) === (operator === 'in');
  }
  const [, key = '', operator, value = ''] = /^\s*([^!=\s]+)\s*(==|=|!=)\s*(\S*)\s*$/.exec(requirement) ?? [];
  if (operator !== undefined) return (object) => (labelOf(object, key) === value) === (operator !== '!=');
  const name = requirement.trim();
  return name.startsWith('!')
    ? (object) => labelOf(object, name.slice(1)) === undefined
    : (object) => labelOf(object, name) !== undefined;
}

function fieldTest(requirement: string): Matcher {
  const [, path = '', operator, value = ''] = /^([^!=]+)(==|=|!=)(.*)$/.exec(requirement) ?? [];
  if (operator === undefined) throw badRequest(`invalid field selector: ${requirement}`);
  return (object) => (fieldOf(object, path.split('.')) === value) === (operator !== '!=');
}

const labelOf = (object: JsonObject, key: string): Json | undefined => {
  const labels = at(object, ['metadata', 'labels']);
  return isJsonObject(labels) && Object.hasOwn(labels, key) ? labels[key] : undefined;
};

const fieldOf = (object: JsonObject, path: readonly string[]): string => {
  const value = at(object, path);
  return value === undefined || value === null ? '' : String(value);
};

export function at(value: Json | undefined, path: readonly string[]): Json | undefined {
  let found = value;
  for (const key of path) found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  return found;
}
