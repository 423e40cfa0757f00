import { conditionsShape } from '../condition.ts';
import { type Declared, defineKind } from '../kind.ts';
import { defaulted, type Infer, integer, list, object, optional, string } from '../shape.ts';
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

const count = (description: string) => integer({ format: 'int64', description });

const subnetStatusShape = object({
  network: string({ description: 'The name of the network.' }),
  subnet: string({ description: 'The name of the subnet.' }),
  total: count(
    'How many addresses the allocation ranges give to those who ask for any: `held`, `cooling` and `free` together.',
  ),
  held: count('How many of them somebody has.'),
  cooling: optional(count('How many of them were given back and are not given again yet; absent when there are none.')),
  free: count('How many of them are left; like all of these numbers never more than 9007199254740991.'),
  heldOutside: count('How many other addresses of the subnet somebody has, such as a fixedIP outside of the ranges.'),
  excluded: count(
    'How many addresses of the ranges are given to nobody who does not ask for exactly them: those in excludeAddresses, the gateway, next hops of routes, network and broadcast address, and those that end in .0 (IPv6: in 16 zero bits).',
  ),
  next: optional(string({ description: 'What the next one who asks for any address gets; absent when it is full.' })),
});

const statusShape = object({
  usage: optional(string({ description: 'How full all subnets together are, in a few words.' })),
  subnets: optional(list(subnetStatusShape, { description: 'How full each subnet is.' })),
  conditions: optional(conditionsShape),
  observedGeneration: optional(count('The generation that the status is about.')),
});

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
  statusIsReport: true,
  columns: [
    { name: 'Usage', type: 'string', jsonPath: '.status.usage' },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[0].message', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
export type NetConfig = Declared<NetConfigSpec, NetConfigStatus>;
export type NetConfigSpec = Infer<typeof specShape>;
export type NetConfigStatus = Infer<typeof statusShape>;
export type SubnetStatus = Infer<typeof subnetStatusShape>;
export type NetConfigNetwork = Infer<typeof networkShape>;
export type NetConfigSubnet = Infer<typeof subnetShape>;
