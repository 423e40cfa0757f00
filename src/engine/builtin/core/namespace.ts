import type { JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { qualifiedNameFaults } from '../../../api/syntax.ts';
import { defineBuiltin, statusSubresource } from '../builtin-kind.ts';
import { ageColumn, column, nameColumn } from '../columns.ts';
import { invalidFor, invalidValue } from '../field-errors.ts';
import { unqualified } from '../metadata.ts';
import { isAbsent, metadataOf, nameOf, objectMadeAt, specOf, statusOf, textAt, textsAt } from '../reading.ts';

const of = { group: '', version: 'v1', kind: 'Namespace' };

export const namespaces = defineBuiltin({
  ...of,
  plural: 'namespaces',
  shortNames: ['ns'],
  namespaced: false,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  subresources: [statusSubresource(of), { name: 'finalize', verbs: ['update'], responseKind: of }],
  nameRule: 'label',
  qualifiedFinalizers: true,
  columns: [
    nameColumn,
    column('Status', { description: 'Whether the namespace is active or about to vanish.' }, phaseOf),
    ageColumn,
  ],
  selectableFields: { 'status.phase': phaseOf, name: nameOf },

  defaults(namespace) {
    labelWithName(namespace);
    const status = objectMadeAt(namespace, 'status');
    if (textAt(status, 'phase') === '') status['phase'] = 'Active';
  },

  prepare(namespace, old) {
    labelWithName(namespace);
    const spec = objectMadeAt(namespace, 'spec');
    const finalizers = textsAt(old === undefined ? spec : specOf(old), 'finalizers');
    if (old !== undefined) {
      // Only /finalize changes these: they go when all that is in the namespace has gone.
      if (finalizers.length > 0) spec['finalizers'] = finalizers;
      else delete spec['finalizers'];
      return;
    }
    namespace['status'] = { phase: 'Active' };
    spec['finalizers'] = finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes'];
  },

  validate(namespace, old) {
    return [...validateSpecFinalizers(namespace), ...(old === undefined ? [] : validatePhase(namespace))];
  },

  beginDeletion(namespace) {
    objectMadeAt(namespace, 'status')['phase'] = 'Terminating';
  },

  isHeld: (namespace) => textsAt(specOf(namespace), 'finalizers').length > 0,
});

function phaseOf(namespace: JsonObject): string {
  return textAt(statusOf(namespace), 'phase');
}

/** Selectors find a namespace by name through this label. A name that is yet to be generated has none. */
function labelWithName(namespace: JsonObject): void {
  const name = nameOf(namespace);
  if (name !== '') objectMadeAt(metadataOf(namespace), 'labels')['kubernetes.io/metadata.name'] = name;
}

function validateSpecFinalizers(namespace: JsonObject): FieldError[] {
  return textsAt(specOf(namespace), 'finalizers').flatMap((finalizer) => [
    ...invalidFor('spec.finalizers', finalizer, qualifiedNameFaults(finalizer)),
    ...unqualified(finalizer, 'spec.finalizers'),
  ]);
}

function validatePhase(namespace: JsonObject): FieldError[] {
  const phase = phaseOf(namespace);
  if (isAbsent(metadataOf(namespace), 'deletionTimestamp')) {
    if (phase === 'Active') return [];
    return [invalidValue('status.Phase', phase, "may only be 'Active' if `deletionTimestamp` is empty")];
  }
  if (phase === 'Terminating') return [];
  return [invalidValue('status.Phase', phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")];
}
