import { equalJson, type JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { dnsSubdomainFaults, pathSegmentFaults } from '../../../api/syntax.ts';
import { type BuiltinKind, defineBuiltin } from '../builtin-kind.ts';
import { ageColumn, column, nameColumn, wideColumn } from '../columns.ts';
import { invalidFor, invalidValue, required, unsupported } from '../field-errors.ts';
import { fill, membersAt, objectAt, objectsAt, textAt } from '../reading.ts';
import { RBAC } from './policy-rules.ts';

const binding = (kind: string, namespaced: boolean): BuiltinKind =>
  defineBuiltin({
    group: RBAC,
    version: 'v1',
    kind,
    plural: `${kind.toLowerCase()}s`,
    namespaced,
    nameRule: 'path',
    qualifiedFinalizers: false,
    columns: [
      nameColumn,
      column('Role', { description: 'What is granted.' }, (object) => {
        const role = objectAt(object, 'roleRef');
        return `${textAt(role, 'kind')}/${textAt(role, 'name')}`;
      }),
      ageColumn,
      wideColumn('Users', 'To which users.', (object) => subjectsOf(object, 'User')),
      wideColumn('Groups', 'To which groups.', (object) => subjectsOf(object, 'Group')),
      wideColumn('ServiceAccounts', 'To which accounts.', (object) => subjectsOf(object, 'ServiceAccount')),
    ],

    defaults(object) {
      const role = objectAt(object, 'roleRef');
      if (role !== undefined) fill(role, 'apiGroup', RBAC);
      for (const subject of membersAt(object, 'subjects')) {
        if (PEOPLE.includes(textAt(subject, 'kind'))) fill(subject, 'apiGroup', RBAC);
      }
    },

    validate(object, old) {
      const errors = validateRole(objectAt(object, 'roleRef') ?? {}, namespaced);
      for (const [i, subject] of objectsAt(object, 'subjects').entries()) {
        errors.push(...validateSubject(subject, `subjects[${i}]`, namespaced));
      }
      // Who may edit the subjects of a binding must not come to hand out another role with it.
      if (old !== undefined && !equalJson(object['roleRef'] ?? {}, old['roleRef'] ?? {})) {
        errors.push(invalidValue('roleRef', object['roleRef'], 'cannot change roleRef'));
      }
      return errors;
    },
  });

const PEOPLE = ['User', 'Group'];

export const roleBindings = binding('RoleBinding', true);
export const clusterRoleBindings = binding('ClusterRoleBinding', false);

const subjectsOf = (object: JsonObject, kind: string): string =>
  objectsAt(object, 'subjects')
    .filter((subject) => textAt(subject, 'kind') === kind)
    .map((subject) => {
      const namespace = kind === 'ServiceAccount' ? textAt(subject, 'namespace') : '';
      return namespace === '' ? textAt(subject, 'name') : `${namespace}/${textAt(subject, 'name')}`;
    })
    .join(', ');

function validateRole(role: JsonObject, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const [group, kind, name] = [textAt(role, 'apiGroup'), textAt(role, 'kind'), textAt(role, 'name')];
  if (group !== RBAC) errors.push(unsupported('roleRef.apiGroup', group, [RBAC]));
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  if (!kinds.includes(kind)) errors.push(unsupported('roleRef.kind', kind, kinds));
  if (name === '') errors.push(required('roleRef.name'));
  else errors.push(...invalidFor('roleRef.name', name, pathSegmentFaults(name)));
  return errors;
}

function validateSubject(subject: JsonObject, path: string, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const [kind, name, group] = [textAt(subject, 'kind'), textAt(subject, 'name'), textAt(subject, 'apiGroup')];
  if (name === '') errors.push(required(`${path}.name`));
  if (kind === 'ServiceAccount') {
    if (name !== '') errors.push(...invalidFor(`${path}.name`, name, dnsSubdomainFaults(name)));
    if (group !== '') errors.push(unsupported(`${path}.apiGroup`, group, ['']));
    // In a namespace, an account without one is of the same namespace.
    if (!namespaced && textAt(subject, 'namespace') === '') errors.push(required(`${path}.namespace`));
  } else if (PEOPLE.includes(kind)) {
    if (group !== RBAC) errors.push(unsupported(`${path}.apiGroup`, group, [RBAC]));
  } else errors.push(unsupported(`${path}.kind`, kind, ['ServiceAccount', ...PEOPLE]));
  return errors;
}
