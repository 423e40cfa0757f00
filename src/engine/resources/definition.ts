import type { Condition } from '../../api/condition.ts';
import type { CustomResourceDefinition } from '../../api/crd.ts';
import type { JsonObject } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import type { PrinterColumn } from '../../api/kind.ts';
import type { ObjectMeta } from '../../api/object.ts';

/** A CustomResourceDefinition as it is stored: validated and defaulted, so that what is required is there. */
export interface Definition {
  metadata: ObjectMeta;
  spec: Omit<CustomResourceDefinition['spec'], 'versions' | 'names'> & {
    names: Names;
    versions: DefinitionVersion[];
    conversion?: { strategy: string };
  };
  status?: DefinitionStatus;
}

export interface Names {
  kind: string;
  plural: string;
  singular?: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

export interface DefinitionVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: JsonSchema };
  subresources?: {
    status?: object;
    scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  };
  additionalPrinterColumns?: PrinterColumn[];
  selectableFields?: { jsonPath: string }[];
}

export interface DefinitionStatus {
  conditions?: Condition[];
  acceptedNames?: Names;
  storedVersions?: string[];
}

/** Only for what has passed validation: the schema of definitions guarantees the shape. */
export const definitionOf = (object: JsonObject): Definition => object as unknown as Definition;

/** Custom objects are all removed before their definition goes; this finalizer holds it until then. */
export const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

/**
 * The status of a definition, decided at once: names that nobody else has are accepted and served with the very write that
 * asked for them, so that a client which waits for `Established` never has to.
 */
export function definitionStatus(
  definition: Definition,
  others: readonly { group: string; names: Names; definition: string }[],
  now: string,
): DefinitionStatus {
  const { group, names, versions } = definition.spec;
  const before = definition.status;
  const taken = others.filter((other) => other.group === group && other.definition !== definition.metadata.name);
  const clash = clashOf(
    names,
    taken.map((other) => other.names),
  );
  const wasEstablished =
    before?.conditions?.some((each) => each.type === 'Established' && each.status === 'True') === true;
  const wanted: Omit<Condition, 'lastTransitionTime'>[] = [
    clash === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...clash },
    clash === undefined || wasEstablished
      ? {
          type: 'Established',
          status: 'True',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
        }
      : { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
  ];
  const kept = before?.conditions?.filter((each) => !wanted.some((condition) => condition.type === each.type)) ?? [];
  const conditions = [
    ...wanted.map((condition) => {
      const old = before?.conditions?.find((each) => each.type === condition.type);
      return { lastTransitionTime: old?.status === condition.status ? old.lastTransitionTime : now, ...condition };
    }),
    ...kept,
  ];
  const storage = versions.find((version) => version.storage)?.name;
  const stored = new Set([...(before?.storedVersions ?? []), ...(storage === undefined ? [] : [storage])]);
  return {
    conditions,
    acceptedNames: clash === undefined ? names : (before?.acceptedNames ?? { kind: '', plural: '' }),
    storedVersions: [...stored],
  };
}

export const isEstablished = (definition: Definition): boolean =>
  definition.status?.conditions?.some((each) => each.type === 'Established' && each.status === 'True') === true;

function clashOf(names: Names, taken: readonly Names[]): { reason: string; message: string } | undefined {
  const used = new Set(taken.flatMap((each) => [each.plural, each.singular ?? '', ...(each.shortNames ?? [])]));
  const kinds = new Set(taken.flatMap((each) => [each.kind, each.listKind ?? '']));
  const inUse = (name: string) => `"${name}" is already in use`;
  if (used.has(names.plural)) return { reason: 'PluralConflict', message: inUse(names.plural) };
  if (names.singular && used.has(names.singular)) return { reason: 'SingularConflict', message: inUse(names.singular) };
  const short = names.shortNames?.find((name) => used.has(name));
  if (short !== undefined) return { reason: 'ShortNamesConflict', message: inUse(short) };
  if (kinds.has(names.kind)) return { reason: 'KindConflict', message: inUse(names.kind) };
  if (names.listKind && kinds.has(names.listKind))
    return { reason: 'ListKindConflict', message: inUse(names.listKind) };
  return undefined;
}
