import { type Declared, defineKind } from '../kind.ts';
import { defaulted, type Infer, integer, list, object, optional, string } from '../shape.ts';
import type { FieldError } from '../status.ts';
import { GROUP, nameFaults, selectorFaults, selectorShape, selectors, VERSION } from './shapes.ts';

const preferenceShape = object({
  weight: integer({ minimum: 1, maximum: 100, description: 'How much the preference counts.' }),
  preference: selectorShape('The nodes that are preferred, by their labels; an empty one means all.'),
});

const specShape = object({
  ipAddressPools: optional(list(string(), { description: 'The pools whose addresses are announced, by name.' })),
  ipAddressPoolSelectors: selectors(
    'The pools whose addresses are announced, by their labels, besides the named ones. Without names and selectors all pools are.',
  ),
  nodeSelectors: selectors('The nodes that may announce; every node when left out.'),
  interfaces: optional(
    list(string(), { description: 'The interfaces to announce on, by name; all of the node when left out.' }),
  ),
  serviceSelectors: selectors('The Services whose addresses are announced; all of the pools when left out.'),
  preferredNodeSelectors: optional(
    list(preferenceShape, { description: 'Of the nodes that may announce, the highest sum of weights comes first.' }),
  ),
});

export const L2Advertisement = defineKind({
  group: GROUP,
  version: VERSION,
  kind: 'L2Advertisement',
  plural: 'l2advertisements',
  scope: 'Namespaced',
  description: 'How addresses of pools are announced on the networks that nodes are attached to: by ARP and NDP.',
  // An advertisement that says nothing is one for all pools, on all nodes and interfaces.
  spec: defaulted(specShape, {}),
  status: object({}),
  columns: [
    { name: 'IPAddressPools', type: 'string', jsonPath: '.spec.ipAddressPools' },
    { name: 'IPAddressPool Selectors', type: 'string', jsonPath: '.spec.ipAddressPoolSelectors' },
    { name: 'Interfaces', type: 'string', jsonPath: '.spec.interfaces' },
    { name: 'Node Selectors', type: 'string', jsonPath: '.spec.nodeSelectors', priority: 10 },
  ],
  validate: ({ metadata, spec }) => (metadata.deletionTimestamp === undefined ? advertisementFaults(spec) : []),
});
export type L2Advertisement = Declared<L2AdvertisementSpec, Record<string, never>>;
export type L2AdvertisementSpec = Infer<typeof specShape>;

function advertisementFaults(spec: L2AdvertisementSpec): FieldError[] {
  const preferences = spec.preferredNodeSelectors?.map(({ preference }) => preference);
  return [
    ...nameFaults(spec.ipAddressPools, 'spec.ipAddressPools', 'duplicate definition of ipAddressPools'),
    ...selectorFaults(spec.ipAddressPoolSelectors, 'spec.ipAddressPoolSelectors'),
    ...selectorFaults(spec.nodeSelectors, 'spec.nodeSelectors'),
    ...nameFaults(spec.interfaces, 'spec.interfaces', 'duplicate definition of interfaces'),
    ...selectorFaults(spec.serviceSelectors, 'spec.serviceSelectors'),
    ...selectorFaults(preferences, 'spec.preferredNodeSelectors'),
  ];
}
