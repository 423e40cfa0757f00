import type { Json, JsonObject } from '../../../api/json.ts';

/** A field as CEL sees it: under its escaped name. */
export interface LazyField {
  readonly name: string;
  read(value: Json): unknown;
}

/**
 * An object in the eyes of CEL. Its fields are converted when a rule asks for them, and once. It is a Map because that is
 * how the evaluator asks.
 */
export abstract class LazyObject extends Map<string, unknown> {
  readonly raw: JsonObject;
  #weight: number | undefined;

  constructor(raw: JsonObject) {
    super();
    this.raw = raw;
  }

  abstract get fields(): ReadonlyMap<string, LazyField>;

  override get(key: string): unknown {
    const known = super.get(key);
    if (known !== undefined || super.has(key)) return known;
    const field = this.fields.get(key);
    if (field === undefined || !Object.hasOwn(this.raw, field.name)) return undefined;
    const value = field.read(this.raw[field.name] ?? null);
    super.set(key, value);
    return value;
  }

  /** How many values there are inside: what it costs to compare it. */
  get weight(): number {
    this.#weight ??= weightOf(this.raw);
    return this.#weight;
  }
}

function weightOf(value: Json): number {
  if (typeof value === 'string') return 1 + value.length / 10;
  if (typeof value !== 'object' || value === null) return 1;
  let weight = 1;
  if (Array.isArray(value)) for (const item of value) weight += weightOf(item);
  else for (const key in value) weight += 1 + weightOf(value[key] ?? null);
  return weight;
}
