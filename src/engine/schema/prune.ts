import type { Json, JsonObject } from '../../api/json.ts';
import { isJsonObject } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import { MAX_DEPTH } from './depth.ts';
import { PathList } from './path-list.ts';
import { memberSchema, saysNothing, shapeOf } from './shape-of.ts';

export interface PruneOptions {
  /** Whether the value is a whole object, whose apiVersion, kind and metadata stay; else it is a part of one. */
  readonly resourceRoot?: boolean;
  /**
   * Whether the schema is a published one of a built-in kind. There an object of which nothing is said holds anything
   * (RawExtension, FieldsV1); in a structural schema it holds nothing.
   */
  readonly published?: boolean;
}

/**
 * Drops, in place, every field that the schema does not know, and answers with their dotted paths in order. `metadata` of
 * the object, and of objects embedded in it, is pruned too when the schema describes it in full.
 */
export function prune(value: Json, schema: JsonSchema, options: PruneOptions = {}): string[] {
  const pruner = new Pruner(schema, options.published ?? false);
  pruner.walk(value, schema, options.resourceRoot ?? true);
  return pruner.dropped.paths.sort();
}

const RESOURCE_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

class Pruner {
  readonly dropped = new PathList();
  readonly #path: (string | number)[] = [];
  readonly #metadata: JsonSchema | undefined;
  #published: boolean;

  constructor(root: JsonSchema, published: boolean) {
    this.#published = published;
    const metadata = memberSchema(root, 'metadata');
    const shape = metadata === undefined ? undefined : shapeOf(metadata);
    this.#metadata = shape !== undefined && describesMetadata(shape) ? shape : undefined;
  }

  /** Without a schema, the value is inside something unknown. */
  walk(value: Json, schema: JsonSchema | undefined, isResource = false): void {
    if (typeof value !== 'object' || value === null || this.#path.length > MAX_DEPTH) return;
    const shape = schema === undefined ? undefined : shapeOf(schema);
    const preserves = shape !== undefined && this.#preserves(shape);
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        const item = value[i];
        if (typeof item !== 'object' || item === null) continue;
        this.#path.push(i);
        // Items of a preserved list are preserved too, until a schema of a field in them says otherwise.
        if (preserves) this.#preserved(item, shape?.items);
        else this.walk(item, shape?.items);
        this.#path.pop();
      }
    } else if (preserves) this.#preserved(value, shape, isResource);
    else this.#object(value, shape, isResource || (shape?.['x-kubernetes-embedded-resource'] ?? false));
  }

  #object(value: JsonObject, shape: JsonSchema | undefined, isResource: boolean): void {
    for (const key in value) {
      if (isResource && RESOURCE_FIELDS.has(key)) {
        if (key === 'metadata') this.#resourceMetadata(value[key] ?? null);
        continue;
      }
      const known = shape !== undefined && (hasProperty(shape, key) || shape.additionalProperties !== undefined);
      if (known) this.#descend(value[key] ?? null, key, memberSchema(shape, key));
      else {
        this.#path.push(key);
        this.dropped.add(this.#path);
        this.#path.pop();
        delete value[key];
      }
    }
  }

  /** Keeps what is unknown, and prunes below the fields that are known. */
  #preserved(value: Json, schema: JsonSchema | undefined, isResource = false): void {
    if (schema === undefined || this.#path.length > MAX_DEPTH) return;
    const shape = shapeOf(schema);
    if (Array.isArray(value)) {
      value.forEach((item, i) => {
        this.#path.push(i);
        this.#preserved(item, shape.items);
        this.#path.pop();
      });
    } else if (isJsonObject(value)) {
      const isEmbedded = isResource || shape['x-kubernetes-embedded-resource'];
      for (const key in value) {
        if (isEmbedded && RESOURCE_FIELDS.has(key)) {
          if (key === 'metadata') this.#resourceMetadata(value[key] ?? null);
        } else if (hasProperty(shape, key) || shape.additionalProperties !== undefined) {
          this.#descend(value[key] ?? null, key, memberSchema(shape, key));
        }
      }
    }
  }

  #descend(value: Json, key: string, schema: JsonSchema | undefined): void {
    if (typeof value !== 'object' || value === null) return;
    this.#path.push(key);
    this.walk(value, schema);
    this.#path.pop();
  }

  #resourceMetadata(metadata: Json): void {
    if (this.#metadata === undefined) return;
    const published = this.#published;
    this.#published = true;
    this.#descend(metadata, 'metadata', this.#metadata);
    this.#published = published;
  }

  #preserves(shape: JsonSchema): boolean {
    if (shape['x-kubernetes-preserve-unknown-fields'] || saysNothing(shape)) return true;
    return (
      this.#published &&
      shape.type === 'object' &&
      shape.properties === undefined &&
      shape.additionalProperties === undefined
    );
  }
}

const hasProperty = ({ properties }: JsonSchema, key: string): boolean =>
  properties !== undefined && Object.hasOwn(properties, key);

/** A CustomResourceDefinition may restrict name and generateName only, which describes nothing. */
const describesMetadata = ({ properties = {} }: JsonSchema): boolean =>
  Object.keys(properties).some((key) => key !== 'name' && key !== 'generateName');
