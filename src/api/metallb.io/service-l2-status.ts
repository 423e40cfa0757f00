import { defineKind, type ObjectOf } from '../kind.ts';
import { defaulted, list, object, optional, string } from '../shape.ts';
import { GROUP, VERSION } from './shapes.ts';

const forGood = (description: string) =>
  optional(
    string({
      description,
      'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'Value is immutable' }],
    }),
  );

export const ServiceL2Status = defineKind({
  group: GROUP,
  version: VERSION,
  kind: 'ServiceL2Status',
  plural: 'servicel2statuses',
  scope: 'Namespaced',
  description: 'Which node announces the addresses of a Service. Kept by the announcer; people only read it.',
  spec: defaulted(object({}), {}),
  status: object({
    node: forGood('The node that announces.'),
    serviceName: forGood('The Service whose addresses are announced.'),
    serviceNamespace: forGood('The namespace of that Service.'),
    interfaces: optional(
      list(object({ name: optional(string({ description: 'The name of the interface.' })) }), {
        description: 'The interfaces that the addresses are announced on; none means all of the node.',
      }),
    ),
  }),
  columns: [
    { name: 'Allocated Node', type: 'string', jsonPath: '.status.node' },
    { name: 'Service Name', type: 'string', jsonPath: '.status.serviceName' },
    { name: 'Service Namespace', type: 'string', jsonPath: '.status.serviceNamespace' },
  ],
});
export type ServiceL2Status = ObjectOf<typeof ServiceL2Status>;
