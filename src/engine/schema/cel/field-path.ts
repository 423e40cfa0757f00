import type { JsonSchema } from '../../../api/json-schema.ts';

/**
 * The `fieldPath` of a rule (`.spec.x`, `['a.b'].c`) as fault messages write it; undefined when it is none, or leads to a
 * field that the schema does not have.
 */
export function normalizedFieldPath(path: string, schema: JsonSchema): string | undefined {
  let at: JsonSchema | undefined = schema;
  let normalized = '';
  let rest = path;
  while (rest !== '') {
    const match = /^(?:\.([^.[\]]+)|\['((?:[^'\\]|\\[abfnrtv'\\])*)'\])/.exec(rest);
    if (match === null || at === undefined) return undefined;
    const name: string = match[1] ?? unescaped(match[2] ?? '');
    const { properties, additionalProperties }: JsonSchema = at;
    if (properties !== undefined) {
      if (!Object.hasOwn(properties, name)) return undefined;
      normalized += normalized === '' ? name : `.${name}`;
      at = properties[name];
    } else if (additionalProperties !== undefined) {
      normalized += `[${name}]`;
      at = typeof additionalProperties === 'object' ? additionalProperties : undefined;
    } else return undefined;
    rest = rest.slice(match[0].length);
  }
  return normalized;
}

const ESCAPES: Readonly<Record<string, string>> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };
const unescaped = (text: string): string => text.replace(/\\(.)/gs, (_, char: string) => ESCAPES[char] ?? char);
