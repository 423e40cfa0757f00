import type { Json } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import type { Check } from './check-scalar.ts';
import { enumCheck, numberChecks, stringChecks } from './check-scalar.ts';

/**
 * A schema node made ready for checking: what it says is looked up once, so that a value meets only the checks that there
 * are. A node may contain itself.
 */
export interface Node {
  readonly schema: JsonSchema;
  readonly types: readonly string[];
  readonly nullable: boolean;
  readonly isOneOfEnum: Check<Json> | undefined;
  readonly ofStrings: readonly Check<string>[];
  readonly ofNumbers: readonly Check<number>[];
  readonly required: readonly string[];
  readonly properties: ReadonlyMap<string, Node>;
  /** Values of a map; `false` where no other fields may be. */
  values: Node | false | undefined;
  items: Node | undefined;
  allOf: readonly Node[];
  anyOf: readonly Node[];
  oneOf: readonly Node[];
  not: Node | undefined;
}

const nodes = new WeakMap<JsonSchema, Node>();

export function nodeOf(schema: JsonSchema): Node {
  const known = nodes.get(schema);
  if (known !== undefined) return known;
  const properties = new Map<string, Node>();
  const node: Node = {
    schema,
    types: typesOf(schema),
    nullable: schema.nullable === true,
    isOneOfEnum: enumCheck(schema),
    ofStrings: stringChecks(schema),
    ofNumbers: numberChecks(schema),
    required: schema.required ?? [],
    properties,
    values: undefined,
    items: undefined,
    allOf: [],
    anyOf: [],
    oneOf: [],
    not: undefined,
  };
  // Before its parts: one of them may lead back here.
  nodes.set(schema, node);
  const { additionalProperties, items, not } = schema;
  for (const [name, property] of Object.entries(schema.properties ?? {})) properties.set(name, nodeOf(property));
  if (additionalProperties === false) node.values = false;
  else if (typeof additionalProperties === 'object') node.values = nodeOf(additionalProperties);
  if (items !== undefined) node.items = nodeOf(items);
  if (not !== undefined) node.not = nodeOf(not);
  node.allOf = (schema.allOf ?? []).map(nodeOf);
  node.anyOf = (schema.anyOf ?? []).map(nodeOf);
  node.oneOf = (schema.oneOf ?? []).map(nodeOf);
  return node;
}

function typesOf(schema: JsonSchema): readonly string[] {
  if (schema['x-kubernetes-int-or-string']) return ['integer', 'string'];
  return schema.type === undefined ? [] : [schema.type];
}
