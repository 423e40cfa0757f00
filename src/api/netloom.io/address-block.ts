import { Address, bitsOf } from '../address.ts';
import { type Declared, defineKind } from '../kind.ts';
import { Prefix } from '../prefix.ts';
import { type Infer, list, listByKey, object, optional, string, timestamp } from '../shape.ts';
import type { FieldError } from '../status.ts';

const holderFields = {
  apiGroup: optional(string({ description: 'API group of the holder; none for the core group.' })),
  kind: string({ description: 'Kind of the holder.' }),
  namespace: optional(string({ description: 'Namespace of the holder, where it is not that of the block.' })),
  name: string({ description: 'Name of the holder.' }),
  uid: string({ description: 'UID of the holder: another object of the same name holds nothing.' }),
};
const holderShape = object(holderFields, { description: 'Who has the address.' });

const sharerShape = object({
  ...holderFields,
  since: optional(
    timestamp({ description: 'Since when the address is promised to the sharer; anew each time before it is told.' }),
  ),
  ports: list(string(), { description: 'What the sharer serves at the address, such as TCP/80: nobody else may.' }),
  sharingKey: optional(string({ description: 'Only those with the same key share an address; none without one.' })),
  backends: optional(
    string({ description: 'The pods whose hosts alone may answer for the sharer; only those with the same share.' }),
  ),
});

const holdingShape = object({
  address: string({ description: 'The address, in canonical form.' }),
  holder: holderShape,
  network: string({ description: 'The network for which it is held.' }),
  subnet: string({ description: 'The subnet for which it is held.' }),
  since: timestamp({ description: 'Since when it is held.' }),
  coolsUntil: optional(
    timestamp({ description: 'The holder has given it back; until then nobody of another name gets the address.' }),
  ),
  sharers: optional(
    listByKey(sharerShape, ['uid'], {
      description: 'Who uses the address, the holder first, where it is one that several may share.',
    }),
  ),
});

const specShape = object({
  space: string({ description: 'Within what an address is unique; `underlay` for addresses of hosts.' }),
  prefix: string({ description: 'The 256 addresses: a /24 or a /120.' }),
  // Replaced as a whole: the version of the block guards them together, and keeping track of who owns which of them would
  // cost more than all the rest of a write.
  holdings: list(holdingShape, { description: 'What is held; an address once.', maxItems: 256 }),
});

export const AddressBlock = defineKind({
  group: 'netloom.io',
  version: 'v1alpha1',
  kind: 'AddressBlock',
  plural: 'addressblocks',
  scope: 'Namespaced',
  description:
    'Who holds which of 256 neighbouring addresses. Written by allocators only: whoever wins the write of a block has the address.',
  spec: specShape,
  columns: [
    { name: 'Space', type: 'string', jsonPath: '.spec.space' },
    { name: 'Prefix', type: 'string', jsonPath: '.spec.prefix' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  validate: (block, old) => blockFaults(block.spec, old?.spec),
});
export type AddressBlock = Declared<Infer<typeof specShape>, never>;
export type AddressHolder = Infer<typeof holderShape>;
export type AddressSharer = Infer<typeof sharerShape>;
export type AddressHolding = Infer<typeof holdingShape>;

/** A block takes the last 8 bits of an address. */
export const BLOCK_BITS = 8;

export const blockPrefix = (address: Address): Prefix => new Prefix(address, bitsOf(address.family) - BLOCK_BITS);

/** One name for one block, so that two allocators that both begin it meet. */
export const blockName = (space: string, { first, length }: Prefix): string =>
  `${space}-${first.toString().replaceAll(':', '-')}-${length}`;

function blockFaults(spec: AddressBlock['spec'], old: AddressBlock['spec'] | undefined): FieldError[] {
  const faults: FieldError[] = [];
  for (const field of ['space', 'prefix'] as const) {
    if (old !== undefined && old[field] !== spec[field]) {
      faults.push(invalid(`spec.${field}`, spec[field], `must not change, it was ${old[field]}`));
    }
  }
  const prefix = Prefix.parse(spec.prefix);
  if (prefix === undefined || prefix.length !== bitsOf(prefix.family) - BLOCK_BITS || `${prefix}` !== spec.prefix) {
    return [...faults, invalid('spec.prefix', spec.prefix, 'must be the canonical form of a /24 or a /120')];
  }
  const seen = new Set<string>();
  for (const [i, { address: text }] of spec.holdings.entries()) {
    if (seen.has(text))
      faults.push({ type: 'Duplicate', field: `spec.holdings[${i}].address`, value: text, detail: '' });
    seen.add(text);
    const address = Address.parse(text);
    if (address === undefined || !prefix.contains(address) || `${address}` !== text) {
      const detail = `must be the canonical form of an address in ${spec.prefix}`;
      faults.push(invalid(`spec.holdings[${i}].address`, text, detail));
    }
  }
  return faults;
}

const invalid = (field: string, value: string, detail: string): FieldError => ({
  type: 'Invalid',
  field,
  value,
  detail,
});
