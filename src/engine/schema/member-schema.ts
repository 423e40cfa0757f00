import type { JsonSchema } from '../../api/json-schema.ts';

/** The schema of a field by its own name, or of the values of a map. */
export function memberSchema(schema: JsonSchema, key: string): JsonSchema | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}
