import { conditionsShape } from '../condition.ts';
import type { ServiceSpec } from '../core/service.ts';
import { type Declared, defineKind } from '../kind.ts';
import {
  boolean,
  defaulted,
  type Infer,
  integer,
  list,
  map,
  object,
  oneOf,
  optional,
  type Shape,
  string,
} from '../shape.ts';
import { DEFAULT_SELECTOR } from './dnsdata.ts';
import { GROUP, VERSION } from './shapes.ts';

/** What of dnsmasq's configuration people may set. */
export const OPTION_KEYS = [
  'server',
  'rev-server',
  'srv-host',
  'txt-record',
  'ptr-record',
  'rebind-domain-ok',
  'naptr-record',
  'cname',
  'host-record',
  'caa-record',
  'dns-rr',
  'auth-zone',
  'synth-domain',
  'no-negcache',
  'local',
  'local-ttl',
  'dhcp-ttl',
  'max-ttl',
] as const;

const optionShape = object({
  key: oneOf(OPTION_KEYS, { description: 'The name of the option. An option may occur several times.' }),
  values: list(string(), { description: 'Its values, which are joined by commas; empty for an option without any.' }),
});

const endpointShape = object({
  ipAddressPool: string({ minLength: 1, description: 'The pool that the address is from.' }),
  loadBalancerIPs: list(string(), { description: 'The addresses to ask the pool for.' }),
  sharedIP: defaulted(boolean({ description: 'Whether other Services may have the same address.' }), true),
  sharedIPKey: defaulted(
    string({ description: 'Services of the same key share addresses; the name of the pool when empty.' }),
    '',
  ),
});

type ServicePart = Partial<ServiceSpec>;

/** Fields of a Service that are laid over the one that would be made. */
const servicePartShape: Shape<ServicePart> = {
  schema: {
    type: 'object',
    description: 'Of the specification of the Service.',
    properties: {
      type: { type: 'string' },
      sessionAffinity: { type: 'string' },
      loadBalancerSourceRanges: { type: 'array', items: { type: 'string' } },
      externalName: { type: 'string' },
      sessionAffinityConfig: {
        type: 'object',
        properties: {
          clientIP: { type: 'object', properties: { timeoutSeconds: { type: 'integer', format: 'int32' } } },
        },
      },
      externalTrafficPolicy: { type: 'string' },
      ipFamilyPolicy: { type: 'string' },
      loadBalancerClass: { type: 'string' },
      internalTrafficPolicy: { type: 'string' },
    },
  },
};

const overrideShape = object({
  service: optional(
    object({
      metadata: optional(
        object(
          { labels: optional(map(string())), annotations: optional(map(string())) },
          { description: 'Additions.' },
        ),
      ),
      spec: optional(servicePartShape),
    }),
  ),
});

const specShape = object({
  replicas: defaulted(integer({ format: 'int32', minimum: 0, description: 'How many servers answer.' }), 1),
  options: optional(list(optionShape, { description: 'What dnsmasq is told beside the hosts.' })),
  nodeSelector: optional(map(string(), { description: 'Labels of the hosts that the servers may run on.' })),
  dnsDataLabelSelectorValue: defaulted(
    string({ description: 'Which hosts are served: those of ConfigMaps whose label dnsmasqhosts has this value.' }),
    DEFAULT_SELECTOR,
  ),
  override: optional(overrideShape),
  externalEndpoints: optional(
    list(endpointShape, {
      description: 'The former way to say where the server is reached: a Service for each entry.',
    }),
  ),
  topologyRef: optional(
    object(
      { name: optional(string()), namespace: optional(string()) },
      { description: 'A Topology for the placement.' },
    ),
  ),
  containerImage: optional(string({ description: 'The image, on clusters that run images.' })),
});

const statusShape = object({
  conditions: optional(conditionsShape),
  observedGeneration: optional(integer({ format: 'int64', description: 'The generation that the status is about.' })),
  hash: optional(map(string(), { description: 'Changes when what the servers are told changes.' })),
  readyCount: optional(integer({ format: 'int32', description: 'How many servers answer now.' })),
  dnsAddresses: optional(list(string(), { description: 'Where hosts ask.' })),
  dnsClusterAddresses: optional(list(string(), { description: 'Where pods ask.' })),
  lastAppliedTopology: optional(
    object({ name: string(), namespace: string() }, { description: 'The Topology that the servers were placed by.' }),
  ),
});

export const DNSMasq = defineKind({
  group: GROUP,
  version: VERSION,
  kind: 'DNSMasq',
  plural: 'dnsmasqs',
  scope: 'Namespaced',
  description: 'DNS servers for the hosts of a namespace.',
  spec: specShape,
  status: statusShape,
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[0].status', description: 'Ready' },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[0].message', description: 'Message' },
  ],
});
export type DNSMasq = Declared<Infer<typeof specShape>, DNSMasqStatus>;
export type DNSMasqStatus = Infer<typeof statusShape>;
export type DNSMasqOption = Infer<typeof optionShape>;
export type ExternalEndpoint = Infer<typeof endpointShape>;
