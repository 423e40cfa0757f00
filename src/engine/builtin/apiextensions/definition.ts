import { equalJson } from '../../../api/json.ts';
import { defineBuiltin, statusSubresource } from '../builtin-kind.ts';
import { column, nameColumn } from '../columns.ts';
import {
  fill,
  fillAbsent,
  flagAt,
  metadataOf,
  objectAt,
  objectMadeAt,
  objectsAt,
  specOf,
  statusOf,
  textAt,
  textsAt,
} from '../reading.ts';
import { validateDefinition } from './definition-rules.ts';

const of = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' };
const HTTPS = 443;

export const definitions = defineBuiltin({
  ...of,
  plural: 'customresourcedefinitions',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  subresources: [statusSubresource(of)],
  qualifiedFinalizers: false,
  unconditionalUpdate: false,
  statusIncludesMetadata: false,
  columns: [
    nameColumn,
    column(
      'Created At',
      { type: 'date', description: 'When the definition was created.' },
      (definition) => metadataOf(definition)['creationTimestamp'] ?? null,
    ),
  ],
  hasGeneration: true,

  defaults(definition) {
    const spec = objectMadeAt(definition, 'spec');
    const names = objectMadeAt(spec, 'names');
    const kind = textAt(names, 'kind');
    fill(names, 'singular', kind.toLowerCase());
    if (kind !== '') fill(names, 'listKind', `${kind}List`);
    fillAbsent(spec, 'conversion', { strategy: 'None' });
    const service = objectAt(objectAt(objectAt(objectAt(spec, 'conversion'), 'webhook'), 'clientConfig'), 'service');
    if (service !== undefined) fillAbsent(service, 'port', HTTPS);
  },

  prepare(definition, old) {
    const status = objectMadeAt(definition, 'status');
    const storage = objectsAt(specOf(definition), 'versions').find((version) => flagAt(version, 'storage'));
    // Objects may have been written in each version that has ever been the one for storage.
    const stored = new Set(textsAt(old && statusOf(old), 'storedVersions'));
    if (storage !== undefined) stored.add(textAt(storage, 'name'));
    status['storedVersions'] = [...stored];
  },

  validate: validateDefinition,
  generationChangesWith: (definition, old) => !equalJson(specOf(definition), specOf(old)),
});
