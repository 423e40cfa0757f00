import type { Json, JsonObject } from '../../api/json.ts';
import { isJsonObject } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import { MAX_DEPTH } from './depth.ts';

/**
 * Fills in, in place, the fields that are missing and have a default; a null where none may be counts as missing, and goes
 * when there is no default for it. Inside a field that is itself missing nothing is filled in.
 */
export function applyDefaults(value: Json, schema: JsonSchema): void {
  fillIn(value, planOf(schema), 0);
}

/** What there is to do for values of one node. Made once per node, so that most values are not even looked at. */
interface Plan {
  /** Of the value itself, where it may be null or missing. */
  readonly nullable: boolean;
  readonly fallback: Json | undefined;
  readonly fields: ReadonlyMap<string, Plan>;
  /** The fields that appear when they are missing. */
  readonly defaulted: readonly (readonly [string, Json])[];
  values: Plan | undefined;
  items: Plan | undefined;
}

const plans = new WeakMap<JsonSchema, Plan>();

function planOf(schema: JsonSchema): Plan {
  const known = plans.get(schema);
  if (known !== undefined) return known;
  const fields = new Map<string, Plan>();
  const defaulted: [string, Json][] = [];
  const plan: Plan = {
    nullable: schema.nullable === true,
    fallback: schema.default,
    fields,
    defaulted,
    values: undefined,
    items: undefined,
  };
  // Before the children: a schema may contain itself.
  plans.set(schema, plan);
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const fieldPlan = planOf(field);
    fields.set(name, fieldPlan);
    if (fieldPlan.fallback !== undefined && fieldPlan.fallback !== null) defaulted.push([name, fieldPlan.fallback]);
  }
  if (typeof schema.additionalProperties === 'object') plan.values = planOf(schema.additionalProperties);
  if (schema.items !== undefined) plan.items = planOf(schema.items);
  return plan;
}

function fillIn(value: Json, plan: Plan, depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (Array.isArray(value)) {
    if (plan.items !== undefined) fillInItems(value, plan.items, depth);
  } else if (isJsonObject(value)) fillInFields(value, plan, depth);
}

function fillInFields(value: JsonObject, plan: Plan, depth: number): void {
  for (const [name, fallback] of plan.defaulted) {
    if (!Object.hasOwn(value, name)) set(value, name, copied(fallback));
  }
  for (const key in value) {
    const field = plan.fields.get(key) ?? plan.values;
    if (field === undefined) continue;
    let member = value[key] ?? null;
    if (member === null && !field.nullable) {
      if (field.fallback === undefined || field.fallback === null) {
        delete value[key];
        continue;
      }
      member = copied(field.fallback);
      set(value, key, member);
    }
    if (typeof member === 'object') fillIn(member, field, depth + 1);
  }
}

function fillInItems(value: Json[], plan: Plan, depth: number): void {
  for (let i = 0; i < value.length; i++) {
    let item = value[i] ?? null;
    if (item === null && !plan.nullable) {
      // A list cannot lose an item without moving the others: a null without a default stays, and is found invalid.
      item = copied(plan.fallback ?? null);
      value[i] = item;
    }
    if (typeof item === 'object') fillIn(item, plan, depth + 1);
  }
}

function set(object: JsonObject, key: string, value: Json): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function copied(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copied);
  const copy: JsonObject = {};
  for (const key in value) set(copy, key, copied(value[key] ?? null));
  return copy;
}
