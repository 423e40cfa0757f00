import type { JsonObject } from '../../../api/json.ts';

export type Fields = JsonObject;

export const named = (apiVersion: string, kind: string, name: string, fields: Fields = {}): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name },
  ...fields,
});
export const pod = (spec: Fields): JsonObject =>
  named('v1', 'Pod', 'p', { spec: { containers: [{ name: 'c', image: 'img' }], ...spec } });
export const con = (container: Fields, spec: Fields = {}): JsonObject =>
  pod({ containers: [{ name: 'c', image: 'img:1', ...container }], ...spec });
export const svc = (spec: Fields, metadata: Fields = {}): JsonObject =>
  named('v1', 'Service', '', { metadata: { name: 's', ...metadata }, spec });
export const template: JsonObject = {
  metadata: { labels: { a: 'b' }, creationTimestamp: null },
  spec: { containers: [{ name: 'c', image: 'x' }] },
};
export const dep = (spec: Fields): JsonObject =>
  named('apps/v1', 'Deployment', 'd', { spec: { selector: { matchLabels: { a: 'b' } }, template, ...spec } });
export const sec = (fields: Fields): JsonObject => named('v1', 'Secret', 'x', fields);
export const cm = (fields: Fields): JsonObject => named('v1', 'ConfigMap', 'x', fields);
export const ns = (fields: Fields = {}): JsonObject => named('v1', 'Namespace', 'x', fields);
export const node = (fields: Fields = {}): JsonObject => named('v1', 'Node', 'n', fields);
export const meta = (metadata: Fields): JsonObject => cm({ metadata: { name: 'x', ...metadata } });
export const onPod: JsonObject = { kind: 'Pod', name: 'p', namespace: 'default' };
export const ev = (fields: Fields): JsonObject => named('v1', 'Event', 'e', { involvedObject: onPod, ...fields });
export const nev = (fields: Fields): JsonObject =>
  named('events.k8s.io/v1', 'Event', 'e', { regarding: onPod, ...fields });
export const lease = (spec: Fields): JsonObject => named('coordination.k8s.io/v1', 'Lease', 'l', { spec });
export const version: JsonObject = {
  name: 'v1',
  served: true,
  storage: true,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            a: { type: 'string' },
            o: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      },
    },
  },
};
export const crd = (spec: Fields = {}, metadata: Fields = {}): JsonObject =>
  named('apiextensions.k8s.io/v1', 'CustomResourceDefinition', '', {
    metadata: { name: 'nets.lab.example.com', ...metadata },
    spec: {
      group: 'lab.example.com',
      scope: 'Namespaced',
      names: { plural: 'nets', kind: 'Net' },
      versions: [version],
      ...spec,
    },
  });
export const ver = (fields: Fields): JsonObject => crd({ versions: [{ ...version, ...fields }] });
export const long = 'a'.repeat(300);
