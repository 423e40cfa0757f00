import { Optional } from '@marcbachmann/cel-js';
import type { Json } from '../../../api/json.ts';
import type { JsonSchema, ValidationRule } from '../../../api/json-schema.ts';
import type { FieldError } from '../../../api/status.ts';
import { MAX_DEPTH } from '../depth.ts';
import { Faults } from '../faults.ts';
import { Place } from '../place.ts';
import { isUnchanged, itemsBefore, memberBefore } from '../ratchet.ts';
import type { CompiledRule } from './compile.ts';
import { compiledRules } from './compile.ts';
import { evaluateRule, OBJECT_LIMIT, ruleName } from './evaluate.ts';

/** Whether there is any rule in a schema. */
export const hasRules = (schema: JsonSchema): boolean => guardOf(schema) !== undefined;

/** What the rules of a schema find wrong with a value; `old` is what it replaces. */
export function ruleFaults(
  value: Json,
  schema: JsonSchema,
  { old, isResource }: { readonly old: Json | undefined; readonly isResource: boolean },
): FieldError[] {
  const guard = guardOf(schema);
  if (guard === undefined) return [];
  const check = new RuleCheck();
  check.value(value, guard, { old, anchor: old === undefined ? undefined : { value, old, schema }, isResource });
  return check.faults.list;
}

/** A schema node with rules, or with rules somewhere below. Other nodes have none, and are passed by. */
interface Guard {
  readonly schema: JsonSchema;
  readonly hasOwn: boolean;
  readonly properties: Map<string, Guard>;
  values: Guard | undefined;
  items: Guard | undefined;
}

const guards = new WeakMap<JsonSchema, Guard | 'none' | 'looking'>();

/** A node that contains itself is taken for one without rules while it is looked through: only definitions have rules, and they are trees. */
function guardOf(schema: JsonSchema): Guard | undefined {
  const known = guards.get(schema);
  if (known !== undefined) return typeof known === 'object' ? known : undefined;
  guards.set(schema, 'looking');
  const properties = new Map<string, Guard>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const below = guardOf(property);
    if (below !== undefined) properties.set(name, below);
  }
  const { additionalProperties, items } = schema;
  const guard: Guard = {
    schema,
    hasOwn: (schema['x-kubernetes-validations'] ?? []).length > 0,
    properties,
    values: typeof additionalProperties === 'object' ? guardOf(additionalProperties) : undefined,
    items: items === undefined ? undefined : guardOf(items),
  };
  const isNeeded = guard.hasOwn || properties.size > 0 || guard.values !== undefined || guard.items !== undefined;
  guards.set(schema, isNeeded ? guard : 'none');
  return isNeeded ? guard : undefined;
}

interface Before {
  readonly old: Json | undefined;
  /** The innermost value around this one whose old value is known. When it is unchanged, so is what is wrong in it. */
  readonly anchor: { readonly value: Json; readonly old: Json; readonly schema: JsonSchema } | undefined;
  readonly isResource: boolean;
}

class RuleCheck {
  readonly faults = new Faults();
  readonly #place = new Place();
  #budget = OBJECT_LIMIT;

  /** Rules are about values, not about null. False when the budget is used up: then nothing more is checked. */
  value(value: Json, guard: Guard, before: Before): boolean {
    if (value === null || this.#place.depth > MAX_DEPTH) return true;
    if (this.faults.isFull) return false;
    if (guard.hasOwn && !this.#ownRules(value, guard.schema, before)) return false;
    if (Array.isArray(value)) return this.#items(value, guard, before);
    return typeof value !== 'object' || this.#members(value, guard, before);
  }

  #items(list: Json[], { schema, items }: Guard, { old, anchor }: Before): boolean {
    if (items === undefined) return true;
    const correlated = itemsBefore(schema, old);
    return list.every((item, i) => {
      this.#place.enterItem(i);
      const goesOn = this.value(item, items, within(item, items, correlated(item), anchor));
      this.#place.leave();
      return goesOn;
    });
  }

  #members(object: { [key: string]: Json }, guard: Guard, { old, anchor }: Before): boolean {
    const isRoot = this.#place.depth === 0;
    return Object.entries(object).every(([key, member]) => {
      const property = guard.properties.get(key);
      const below = property ?? guard.values;
      if (below === undefined) return true;
      if (property === undefined) this.#place.enterKey(key);
      else this.#place.enterField(key);
      // Versions are converted before they are compared: a change of apiVersion cannot be seen.
      const isVersion = isRoot && (key === 'apiVersion' || key === 'kind');
      const goesOn = this.value(
        member,
        below,
        within(member, below, memberBefore(old, key), isVersion ? undefined : anchor),
      );
      this.#place.leave();
      return goesOn;
    });
  }

  #ownRules(value: Json, schema: JsonSchema, { old, anchor, isResource }: Before): boolean {
    const { rules, read } = compiledRules(schema, isResource);
    const type = schema.type ?? '';
    const invalid = (detail: string): void => {
      this.faults.add({ type: 'Invalid', field: this.#place.bracketed(), value: type, detail });
    };
    const hasOld = old !== undefined && old !== null;
    const self = read(value);
    const oldSelf = hasOld ? read(old) : undefined;
    for (const compiled of rules) {
      const { rule, usesOldSelf, fault } = compiled;
      if (fault !== undefined) {
        invalid(`rule compile error: ${fault}`);
        continue;
      }
      // A rule about a transition has nothing to say where there is none.
      if (usesOldSelf && !hasOld && rule.optionalOldSelf !== true) continue;
      if (this.#budget <= 0) {
        invalid('validation failed due to running out of cost budget, no further validation rules will be run');
        return false;
      }
      const old = rule.optionalOldSelf === true ? Optional.of(oldSelf) : oldSelf;
      const { outcome, cost } = evaluateRule(compiled, { self, oldSelf: old });
      this.#budget -= cost;
      if (outcome.kind === 'exhausted') {
        const what =
          "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to";
        invalid(`${what} call cost exceeds limit for rule: ${ruleName(compiled)}`);
        return false;
      }
      if (outcome.kind === 'error') invalid(errorDetail(outcome.error, compiled));
      else if (outcome.kind === 'fails' && (usesOldSelf || !isSettled(anchor))) {
        this.faults.add(faultOf(rule, this.#fieldOf(compiled), type, outcome.message));
      }
    }
    return true;
  }

  #fieldOf({ fieldPath }: CompiledRule): string {
    return fieldPath === undefined || fieldPath === '' ? this.#place.bracketed() : this.#place.bracketed(fieldPath);
  }
}

function within(value: Json, { schema }: Guard, old: Json | undefined, outer: Before['anchor']): Before {
  return {
    old,
    anchor: old === undefined ? outer : { value, old, schema },
    isResource: schema['x-kubernetes-embedded-resource'] === true,
  };
}

const isSettled = (anchor: Before['anchor']): boolean =>
  anchor !== undefined && isUnchanged(anchor.value, anchor.old, anchor.schema);

function errorDetail(error: string, compiled: CompiledRule): string {
  return error.startsWith('no such overload')
    ? `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${ruleName(compiled)}`
    : `${error} evaluating rule: ${ruleName(compiled)}`;
}

function faultOf({ reason }: ValidationRule, field: string, value: string, detail: string): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return { type: 'Forbidden', field, detail };
    case 'FieldValueRequired':
      return { type: 'Required', field, detail };
    case 'FieldValueDuplicate':
      return { type: 'Duplicate', field, value, detail: '' };
    default:
      return { type: 'Invalid', field, value, detail };
  }
}
