import { equalJson, isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import type { FieldError } from '../../api/status.ts';
import {
  dns1035LabelFaults,
  dnsLabelFaults,
  dnsSubdomainFaults,
  labelValueFaults,
  pathSegmentFaults,
  qualifiedNameFaults,
} from '../../api/syntax.ts';
import {
  forbiddenField,
  IMMUTABLE,
  invalidFor,
  invalidValue,
  nonNegative,
  reported,
  required,
  tooLong,
} from './field-errors.ts';
import { metadataOf, numberAt, objectsAt, textAt, textsAt } from './reading.ts';

/** How the names of a kind's objects may be spelled. */
export type NameRule = 'subdomain' | 'label' | 'dns1035' | 'path';

export interface MetadataRules {
  readonly namespaced: boolean;
  readonly nameRule: NameRule;
  /** Whether finalizers must have a domain, the three of Kubernetes itself excepted. */
  readonly qualifiedFinalizers: boolean;
}

/** What is wrong with the metadata of a new object (`old` is absent) or of one that takes the place of `old`. */
export function validateMetadata(object: JsonObject, old: JsonObject | undefined, rules: MetadataRules): FieldError[] {
  const metadata = metadataOf(object);
  return reported([
    ...(old === undefined ? validateNames(metadata, rules) : validateUnchanged(metadata, metadataOf(old))),
    ...nonNegative('metadata.generation', numberAt(metadata, 'generation')),
    ...validateLabels(metadata['labels'], 'metadata.labels'),
    ...validateAnnotations(metadata['annotations'], 'metadata.annotations'),
    ...validateOwnerReferences(objectsAt(metadata, 'ownerReferences'), 'metadata.ownerReferences'),
    ...validateFinalizers(textsAt(metadata, 'finalizers'), 'metadata.finalizers', rules.qualifiedFinalizers),
  ]);
}

/** What is wrong with a name; `isPrefix` if something will be appended to it. */
export function nameFaults(rule: NameRule, name: string, isPrefix = false): string[] {
  if (rule === 'path') return isPrefix ? pathSegmentFaults(`${name}-`) : pathSegmentFaults(name);
  const checked = isPrefix && name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
  if (rule === 'label') return dnsLabelFaults(checked);
  return rule === 'dns1035' ? dns1035LabelFaults(checked) : dnsSubdomainFaults(checked);
}

export function validateLabels(labels: Json | undefined, path: string): FieldError[] {
  return entriesOf(labels).flatMap(([key, value]) => [
    ...invalidFor(path, key, qualifiedNameFaults(key)),
    ...invalidFor(path, value, labelValueFaults(value)),
  ]);
}

export function validateAnnotations(annotations: Json | undefined, path: string): FieldError[] {
  const entries = entriesOf(annotations);
  const errors = entries.flatMap(([key]) => invalidFor(path, key, qualifiedNameFaults(key.toLowerCase())));
  const size = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  return size > ANNOTATIONS_LIMIT ? [...errors, tooLong(path, ANNOTATIONS_LIMIT)] : errors;
}

export function validateFinalizers(finalizers: readonly string[], path: string, qualified: boolean): FieldError[] {
  const errors = finalizers.flatMap((finalizer) => invalidFor(path, finalizer, qualifiedNameFaults(finalizer)));
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalidValue(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  if (qualified) {
    for (const [i, finalizer] of finalizers.entries()) errors.push(...unqualified(finalizer, `${path}[${i}]`));
  }
  return errors;
}

/** Finalizers without a domain are those of Kubernetes itself. */
export function unqualified(finalizer: string, path: string): FieldError[] {
  if (finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)) return [];
  return [invalidValue(path, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')];
}

const STANDARD_FINALIZERS = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);
const ANNOTATIONS_LIMIT = 256 * 1024;

function validateNames(metadata: JsonObject, { namespaced, nameRule }: MetadataRules): FieldError[] {
  const prefix = textAt(metadata, 'generateName');
  const name = textAt(metadata, 'name');
  const errors: FieldError[] = [];
  if (prefix !== '') errors.push(...invalidFor('metadata.generateName', prefix, nameFaults(nameRule, prefix, true)));
  if (name === '') errors.push(required('metadata.name', 'name or generateName is required'));
  else errors.push(...invalidFor('metadata.name', name, nameFaults(nameRule, name)));
  const namespace = textAt(metadata, 'namespace');
  if (!namespaced) {
    if (namespace !== '') errors.push(forbiddenField('metadata.namespace', 'not allowed on this type'));
  } else if (namespace === '') errors.push(required('metadata.namespace'));
  else errors.push(...invalidFor('metadata.namespace', namespace, dnsLabelFaults(namespace)));
  return errors;
}

const FIXED = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'];

function validateUnchanged(metadata: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  if (numberAt(metadata, 'generation') < numberAt(old, 'generation')) {
    errors.push(invalidValue('metadata.generation', numberAt(metadata, 'generation'), 'must not be decremented'));
  }
  for (const field of FIXED) {
    if (!equalJson(metadata[field] ?? null, old[field] ?? null)) {
      errors.push(invalidValue(`metadata.${field}`, metadata[field], IMMUTABLE));
    }
  }
  return errors;
}

function validateOwnerReferences(references: readonly JsonObject[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller: string | undefined;
  let hasTwo = false;
  for (const reference of references) {
    errors.push(...validateOwnerReference(reference, path));
    if (reference['controller'] !== true) continue;
    const named = `${textAt(reference, 'kind')}/${textAt(reference, 'name')}`;
    if (controller === undefined) controller = named;
    else if (!hasTwo) {
      // Said once, however many there are: the list of them all comes with it.
      hasTwo = true;
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${named}`;
      errors.push(invalidValue(path, references, detail));
    }
  }
  return errors;
}

function validateOwnerReference(reference: JsonObject, path: string): FieldError[] {
  const apiVersion = textAt(reference, 'apiVersion');
  const errors: FieldError[] = [];
  if (!/^(?:[^/]*\/)?[^/]+$/.test(apiVersion)) {
    errors.push(invalidValue(`${path}.apiVersion`, apiVersion, 'version must not be empty'));
  }
  for (const field of ['kind', 'name', 'uid']) {
    const value = textAt(reference, field);
    if (value === '') errors.push(invalidValue(`${path}.${field}`, value, `${field} must not be empty`));
  }
  if (apiVersion === 'v1' && reference['kind'] === 'Event') {
    errors.push(invalidValue(path, reference, '/v1, Kind=Event is disallowed from being an owner'));
  }
  return errors;
}

const entriesOf = (map: Json | undefined): [string, string][] =>
  isJsonObject(map) ? Object.entries(map).map(([key, value]) => [key, typeof value === 'string' ? value : '']) : [];
