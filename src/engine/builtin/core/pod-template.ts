import { equalJson } from '../../../api/json.ts';
import { ofContainers } from '../apps/workload-columns.ts';
import { defineBuiltin } from '../builtin-kind.ts';
import { column, nameColumn } from '../columns.ts';
import { validateAnnotations, validateLabels } from '../metadata.ts';
import { objectAt, objectMadeAt, textMapAt } from '../reading.ts';
import { defaultPodSpec } from './pod-defaults.ts';
import { validatePodSpec } from './pod-spec-rules.ts';

export const podTemplates = defineBuiltin({
  group: '',
  version: 'v1',
  kind: 'PodTemplate',
  plural: 'podtemplates',
  namespaced: true,
  qualifiedFinalizers: true,
  columns: [
    nameColumn,
    column('Containers', { description: 'Names of the containers.' }, (object) => ofContainers(object, 'name')),
    column('Images', { description: 'Images of the containers.' }, (object) => ofContainers(object, 'image')),
    column('Pod Labels', { description: 'Labels of the pods.' }, (object) => {
      const labels = textMapAt(objectAt(objectAt(object, 'template'), 'metadata'), 'labels');
      return (
        [...labels]
          .map(([key, value]) => `${key}=${value}`)
          .sort()
          .join(',') || '<none>'
      );
    }),
  ],
  hasGeneration: true,

  defaults(object) {
    defaultPodSpec(objectMadeAt(objectMadeAt(object, 'template'), 'spec'));
  },

  validate(object) {
    const template = objectAt(object, 'template');
    const metadata = objectAt(template, 'metadata');
    return [
      ...validateLabels(metadata?.['labels'], 'template.labels'),
      ...validateAnnotations(metadata?.['annotations'], 'template.annotations'),
      ...validatePodSpec(objectAt(template, 'spec') ?? {}, 'template.spec'),
    ];
  },

  generationChangesWith: (object, old) => !equalJson(object['template'] ?? null, old['template'] ?? null),
});
