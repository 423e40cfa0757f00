import { Address, bitsOf } from '../../api/address.ts';
import type { Node } from '../../api/core/node.ts';
import { type AddressBlock, BLOCK_BITS, blockName, blockPrefix } from '../../api/netloom.io/address-block.ts';
import { Prefix } from '../../api/prefix.ts';

/**
 * The pods of one host have as many addresses as a block of the ledger: a /24, or a /120; of an IPv6 network with room for 256 hosts
 * a /64, as people expect it.
 */
export const rangeLength = ({ family, length }: Prefix): number =>
  family === 6 && length <= ROOMY ? SUBNET : bitsOf(family) - BLOCK_BITS;

const SUBNET = 64;
const ROOMY = SUBNET - BLOCK_BITS;

/** Whether it could be one that was given. */
export const isRangeLength = ({ family, length }: Prefix): boolean =>
  length === bitsOf(family) - BLOCK_BITS || (family === 6 && length === SUBNET);

/** The space in which ranges are held: pods are on no network that people number. */
export const SPACE = 'pods';
export const RANGES_NAMESPACE = 'kube-system';

/** The ranges of the pod network, lowest first, without those that are known to be taken. */
export function* freeRanges(network: Prefix, taken: ReadonlySet<string>): Generator<Prefix> {
  const length = rangeLength(network);
  // Given while the network was another one, or by hand, and not as large as those of now.
  const odd = [...taken].flatMap((text) => Prefix.parse(text) ?? []).filter((range) => range.length !== length);

  const step = 1n << BigInt(bitsOf(network.family) - length);
  for (let first = network.first.value; first <= network.last.value; first += step) {
    const range = new Prefix(Address.of(network.family, first), length);
    if (!taken.has(`${range}`) && !odd.some((other) => other.overlaps(range))) yield range;
  }
}

/**
 * The record that gives a range to a node. Its name is the range: of two that want to write it, one succeeds. A larger one is on record
 * as the block that it begins with.
 */
export function rangeRecord({ metadata: { name, uid } }: Node, range: Prefix, now: string) {
  const block = blockPrefix(range.first);
  const holder = { kind: 'Node', name, uid };
  const holding = { address: `${range.first}`, holder, network: SPACE, subnet: `${range}`, since: now };
  return {
    metadata: { name: blockName(SPACE, block), namespace: RANGES_NAMESPACE },
    spec: { space: SPACE, prefix: `${block}`, holdings: [holding] },
  };
}

export const isRangeRecord = ({ metadata, spec }: AddressBlock): boolean =>
  metadata.namespace === RANGES_NAMESPACE && spec.space === SPACE;

/** The range that it gives. */
export const rangeOf = ({ spec }: AddressBlock): string => spec.holdings[0]?.subnet ?? spec.prefix;

/** The UID of the node that has the range. */
export const holderOf = ({ spec }: AddressBlock): { name: string; uid: string } | undefined => spec.holdings[0]?.holder;
