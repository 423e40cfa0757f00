import type { FieldError } from '../../../api/status.ts';
import { qualifiedNameFaults } from '../../../api/syntax.ts';
import { defineBuiltin } from '../builtin-kind.ts';
import { ageColumn, column, nameColumn } from '../columns.ts';
import { forbiddenField, invalidFor, invalidValue, unsupported } from '../field-errors.ts';
import { isAbsent, optionalNumberAt, specOf, textAt } from '../reading.ts';

export const leases = defineBuiltin({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
  qualifiedFinalizers: false,
  unconditionalUpdate: false,
  createOnUpdate: true,
  columns: [
    nameColumn,
    column('Holder', { description: 'Who holds the lease.' }, (lease) => textAt(specOf(lease), 'holderIdentity')),
    ageColumn,
  ],

  validate(lease) {
    const spec = specOf(lease);
    const errors: FieldError[] = [];
    const duration = optionalNumberAt(spec, 'leaseDurationSeconds');
    if (duration !== undefined && duration <= 0) {
      errors.push(invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
    }
    const transitions = optionalNumberAt(spec, 'leaseTransitions');
    if (transitions !== undefined && transitions < 0) {
      errors.push(invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
    }
    const strategy = textAt(spec, 'strategy');
    if (!isAbsent(spec, 'strategy')) errors.push(...validateStrategy(strategy));
    if (textAt(spec, 'preferredHolder') !== '' && strategy === '') {
      errors.push(forbiddenField('spec.preferredHolder', 'may only be specified if `strategy` is defined'));
    }
    return errors;
  },
});

function validateStrategy(strategy: string): FieldError[] {
  const path = 'spec.strategy.strategy';
  if (strategy.includes('/')) return invalidFor(path, strategy, qualifiedNameFaults(strategy));
  return strategy === 'OldestEmulationVersion' ? [] : [unsupported(path, strategy, ['OldestEmulationVersion'])];
}
