import type { Json, JsonObject } from '../../api/json.ts';
import { isJsonObject } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import { MAX_DEPTH } from './depth.ts';
import { memberSchema } from './member-schema.ts';
import { PathList } from './path-list.ts';

export interface PruneOptions {
  /** Whether the value is a whole object, whose apiVersion, kind and metadata stay; else it is a part of one. */
  readonly resourceRoot?: boolean;
}

/**
 * Drops, in place, every field that the schema does not know, and answers with their dotted paths in order. `metadata` of
 * the object, and of objects embedded in it, is pruned too when the schema describes it in full. What may hold anything
 * must say so by `x-kubernetes-preserve-unknown-fields`, in schemas of built-in kinds as well.
 */
export function prune(value: Json, schema: JsonSchema, options: PruneOptions = {}): string[] {
  const pruner = new Pruner(schema);
  pruner.walk(value, schema, options.resourceRoot ?? true);
  return pruner.dropped.paths.sort();
}

const RESOURCE_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

class Pruner {
  readonly dropped = new PathList();
  readonly #path: (string | number)[] = [];
  readonly #metadata: JsonSchema | undefined;

  constructor(root: JsonSchema) {
    const metadata = memberSchema(root, 'metadata');
    this.#metadata = metadata !== undefined && describesMetadata(metadata) ? metadata : undefined;
  }

  /** Without a schema, the value is inside something unknown: objects in it lose all they have. */
  walk(value: Json, schema: JsonSchema | undefined, isRoot = false): void {
    if (typeof value !== 'object' || value === null || this.#path.length > MAX_DEPTH) return;
    const isResource = isRoot || schema?.['x-kubernetes-embedded-resource'] === true;
    if (schema !== undefined && preserves(schema)) this.#preserved(value, schema, isResource);
    else if (Array.isArray(value)) {
      value.forEach((item, i) => {
        this.#path.push(i);
        this.walk(item, schema?.items);
        this.#path.pop();
      });
    } else this.#object(value, schema, isResource);
  }

  #object(value: JsonObject, schema: JsonSchema | undefined, isResource: boolean): void {
    for (const key in value) {
      if (isResource && RESOURCE_FIELDS.has(key)) this.#resourceField(value, key);
      else if (schema !== undefined && knows(schema, key)) this.#member(value, key, memberSchema(schema, key));
      else {
        this.#path.push(key);
        this.dropped.add(this.#path);
        this.#path.pop();
        delete value[key];
      }
    }
  }

  /** Keeps what is unknown, in items of lists too, and prunes below the fields that are known. */
  #preserved(value: Json, schema: JsonSchema | undefined, isResource: boolean): void {
    if (schema === undefined || this.#path.length > MAX_DEPTH) return;
    if (Array.isArray(value)) {
      value.forEach((item, i) => {
        this.#path.push(i);
        this.#preserved(item, schema.items, schema.items?.['x-kubernetes-embedded-resource'] === true);
        this.#path.pop();
      });
    } else if (isJsonObject(value)) {
      for (const key in value) {
        if (isResource && RESOURCE_FIELDS.has(key)) this.#resourceField(value, key);
        else if (knows(schema, key)) this.#member(value, key, memberSchema(schema, key));
      }
    }
  }

  #resourceField(value: JsonObject, key: string): void {
    if (key === 'metadata' && this.#metadata !== undefined) this.#member(value, key, this.#metadata);
  }

  #member(object: JsonObject, key: string, schema: JsonSchema | undefined): void {
    const value = object[key];
    if (typeof value !== 'object' || value === null) return;
    this.#path.push(key);
    this.walk(value, schema);
    this.#path.pop();
  }
}

const knows = ({ properties, additionalProperties }: JsonSchema, key: string): boolean =>
  (properties !== undefined && Object.hasOwn(properties, key)) || additionalProperties !== undefined;

/** Structural schemas have no node that says nothing. Should there be one, nothing is lost there. */
const preserves = (schema: JsonSchema): boolean =>
  schema['x-kubernetes-preserve-unknown-fields'] === true ||
  (schema.type === undefined &&
    schema.properties === undefined &&
    schema.additionalProperties === undefined &&
    schema.items === undefined);

/** A CustomResourceDefinition may restrict name and generateName only, which describes nothing. */
const describesMetadata = ({ properties = {} }: JsonSchema): boolean =>
  Object.keys(properties).some((key) => key !== 'name' && key !== 'generateName');
