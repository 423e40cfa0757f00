import { Address, bitsOf } from '../../api/address.ts';
import type { Node } from '../../api/core/node.ts';
import { type AddressBlock, blockName } from '../../api/netloom.io/address-block.ts';
import { Prefix } from '../../api/prefix.ts';

/** The pods of one host have as many addresses as a block of the ledger: a /24, or a /120. */
export const rangeLength = ({ family }: Prefix): number => bitsOf(family) - 8;

/** The space in which ranges are held: pods are on no network that people number. */
export const SPACE = 'pods';
export const RANGES_NAMESPACE = 'kube-system';

/** The ranges of the pod network, lowest first, without those that are known to be taken. */
export function* freeRanges(network: Prefix, taken: ReadonlySet<string>): Generator<Prefix> {
  const length = rangeLength(network);
  const step = 1n << BigInt(bitsOf(network.family) - length);
  for (let first = network.first.value; first <= network.last.value; first += step) {
    const range = new Prefix(Address.of(network.family, first), length);
    if (!taken.has(`${range}`)) yield range;
  }
}

/** The record that gives a range to a node. Its name is the range: of two that want to write it, one succeeds. */
export function rangeRecord({ metadata: { name, uid } }: Node, range: Prefix, now: string) {
  const holder = { kind: 'Node', name, uid };
  const holding = { address: `${range.first}`, holder, network: SPACE, subnet: `${range}`, since: now };
  return {
    metadata: { name: blockName(SPACE, range), namespace: RANGES_NAMESPACE },
    spec: { space: SPACE, prefix: `${range}`, holdings: [holding] },
  };
}

export const isRangeRecord = ({ metadata, spec }: AddressBlock): boolean =>
  metadata.namespace === RANGES_NAMESPACE && spec.space === SPACE;

/** The UID of the node that has the range. */
export const holderOf = ({ spec }: AddressBlock): { name: string; uid: string } | undefined => spec.holdings[0]?.holder;
