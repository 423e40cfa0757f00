import { conditionsShape } from '../condition.ts';
import { type Declared, defineKind } from '../kind.ts';
import { boolean, defaulted, type Infer, integer, list, object, oneOf, optional, string } from '../shape.ts';
import { poolFaults } from './ip-address-pool.faults.ts';
import { GROUP, selectors, VERSION } from './shapes.ts';

const allocationShape = object(
  {
    priority: optional(
      integer({ description: 'Pools with a lower number are tried first; 0, or none, comes after all others.' }),
    ),
    namespaces: optional(list(string(), { description: 'Serves Services of these namespaces.' })),
    namespaceSelectors: selectors('Serves Services of namespaces with these labels, besides the named ones.'),
    serviceSelectors: selectors(
      'Serves Services with these labels; of the right namespaces, where those are restricted too.',
    ),
  },
  {
    description:
      'Which Services the pool serves, and when it comes to its turn. Without it the pool serves every Service.',
  },
);

const specShape = object({
  addresses: list(string(), {
    description: 'The addresses of the pool, in order of preference: CIDRs or ranges first-last, IPv4 or IPv6.',
  }),
  autoAssign: defaulted(
    boolean({ description: 'Whether Services get an address without naming the pool or the address.' }),
    true,
  ),
  avoidBuggyIPs: defaulted(
    boolean({ description: 'Whether IPv4 addresses that end in .0 or .255 are given to nobody.' }),
    false,
  ),
  serviceAllocation: optional(allocationShape),
});

const count = (description: string) => optional(integer({ format: 'int64', description }));

const familyStatusShape = object({
  family: oneOf(['IPv4', 'IPv6']),
  total: integer({ format: 'int64', description: 'How many addresses the pool can give; at most 9007199254740991.' }),
  held: integer({ format: 'int64', description: 'How many of them Services, hosts or routers have.' }),
  free: integer({ format: 'int64', description: 'How many of them nobody has; at most 9007199254740991.' }),
  excluded: integer({ format: 'int64', description: 'How many addresses of its ranges are given to nobody.' }),
  next: optional(string({ description: 'The address that is given next.' })),
});

const statusShape = object({
  assignedIPv4: count('How many IPv4 addresses Services have.'),
  assignedIPv6: count('How many IPv6 addresses Services have.'),
  availableIPv4: count('How many IPv4 addresses are left.'),
  availableIPv6: count('How many IPv6 addresses are left; never more than 9007199254740991.'),
  usage: optional(string({ description: 'How full the pool is, in a few words.' })),
  families: optional(
    list(familyStatusShape, { description: 'How full the pool is, by the families of its addresses.' }),
  ),
  conditions: optional(conditionsShape),
  observedGeneration: count('The generation that the status is about.'),
});

export const IPAddressPool = defineKind({
  group: GROUP,
  version: VERSION,
  kind: 'IPAddressPool',
  plural: 'ipaddresspools',
  scope: 'Namespaced',
  description: 'Addresses that Services of type LoadBalancer are given.',
  spec: specShape,
  status: statusShape,
  columns: [
    { name: 'Auto Assign', type: 'boolean', jsonPath: '.spec.autoAssign' },
    { name: 'Avoid Buggy IPs', type: 'boolean', jsonPath: '.spec.avoidBuggyIPs' },
    { name: 'Addresses', type: 'string', jsonPath: '.spec.addresses' },
    { name: 'Usage', type: 'string', jsonPath: '.status.usage' },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[0].message', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', priority: 1 },
  ],
  validate: poolFaults,
});
export type IPAddressPool = Declared<IPAddressPoolSpec, IPAddressPoolStatus>;
export type IPAddressPoolSpec = Infer<typeof specShape>;
export type IPAddressPoolStatus = Infer<typeof statusShape>;
export type PoolFamilyStatus = Infer<typeof familyStatusShape>;
