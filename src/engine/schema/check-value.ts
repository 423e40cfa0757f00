import type { Json, JsonObject } from '../../api/json.ts';
import type { FieldError } from '../../api/status.ts';
import { invalid } from './check-scalar.ts';
import { checkAlternatives } from './combinators.ts';
import { MAX_DEPTH } from './depth.ts';
import { embeddedResourceFaults } from './embedded.ts';
import { Faults } from './faults.ts';
import { duplicateItems, hasRepeats } from './list-type.ts';
import type { Node } from './node.ts';
import { Place } from './place.ts';
import { isUnchanged, itemsBefore, memberBefore } from './ratchet.ts';

/** One pass over a value. The kinds of faults are kept apart because they are judged apart on updates. */
export class ValueCheck {
  readonly place = new Place();
  /** What the schema itself demands. */
  faults = new Faults();
  readonly embeddedFaults = new Faults();
  readonly listFaults = new Faults();
  readonly #ratchets: boolean;
  #depth = 0;
  /** Whether the walk is on the schema proper, not inside one of its alternatives. */
  #isProper = true;
  readonly #path = (): string => this.place.dotted;

  /** With `ratchets`, a fault in what did not change is none. */
  constructor(ratchets: boolean) {
    this.#ratchets = ratchets;
  }

  /** Checks a value. True when it is known to have changed, so that nothing around it needs to be compared. */
  value(value: Json, node: Node, old?: Json): boolean {
    if (this.faults.isFull) return true;
    const before = this.faults.list.length;
    const changed = this.againstNode(value, node, old);
    if (!this.#ratchets || changed || this.faults.list.length === before || old === undefined) return changed;
    if (!isUnchanged(value, old, node.schema)) return true;
    this.faults.forgetSince(before);
    return false;
  }

  /** As `value`, but never forgetting what is wrong with the value itself. */
  againstNode(value: Json, node: Node, old: Json | undefined): boolean {
    if (++this.#depth > 2 * MAX_DEPTH || this.place.depth > MAX_DEPTH) {
      this.#depth--;
      this.faults.add({
        type: 'Invalid',
        field: this.place.dotted.slice(0, 200),
        value: '',
        detail: `objects and lists may not be nested more than ${MAX_DEPTH} levels deep`,
      });
      return true;
    }
    let changed = false;
    this.#type(value, node);
    if (value !== null) {
      changed = this.#alternatives(value, node, old);
      if (typeof value === 'string') {
        for (const check of node.ofStrings) this.#add(check(value, this.#path));
      } else if (typeof value === 'number') {
        for (const check of node.ofNumbers) this.#add(check(value, this.#path));
        this.faults.matches++;
      } else if (Array.isArray(value)) changed = this.#list(value, node, old) || changed;
      else if (typeof value === 'object') changed = this.#object(value, node, old) || changed;
    }
    if (node.isOneOfEnum !== undefined) this.#add(node.isOneOfEnum(value, this.#path));
    this.faults.matches++;
    this.#depth--;
    return changed;
  }

  #type(value: Json, { types, nullable }: Node): void {
    if (types.length === 0) return;
    const type = typeOf(value);
    if (types.includes(type) || (type === 'integer' && types.includes('number')) || (type === 'null' && nullable)) {
      this.faults.matches++;
      return;
    }
    const path = this.place.dotted;
    const detail = `${path} in body must be of type ${types.join(',')}: "${type}"`;
    this.faults.add({ type: 'TypeInvalid', field: path, value: type, detail });
  }

  #alternatives(value: Json, node: Node, old: Json | undefined): boolean {
    if (node.allOf.length + node.anyOf.length + node.oneOf.length === 0 && node.not === undefined) return false;
    const isProper = this.#isProper;
    this.#isProper = false;
    const changed = checkAlternatives(this, value, node, old);
    this.#isProper = isProper;
    return changed;
  }

  #list(value: Json[], node: Node, old: Json | undefined): boolean {
    const { items, schema } = node;
    const { minItems, maxItems } = schema;
    let changed = false;
    if (items !== undefined) {
      const before = this.#ratchets ? itemsBefore(schema, old) : undefined;
      for (let i = 0; i < value.length; i++) {
        const item = value[i] ?? null;
        this.place.enterItem(i);
        changed = this.value(item, items, before?.(item)) || changed;
        this.place.leave();
      }
    }
    const size = value.length;
    if (minItems !== undefined && size < minItems) this.#invalid(size, `should have at least ${minItems} items`);
    if (maxItems !== undefined && size > maxItems) this.#tooMany(size, maxItems);
    if (schema.uniqueItems === true && hasRepeats(value)) this.#invalid('', "shouldn't contain duplicates");
    if (this.#isProper && schema['x-kubernetes-list-type'] !== undefined) {
      for (const fault of duplicateItems(value, schema, this.place)) this.listFaults.add(fault);
    }
    this.faults.matches++;
    return changed;
  }

  #object(value: JsonObject, node: Node, old: Json | undefined): boolean {
    const { schema, properties, values } = node;
    const { minProperties, maxProperties } = schema;
    if (minProperties !== undefined || maxProperties !== undefined) {
      const size = Object.keys(value).length;
      if (minProperties !== undefined && size < minProperties) {
        this.#invalid(size, `should have at least ${minProperties} properties`);
      }
      if (maxProperties !== undefined && size > maxProperties) this.#tooMany(size, maxProperties);
    }
    if (this.#isProper && schema['x-kubernetes-embedded-resource']) {
      for (const fault of embeddedResourceFaults(value, this.place)) this.embeddedFaults.add(fault);
    }
    const isRoot = this.place.depth === 0;
    let changed = false;
    for (const key in value) {
      const property = properties.get(key);
      const member = property ?? values;
      if (member === undefined) continue;
      if (member === false) {
        const path = this.place.dotted;
        const detail = `${path}.${key} in body is a forbidden property`;
        this.faults.add({ type: 'Invalid', field: path, value: key, detail });
        continue;
      }
      // Versions are converted before they are compared: a change of apiVersion cannot be seen.
      const was = isRoot && (key === 'apiVersion' || key === 'kind') ? undefined : memberBefore(old, key);
      if (property === undefined) this.place.enterKey(key);
      else this.place.enterField(key);
      changed = this.value(value[key] ?? null, member, was) || changed;
      this.place.leave();
    }
    for (const key of node.required) {
      if (!Object.hasOwn(value, key)) {
        this.place.enterField(key);
        this.faults.add({ type: 'Required', field: this.place.dotted, detail: '' });
        this.place.leave();
      }
    }
    return changed;
  }

  #add(fault: FieldError | undefined): void {
    if (fault !== undefined) this.faults.add(fault);
  }
  #invalid(value: Json, rule: string): void {
    this.faults.add(invalid(this.place.dotted, value, rule));
  }
  #tooMany(size: number, max: number): void {
    this.faults.add({
      type: 'TooMany',
      field: this.place.dotted,
      value: size,
      detail: `must have at most ${max} items`,
    });
  }
}

function typeOf(value: Json): string {
  switch (typeof value) {
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'number';
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? 'array' : 'object';
    default:
      return typeof value;
  }
}
