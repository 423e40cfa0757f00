import { Address, addressFault } from '../address.ts';
import { conditionsShape } from '../condition.ts';
import { type Declared, defineKind } from '../kind.ts';
import { networkName, subnetName } from '../network.openstack.org/shapes.ts';
import { type Infer, integer, object, optional, type Shape, string } from '../shape.ts';
import type { FieldError } from '../status.ts';

const ANEW = 'must not change: delete the claim and make another one';
const unchanging = <T>({ schema }: Shape<T>): Shape<T> => ({
  schema: { ...schema, 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: ANEW }] },
});

const specShape = object(
  {
    host: unchanging(
      string({
        description: 'The host that the address is for. Its agent may write the claim; agents of others may not.',
        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
        maxLength: 253,
      }),
    ),
    network: unchanging(networkName),
    subnet: unchanging(subnetName),
    address: optional(
      unchanging(
        string({
          description:
            'Exactly this address; it need not lie in an allocation range, but must not be excluded. Any when left out.',
        }),
      ),
    ),
  },
  {
    'x-kubernetes-validations': [
      { rule: 'has(self.address) == has(oldSelf.address)', message: `address ${ANEW}`, fieldPath: '.address' },
    ],
  },
);

const statusShape = object({
  conditions: optional(conditionsShape),
  observedGeneration: optional(integer({ format: 'int64', description: 'The generation that the status is about.' })),
  address: optional(string({ description: 'The address; it stays for as long as the claim lives.' })),
  prefixLength: optional(integer({ description: 'How many bits of the address the subnet has in common.' })),
  gateway: optional(string({ description: 'The router of the subnet.' })),
  vlan: optional(integer({ description: 'The VLAN that carries the subnet.' })),
  mtu: optional(integer({ description: 'The largest packet, in bytes, that the network carries.' })),
});

export const AddressClaim = defineKind({
  group: 'netloom.io',
  version: 'v1alpha1',
  kind: 'AddressClaim',
  plural: 'addressclaims',
  shortNames: ['aclaim'],
  scope: 'Namespaced',
  description:
    'A request for one address on a network of the NetConfig of its namespace, for one host. Agents write those of their own host; the answer is in the status.',
  spec: specShape,
  status: statusShape,
  columns: [
    { name: 'Host', type: 'string', jsonPath: '.spec.host' },
    { name: 'Network', type: 'string', jsonPath: '.spec.network' },
    { name: 'Address', type: 'string', jsonPath: '.status.address' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[0].status' },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[0].message' },
    { name: 'Subnet', type: 'string', jsonPath: '.spec.subnet', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
export type AddressClaim = Declared<Infer<typeof specShape>, AddressClaimStatus>;
export type AddressClaimStatus = Infer<typeof statusShape>;

/** What is wrong with a claim by itself. */
export function claimFaults({ spec: { address } }: AddressClaim): FieldError[] {
  if (address === undefined || Address.parse(address) !== undefined) return [];
  return [{ type: 'Invalid', field: 'spec.address', value: address, detail: `"${address}" ${addressFault(address)}` }];
}
