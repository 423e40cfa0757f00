import type { JsonSchema } from '../../api/json-schema.ts';

/**
 * The node that says what a value looks like. Published schemas wrap a reference into `allOf` in order to put a default
 * beside it; structural schemas never do, since they have a type at every node.
 */
export function shapeOf(schema: JsonSchema): JsonSchema {
  let shape = schema;
  for (let hops = 0; hops < 10 && shape.type === undefined && shape.properties === undefined; hops++) {
    const only = shape.allOf?.length === 1 ? shape.allOf[0] : undefined;
    if (only === undefined || shape['x-kubernetes-int-or-string'] || shape['x-kubernetes-preserve-unknown-fields'])
      break;
    shape = only;
  }
  return shape;
}

/** The schema of a field by its own name, or of the values of a map. */
export function memberSchema(schema: JsonSchema, key: string): JsonSchema | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** Whether anything at all is admitted here: the node says nothing about the value. */
export const saysNothing = (schema: JsonSchema): boolean =>
  schema.type === undefined &&
  schema.properties === undefined &&
  schema.additionalProperties === undefined &&
  schema.items === undefined &&
  schema.allOf === undefined;
