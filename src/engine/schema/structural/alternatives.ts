import type { JsonSchema } from '../../../api/json-schema.ts';
import type { FieldError } from '../../../api/status.ts';
import type { Faults } from '../faults.ts';
import { compileRegexp } from '../regexp/regexp.ts';
import { forbidden, invalid, required } from './schema-fault.ts';

/** allOf, anyOf, oneOf and not may restrict values; what a value is, they may not say. */
export function checkAlternatives(schema: JsonSchema, path: string, faults: Faults): void {
  const spellsOutTypes = isIntOrStringChoice(schema.anyOf);
  for (const [alternative, at, keyword] of alternativesOf(schema, path)) {
    if (spellsOutTypes && keyword === 'anyOf') continue;
    // In the first of allOf, integer and string may be told apart as well.
    checkNested(alternative, at, faults, alternative === schema.allOf?.[0]);
  }
}

function checkNested(schema: JsonSchema, path: string, faults: Faults, mayTellTypesApart = false): void {
  faults.addEach(patternFaults(schema, path));
  const spellsOutTypes = mayTellTypesApart && isIntOrStringChoice(schema.anyOf);
  for (const [alternative, at, keyword] of alternativesOf(schema, path)) {
    if (!spellsOutTypes || keyword !== 'anyOf') checkNested(alternative, at, faults);
  }
  if (schema.items !== undefined) checkNested(schema.items, `${path}.items`, faults);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    checkNested(property, `${path}.properties[${name}]`, faults);
    // Else metadata could be restricted from here.
    if (name === 'metadata') {
      faults.add(forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
    }
  }
  for (const [keyword, rule] of FORBIDDEN) {
    if (!isUnset(schema[keyword])) faults.add(forbidden(`${path}.${keyword}`, `must be ${rule} to be structural`));
  }
}

const isUnset = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (Array.isArray(value) && value.length === 0);

const FORBIDDEN: readonly (readonly [keyof JsonSchema, string])[] = [
  ['type', 'empty'],
  ['additionalProperties', 'undefined'],
  ['default', 'undefined'],
  ['title', 'empty'],
  ['description', 'empty'],
  ['nullable', 'false'],
  ['x-kubernetes-preserve-unknown-fields', 'false'],
  ['x-kubernetes-embedded-resource', 'false'],
  ['x-kubernetes-int-or-string', 'false'],
  ['x-kubernetes-list-map-keys', 'empty'],
  ['x-kubernetes-list-type', 'undefined'],
  ['x-kubernetes-map-type', 'undefined'],
  ['x-kubernetes-validations', 'empty'],
];

type Keyword = 'anyOf' | 'allOf' | 'oneOf' | 'not';

export function alternativesOf(schema: JsonSchema, path: string): [JsonSchema, string, Keyword][] {
  const found: [JsonSchema, string, Keyword][] = [];
  for (const keyword of ['anyOf', 'allOf', 'oneOf'] as const) {
    (schema[keyword] ?? []).forEach((each, i) => {
      found.push([each, `${path}.${keyword}[${i}]`, keyword]);
    });
  }
  if (schema.not !== undefined) found.push([schema.not, `${path}.not`, 'not']);
  return found;
}

/** `anyOf: [{type: integer}, {type: string}]`, which spells out what x-kubernetes-int-or-string means. */
function isIntOrStringChoice(anyOf: readonly JsonSchema[] | undefined): boolean {
  const [first, second] = anyOf ?? [];
  return (
    anyOf?.length === 2 &&
    first?.type === 'integer' &&
    second?.type === 'string' &&
    isEmptyExcept(first, ['type']) &&
    isEmptyExcept(second, ['type'])
  );
}

export const isEmptyExcept = (schema: JsonSchema, keywords: readonly string[]): boolean =>
  Object.entries(schema).every(([keyword, value]) => value === undefined || keywords.includes(keyword));

export function patternFaults({ pattern }: JsonSchema, path: string): FieldError[] {
  if (pattern === undefined || pattern === '') return [];
  try {
    compileRegexp(pattern);
    return [];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${why}`)];
  }
}

/** At the root, alternatives may only speak of fields that the schema proper has. */
export function checkCompleteness(root: JsonSchema, path: string, faults: Faults): void {
  const compare = (part: JsonSchema, partPath: string, proper: JsonSchema | undefined, properPath: string): void => {
    if (proper === undefined) {
      faults.add(required(properPath, `because it is defined in ${partPath}`));
      return;
    }
    for (const [alternative, at] of alternativesOf(part, partPath)) compare(alternative, at, proper, properPath);
    if (part === proper) return;
    if (part.items !== undefined) compare(part.items, `${partPath}.items`, proper.items, `${properPath}.items`);
    for (const [name, property] of Object.entries(part.properties ?? {})) {
      const { properties = {} } = proper;
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      compare(property, `${partPath}.properties[${name}]`, known, `${properPath}.properties[${name}]`);
    }
  };
  compare(root, path, root, path);
}
