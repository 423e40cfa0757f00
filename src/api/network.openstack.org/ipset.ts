import { conditionsShape } from '../condition.ts';
import { type Declared, defineKind } from '../kind.ts';
import { boolean, defaulted, type Infer, integer, list, object, optional, string } from '../shape.ts';
import { GROUP, networkName, optionalRoutes, serviceNetwork, subnetName, VERSION } from './shapes.ts';

const requestShape = object({
  name: networkName,
  subnetName,
  fixedIP: optional(
    string({ description: 'Exactly this address; it need not lie in an allocation range, but must not be excluded.' }),
  ),
  defaultRoute: optional(
    boolean({ description: 'Whether the default route leads through this network. At most one per IP family.' }),
  ),
});

const reservedShape = object({
  network: networkName,
  subnet: subnetName,
  address: string({ description: 'The address that is reserved; it stays for as long as the IPSet lives.' }),
  dnsDomain: optional(string({ description: 'The domain of the subnet or, when it has none, of the network.' })),
  mtu: optional(integer({ description: 'The largest packet, in bytes, that the network carries.' })),
  cidr: optional(string({ description: 'The addresses of the subnet, as a prefix.' })),
  vlan: optional(integer({ description: 'The VLAN that carries the subnet.' })),
  gateway: optional(string({ description: 'The router of the subnet.' })),
  routes: optionalRoutes,
  serviceNetwork: optional(serviceNetwork),
});

const specShape = object({
  immutable: defaulted(
    boolean({ description: 'Whether changes of `networks` are refused until this is set to false.' }),
    false,
  ),
  networks: list(requestShape, { description: 'The networks to be reachable on.' }),
});

const statusShape = object({
  conditions: optional(conditionsShape),
  observedGeneration: optional(integer({ format: 'int64', description: 'The generation that the status is about.' })),
  reservation: optional(string({ description: 'The reserved addresses in one line.' })),
  reservations: optional(
    list(reservedShape, { description: 'What is reserved, and what a host must know to use it.' }),
  ),
});

export const IPSet = defineKind({
  group: GROUP,
  version: VERSION,
  kind: 'IPSet',
  plural: 'ipsets',
  scope: 'Namespaced',
  description: 'A request for one address on each of several networks, and what was reserved for it.',
  labels: {
    'backup.openstack.org/restore': 'true',
    'backup.openstack.org/category': 'dataplane',
    'backup.openstack.org/restore-order': '40',
  },
  spec: specShape,
  status: statusShape,
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[0].status', description: 'Ready' },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[0].message', description: 'Message' },
    { name: 'Reservation', type: 'string', jsonPath: '.status.reservation', description: 'Reservation' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', priority: 1 },
  ],
});
export type IPSet = Declared<Infer<typeof specShape>, IPSetStatus>;
export type IPSetStatus = Infer<typeof statusShape>;
export type NetworkRequest = Infer<typeof requestShape>;
export type ReservedAddress = Infer<typeof reservedShape>;
