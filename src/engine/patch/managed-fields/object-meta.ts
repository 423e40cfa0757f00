import type { JsonSchema } from '../../../api/json-schema.ts';

const text: JsonSchema = { type: 'string' };
const texts: JsonSchema = { type: 'object', additionalProperties: text };

/** How the metadata of every object is shared; the schemas of custom resources say nothing about it. */
export const objectMetaSchema: JsonSchema = {
  type: 'object',
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    uid: text,
    resourceVersion: text,
    generation: { type: 'integer' },
    creationTimestamp: text,
    deletionTimestamp: text,
    deletionGracePeriodSeconds: { type: 'integer' },
    selfLink: text,
    labels: texts,
    annotations: texts,
    finalizers: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    ownerReferences: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
      items: {
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        properties: {
          apiVersion: text,
          kind: text,
          name: text,
          uid: text,
          controller: { type: 'boolean' },
          blockOwnerDeletion: { type: 'boolean' },
        },
      },
    },
    managedFields: { type: 'array', 'x-kubernetes-list-type': 'atomic' },
  },
};
