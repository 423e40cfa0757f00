import type { JsonObject } from '../../../api/json.ts';
import { crd, ver } from './builders.fixture.ts';

export const definitions: readonly JsonObject[] = [
  crd(),
  crd({}, { name: 'x.lab.example.com' }),
  crd({ group: 'nodots' }),
  crd({ group: 'A.b' }),
  crd({ scope: 'X' }),
  crd({ scope: '' }),
  crd({
    names: { plural: 'Nets', kind: 'net_', listKind: 'net_', shortNames: ['A'], categories: ['B'], singular: '1' },
  }),
  crd({ names: {} }),
  crd({ versions: [] }),
  ver({ storage: false }),
  ver({ schema: null }),
  ver({ deprecationWarning: 'x' }),
  ver({ deprecated: true, deprecationWarning: '' }),
  ver({ subresources: { scale: {} } }),
  ver({
    subresources: { scale: { specReplicasPath: 'spec', statusReplicasPath: '.spec.x', labelSelectorPath: '.foo' } },
  }),
  ver({ additionalPrinterColumns: [{}] }),
  ver({ additionalPrinterColumns: [{ name: 'a', type: 'x', format: 'y', jsonPath: 'z' }] }),
  ver({
    selectableFields: [
      { jsonPath: '.spec.a' },
      { jsonPath: '.spec.a' },
      { jsonPath: '.spec.zzz' },
      { jsonPath: '.spec.o' },
      {},
    ],
  }),
  crd({ preserveUnknownFields: true }),
  crd({ conversion: { strategy: 'X' } }),
  crd({ conversion: { strategy: 'Webhook' } }),
  crd({ group: 'x.k8s.io' }, { name: 'nets.x.k8s.io' }),
  crd({ group: 'x.k8s.io' }, { name: 'nets.x.k8s.io', annotations: { 'api-approved.kubernetes.io': 'foo' } }),
  crd(
    { group: 'x.k8s.io' },
    { name: 'nets.x.k8s.io', annotations: { 'api-approved.kubernetes.io': 'https://github.com/x' } },
  ),
  crd({ conversion: { strategy: 'None', webhook: { conversionReviewVersions: ['v1'] } } }),
];
