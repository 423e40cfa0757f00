import type { Json, JsonObject } from '../../../api/json.ts';
import type { JsonSchema } from '../../../api/json-schema.ts';
import { objectMetaSchema } from './object-meta.ts';
import { fieldElement } from './path-element.ts';

/** A declared field of an object. */
export interface Field {
  readonly element: string;
  readonly shape: Shape;
  /**
   * What the field holds where JSON leaves it out of an object that is there. Objects of published kinds always have some of
   * their fields, so that whoever sets something inside does not own the field for bringing it about.
   */
  readonly absent: JsonObject | null | undefined;
}

/** A field by which the items of a list are told apart. */
export interface Key {
  readonly name: string;
  readonly default: Json | undefined;
}

/**
 * How the parts of a value are shared between managers: what a schema says about ownership and nothing else. Shapes are made
 * as values ask for them, because schemas may be cyclic.
 */
export class Shape {
  readonly #schema: JsonSchema;
  readonly #context: Context;
  readonly #fields = new Map<string, Field>();
  /** Objects have one owner, as if they were a scalar. */
  readonly isAtomicObject: boolean;
  readonly list: 'atomic' | 'set' | 'map';
  /** In the order of their names. */
  readonly keys: readonly Key[];
  /** Only declared fields may occur. */
  readonly isClosed: boolean;
  #item: Shape | undefined;
  #others: Shape | undefined;

  constructor(schema: JsonSchema, context: Context) {
    const opens = schema['x-kubernetes-preserve-unknown-fields'] === true;
    const { properties, additionalProperties } = schema;
    this.#schema = schema;
    this.#context = opens ? { ...context, isOpen: true } : context;
    this.isAtomicObject = schema['x-kubernetes-map-type'] === 'atomic';
    this.list = schema['x-kubernetes-list-type'] ?? 'atomic';
    this.keys = keysOf(schema);
    this.isClosed =
      additionalProperties === false ||
      (additionalProperties === undefined &&
        !this.#context.isOpen &&
        properties !== undefined &&
        Object.keys(properties).length > 0);
    if (context.isRoot || schema['x-kubernetes-embedded-resource'] === true) this.#declareTypeAndMetadata();
  }

  field(name: string): Field | undefined {
    const known = this.#fields.get(name);
    if (known !== undefined) return known;
    const { properties } = this.#schema;
    const schema = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
    return schema === undefined ? undefined : this.#declare(name, schema);
  }

  /** Of fields that are not declared. */
  get others(): Shape {
    const { additionalProperties } = this.#schema;
    this.#others ??=
      typeof additionalProperties === 'object' ? shapeOf(additionalProperties, below(this.#context)) : untyped;
    return this.#others;
  }

  /** Nothing is known of values here. */
  get isUntyped(): boolean {
    return this === untyped;
  }

  get item(): Shape {
    this.#item ??= this.#schema.items === undefined ? untyped : shapeOf(this.#schema.items, below(this.#context));
    return this.#item;
  }

  #declare(name: string, schema: JsonSchema, context = below(this.#context)): Field {
    const absent = this.#context.isPublished ? this.#absentValue(name, schema) : undefined;
    const field = { element: fieldElement(name), shape: shapeOf(schema, context), absent };
    this.#fields.set(name, field);
    return field;
  }

  /** A default of `{}` is how schemas say that an object cannot be missing; other required fields are null until set. */
  #absentValue(name: string, schema: JsonSchema): JsonObject | null | undefined {
    if (isEmptyObject(schema.default)) return emptyObject;
    return this.#schema.required?.includes(name) ? null : undefined;
  }

  #declareTypeAndMetadata(): void {
    const context = { isRoot: false, isPublished: this.#context.isPublished, isOpen: false };
    this.#declare('apiVersion', { type: 'string' }, context);
    this.#declare('kind', { type: 'string' }, context);
    this.#declare('metadata', objectMetaSchema, context);
  }
}

/** The shape of whole objects with that schema. */
export function shapeOfObject(schema: JsonSchema): Shape {
  const isPublished = schema['x-kubernetes-group-version-kind'] !== undefined;
  return shapeOf(schema, { isRoot: true, isPublished, isOpen: false });
}

interface Context {
  isRoot: boolean;
  /** Below the schema of a built-in kind, as opposed to a CustomResourceDefinition. */
  isPublished: boolean;
  /** Below a node that preserves unknown fields: then all of them are preserved, declared objects or not. */
  isOpen: boolean;
}

const below = (context: Context): Context => (context.isRoot ? { ...context, isRoot: false } : context);

/** One shape for one schema node, lest a cyclic schema grows a shape for every path that a value takes through it. */
const shapes = new Map<string, WeakMap<JsonSchema, Shape>>();

function shapeOf(schema: JsonSchema, context: Context): Shape {
  const name = `${context.isRoot} ${context.isPublished} ${context.isOpen}`;
  let known = shapes.get(name);
  if (known === undefined) {
    known = new WeakMap();
    shapes.set(name, known);
  }
  let shape = known.get(schema);
  if (shape === undefined) {
    shape = new Shape(schema, context);
    known.set(schema, shape);
  }
  return shape;
}

/** Where no schema says anything: objects by field, lists whole. */
const untyped: Shape = shapeOf({}, { isRoot: false, isPublished: false, isOpen: false });

function keysOf(schema: JsonSchema): Key[] {
  const names = [...(schema['x-kubernetes-list-map-keys'] ?? [])].sort();
  const properties = schema.items?.properties ?? {};
  return names.map((name) => ({
    name,
    default: Object.hasOwn(properties, name) ? properties[name]?.default : undefined,
  }));
}

const emptyObject: JsonObject = Object.freeze({});

const isEmptyObject = (value: Json | undefined): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
