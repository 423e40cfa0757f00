import type { Json } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import type { FieldError } from '../../api/status.ts';
import { hasRules, ruleFaults } from './cel/rules.ts';
import { ValueCheck } from './check-value.ts';
import { listed } from './faults.ts';
import { nodeOf } from './node.ts';
import { NOWHERE } from './place.ts';

export interface ValidateOptions {
  /** What is replaced. What it has in common with the new value was accepted once, and is no fault now. */
  readonly old?: Json | undefined;
}

/** Every fault of a whole object: against the schema, of embedded objects, of duplicates in lists, and against the CEL rules. */
export function validate(value: Json, schema: JsonSchema, { old }: ValidateOptions = {}): FieldError[] {
  const faults = shapeFaults(value, schema, old);
  if (!hasRules(schema)) return listed(faults);
  const more = faults.some(isBlocking) ? [RULES_NOT_CHECKED] : ruleFaults(value, schema, { old, isResource: true });
  return listed([...faults, ...more]);
}

/** Everything but the rules, of any part of an object. */
export function shapeFaults(value: Json, schema: JsonSchema, old?: Json): FieldError[] {
  const node = nodeOf(schema);
  const check = new ValueCheck(false);
  check.value(value, node);
  let { list: faults } = check.faults;
  if (faults.length > 0 && old !== undefined) {
    // Comparing costs more than checking: only what has faults is checked once more, beside what it was.
    const ratchet = new ValueCheck(true);
    ratchet.value(value, node, old);
    faults = ratchet.faults.list;
  }
  faults = [...faults, ...check.embeddedFaults.list];
  if (check.listFaults.list.length > 0 && !hasListFaults(old, schema)) faults.push(...check.listFaults.list);
  return faults;
}

/** Faults after which the value may not be what rules take it for, or too much of it. */
const isBlocking = ({ type }: FieldError): boolean =>
  type === 'NotSupported' || type === 'Required' || type === 'TooLong' || type === 'TooMany' || type === 'TypeInvalid';

const RULES_NOT_CHECKED: FieldError = {
  type: 'Invalid',
  field: NOWHERE,
  value: null,
  detail:
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

function hasListFaults(old: Json | undefined, schema: JsonSchema): boolean {
  if (old === undefined) return false;
  const check = new ValueCheck(false);
  check.value(old, nodeOf(schema));
  return check.listFaults.list.length > 0;
}
