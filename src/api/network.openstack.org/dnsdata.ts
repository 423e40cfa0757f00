import { conditionsShape } from '../condition.ts';
import { type Declared, defineKind } from '../kind.ts';
import { defaulted, type Infer, integer, list, object, optional, string } from '../shape.ts';
import { GROUP, VERSION } from './shapes.ts';

/** The value of the label by which a DNSMasq finds its hosts, where nobody chose another. */
export const DEFAULT_SELECTOR = 'dnsdata';

const hostShape = object({
  ip: string({ description: 'The address that the names stand for.' }),
  hostnames: list(string(), {
    description: 'The names; the first of them by the alphabet is the answer to a reverse lookup.',
  }),
});

const specShape = object({
  hosts: optional(list(hostShape, { description: 'Addresses and their names.' })),
  dnsDataLabelSelectorValue: defaulted(
    string({ description: 'Which DNSMasqs serve these hosts: those with the same value.' }),
    DEFAULT_SELECTOR,
  ),
});

const statusShape = object({
  conditions: optional(conditionsShape),
  observedGeneration: optional(integer({ format: 'int64', description: 'The generation that the status is about.' })),
  hash: optional(string({ description: 'Changes when what is served changes.' })),
});

export const DNSData = defineKind({
  group: GROUP,
  version: VERSION,
  kind: 'DNSData',
  plural: 'dnsdata',
  scope: 'Namespaced',
  description: 'Hosts whose names a DNSMasq answers for.',
  labels: {
    'backup.openstack.org/restore': 'true',
    'backup.openstack.org/category': 'dataplane',
    'backup.openstack.org/restore-order': '20',
  },
  spec: specShape,
  status: statusShape,
  statusIsReport: true,
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[0].status', description: 'Ready' },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[0].message', description: 'Message' },
  ],
});
export type DNSData = Declared<Infer<typeof specShape>, DNSDataStatus>;
export type DNSDataStatus = Infer<typeof statusShape>;
export type DNSHost = Infer<typeof hostShape>;
