import type { Json } from './json.ts';
import type { JsonSchema } from './json-schema.ts';

/**
 * How the fields of our kinds are declared: each call makes a piece of OpenAPI schema and, at compile time, the
 * TypeScript type of what it describes. The schema is what CRDs publish and servers enforce, so the two cannot differ.
 */
export interface Shape<T> {
  readonly schema: JsonSchema;
  /** Never set: carries `T` for `Infer`. */
  readonly type?: T;
}

/** A field that may be left out, or one that the server fills in when it was. */
export interface OptionalField<T> extends Shape<T> {
  readonly presence: 'optional';
}
export interface DefaultedField<T> extends Shape<T> {
  readonly presence: 'defaulted';
}
type Field = Shape<unknown> & { readonly presence?: 'optional' | 'defaulted' };
type Fields = Record<string, Field>;

export type Infer<S> = S extends Shape<infer T> ? T : never;
type Flat<T> = { [K in keyof T]: T[K] };
type OptionalKeys<F> = { [K in keyof F]: F[K] extends { presence: 'optional' } ? K : never }[keyof F];
export type ObjectShape<F> = Flat<
  { [K in Exclude<keyof F, OptionalKeys<F>>]: Infer<F[K]> } & { [K in OptionalKeys<F>]?: Infer<F[K]> }
>;

type Extra = Omit<JsonSchema, 'type' | 'properties' | 'required' | 'items' | 'additionalProperties' | 'default'>;

export const string = (extra: Extra = {}): Shape<string> => ({ schema: { type: 'string', ...extra } });
export const boolean = (extra: Extra = {}): Shape<boolean> => ({ schema: { type: 'boolean', ...extra } });
export const integer = (extra: Extra = {}): Shape<number> => ({ schema: { type: 'integer', ...extra } });
export const oneOf = <const V extends string>(values: readonly V[], extra: Extra = {}): Shape<V> => ({
  schema: { type: 'string', enum: [...values], ...extra },
});
export const timestamp = (extra: Extra = {}): Shape<string> => string({ format: 'date-time', ...extra });

/** A plain list is replaced as a whole by server-side apply; `listOfUnique` and `listByKey` merge item by item. */
export const list = <T>(items: Shape<T>, extra: Extra = {}): Shape<T[]> => ({
  schema: { type: 'array', items: items.schema, ...extra },
});
export const listOfUnique = <T>(items: Shape<T>, extra: Extra = {}): Shape<T[]> =>
  list(items, { 'x-kubernetes-list-type': 'set', ...extra });
export const listByKey = <T>(items: Shape<T>, keys: (keyof T & string)[], extra: Extra = {}): Shape<T[]> =>
  list(items, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys, ...extra });

export const map = <T>(values: Shape<T>, extra: Extra = {}): Shape<Record<string, T>> => ({
  schema: { type: 'object', additionalProperties: values.schema, ...extra },
});

export function object<F extends Fields>(fields: F, extra: Extra = {}): Shape<ObjectShape<F>> {
  const required = Object.keys(fields).filter((name) => fields[name]?.presence === undefined);
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.schema])),
      ...(required.length > 0 ? { required } : {}),
      ...extra,
    },
  };
}

export const optional = <T>(shape: Shape<T>): OptionalField<T> => ({ schema: shape.schema, presence: 'optional' });
export const defaulted = <T extends Json>(shape: Shape<T>, value: NoInfer<T>): DefaultedField<T> => ({
  schema: { ...shape.schema, default: value },
  presence: 'defaulted',
});

/** The same shape with another description: for pieces that several fields share. */
export const described = <T>(shape: Shape<T>, description: string): Shape<T> => ({
  schema: { ...shape.schema, description },
});
