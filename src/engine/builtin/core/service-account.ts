import { defineBuiltin } from '../builtin-kind.ts';
import { ageColumn, column, nameColumn } from '../columns.ts';
import { objectsAt, textAt } from '../reading.ts';

export const serviceAccounts = defineBuiltin({
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  shortNames: ['sa'],
  namespaced: true,
  subresources: [
    {
      name: 'token',
      verbs: ['create'],
      responseKind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
    },
  ],
  qualifiedFinalizers: true,
  columns: [
    nameColumn,
    column(
      'Secrets',
      { description: 'Number of secrets that belong to the account.' },
      (account) => objectsAt(account, 'secrets').length,
    ),
    ageColumn,
  ],

  prepare(account) {
    // Only names count: the secrets are those of the account's own namespace.
    const secrets = objectsAt(account, 'secrets');
    if (secrets.length > 0) account['secrets'] = secrets.map((secret) => ({ name: textAt(secret, 'name') }));
  },
});
