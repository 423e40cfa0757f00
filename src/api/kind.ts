import type { JsonSchema } from './json-schema.ts';
import type { ApiObject } from './object.ts';
import type { Shape } from './shape.ts';
import type { FieldError } from './status.ts';

/** What it takes to address objects of a kind on any API server, and the type of what comes back. */
export interface Kind<T extends ApiObject = ApiObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Nobody acts on the status: who watches the kind is not woken by a change of nothing else. */
  readonly statusIsReport?: boolean;
  /** Never set: carries `T` for `ObjectOf`. */
  readonly object?: T;
}
export type ObjectOf<K> = K extends Kind<infer T> ? T : never;

/** A kind of ours, declared once: the types, the CRD manifest and every check on a single object come from this. */
export interface DeclaredKind<T extends ApiObject = ApiObject> extends Kind<T> {
  readonly listKind: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly description: string;
  /** Labels on the CustomResourceDefinition itself. */
  readonly labels: Readonly<Record<string, string>>;
  readonly schema: JsonSchema;
  readonly hasStatus: boolean;
  readonly columns: readonly PrinterColumn[];
  /** What is wrong with this object that the object alone (and its predecessor) can tell, beyond the schema. */
  validate(object: T, old: T | undefined): FieldError[];
}

export interface PrinterColumn {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  jsonPath: string;
  description?: string;
  format?: string;
  /** 0 is always shown, more only with `-o wide`. */
  priority?: number;
}

interface Declaration<Spec, Status> {
  group: string;
  version: string;
  kind: string;
  plural: string;
  singular?: string;
  shortNames?: string[];
  categories?: string[];
  scope: 'Namespaced' | 'Cluster';
  description: string;
  labels?: Record<string, string>;
  spec: Shape<Spec>;
  /** Left out where nothing ever writes a status. */
  status?: Shape<Status>;
  statusIsReport?: boolean;
  columns?: PrinterColumn[];
  validate?: (object: Declared<Spec, Status>, old: Declared<Spec, Status> | undefined) => FieldError[];
}
export type Declared<Spec, Status> = ApiObject & { spec: Spec; status?: Status };

export function defineKind<Spec, Status = never>(
  declaration: Declaration<Spec, Status>,
): DeclaredKind<Declared<Spec, Status>> {
  const { group, version, kind, plural, scope, description, spec, status } = declaration;
  return {
    group,
    version,
    kind,
    plural,
    namespaced: scope === 'Namespaced',
    statusIsReport: declaration.statusIsReport ?? false,
    listKind: `${kind}List`,
    singular: declaration.singular ?? kind.toLowerCase(),
    shortNames: declaration.shortNames ?? [],
    categories: declaration.categories ?? [],
    description,
    labels: declaration.labels ?? {},
    schema: {
      type: 'object',
      description,
      required: ['spec'],
      properties: {
        apiVersion: { type: 'string', description: API_VERSION },
        kind: { type: 'string', description: KIND },
        metadata: { type: 'object' },
        spec: spec.schema,
        ...(status === undefined ? {} : { status: status.schema }),
      },
    },
    hasStatus: status !== undefined,
    columns: declaration.columns ?? [],
    validate: declaration.validate ?? (() => []),
  };
}

/** A kind that every server brings along; only what is needed to address it. */
export const builtinKind = <T extends ApiObject>(
  group: string,
  version: string,
  kind: string,
  plural: string,
  scope: 'Namespaced' | 'Cluster' = 'Namespaced',
): Kind<T> => ({ group, version, kind, plural, namespaced: scope === 'Namespaced' });

export const apiVersionOf = ({ group, version }: Pick<Kind, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`;

const API_VERSION = 'Group and version of the schema that this object is written in.';
const KIND = 'The kind of object that this is.';
