import { type Declared, defineKind } from '../kind.ts';
import { defaulted, type Infer, integer, list, object, optional, string } from '../shape.ts';
import { netConfigFaults } from './netconfig.faults.ts';
import { GROUP, networkName, optionalRoutes, serviceNetwork, subnetName, VERSION } from './shapes.ts';

const address = (description: string) => string({ description });

const subnetShape = object({
  name: subnetName,
  cidr: address('The addresses of the subnet, as a prefix.'),
  dnsDomain: optional(string({ description: 'Takes precedence over the domain of the network.' })),
  vlan: optional(integer({ maximum: 4094, description: 'The VLAN that carries the subnet; untagged when left out.' })),
  allocationRanges: list(
    object({
      start: address('The first address of the range.'),
      end: address('The last address of the range.'),
    }),
    { description: 'Where addresses are taken from that nobody asked for by number, in this order.' },
  ),
  excludeAddresses: optional(list(string(), { description: 'Addresses of the subnet that are given to nobody.' })),
  gateway: optional(address('The router of the subnet; given to nobody unless asked for as fixedIP.')),
  routes: optionalRoutes,
});

const networkShape = object({
  name: networkName,
  dnsDomain: optional(string({ description: 'The domain under which hosts have names on this network.' })),
  mtu: defaulted(integer({ description: 'The largest packet, in bytes, that the network carries.' }), 1500),
  subnets: list(subnetShape, { description: 'The subnets of the network.' }),
  serviceNetwork: optional(serviceNetwork),
});

const specShape = object({ networks: list(networkShape, { description: 'The networks.' }) });
const statusShape = object({});

export const NetConfig = defineKind({
  group: GROUP,
  version: VERSION,
  kind: 'NetConfig',
  plural: 'netconfigs',
  shortNames: ['netcfg', 'netscfg'],
  scope: 'Namespaced',
  description:
    'The networks of an environment: their subnets, and which addresses may be given to whom. One per namespace.',
  labels: {
    'backup.openstack.org/restore': 'true',
    'backup.openstack.org/category': 'dataplane',
    'backup.openstack.org/restore-order': '20',
  },
  spec: specShape,
  status: statusShape,
  validate: (netConfig) => netConfigFaults(netConfig.spec),
});
export type NetConfig = Declared<NetConfigSpec, Infer<typeof statusShape>>;
export type NetConfigSpec = Infer<typeof specShape>;
export type NetConfigNetwork = Infer<typeof networkShape>;
export type NetConfigSubnet = Infer<typeof subnetShape>;
