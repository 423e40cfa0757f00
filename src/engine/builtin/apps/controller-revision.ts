import { equalJson, type JsonObject } from '../../../api/json.ts';
import { defineBuiltin } from '../builtin-kind.ts';
import { ageColumn, column, nameColumn } from '../columns.ts';
import { IMMUTABLE, invalidValue, nonNegative, required } from '../field-errors.ts';
import { isAbsent, metadataOf, numberAt, objectsAt, textAt } from '../reading.ts';

export const controllerRevisions = defineBuiltin({
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  namespaced: true,
  qualifiedFinalizers: true,
  columns: [
    nameColumn,
    column('Controller', { description: 'Whose revision it is.' }, controller),
    column('Revision', { description: 'Its number: the higher, the newer.' }, (revision) =>
      String(numberAt(revision, 'revision')),
    ),
    ageColumn,
  ],

  validate(revision, old) {
    const errors = nonNegative('revision', numberAt(revision, 'revision'));
    if (isAbsent(revision, 'data')) errors.push(required('data', 'data is mandatory'));
    if (old !== undefined && !equalJson(revision['data'] ?? null, old['data'] ?? null)) {
      errors.push(invalidValue('data', revision['data'], IMMUTABLE));
    }
    return errors;
  },
});

/** `statefulset.apps/web`, as kubectl takes it back. */
function controller(revision: JsonObject): string {
  const owner = objectsAt(metadataOf(revision), 'ownerReferences').find((each) => each['controller'] === true);
  if (owner === undefined) return '<none>';
  const [group = '', version] = textAt(owner, 'apiVersion').split('/', 2);
  const kind = textAt(owner, 'kind').toLowerCase();
  return `${version === undefined ? kind : `${kind}.${group}`}/${textAt(owner, 'name')}`;
}
