import type { Pod } from '../../../api/core/pod.ts';
import { NANOS_PER_ONE, parseQuantity } from '../../../api/quantity.ts';
import { amountOf, type DiskSpace, leftOf, type Scarce } from './disk-space.ts';

/** What a pod has put on the disk, in the unit of what is scarce. */
export interface Held {
  readonly pod: Pod;
  readonly amount: number;
}

/**
 * Which pod has to go when the disk is nearly full, as a kubelet chooses: one that has more than it asked for before one that has not,
 * the less important before the more important, then the one with most. Nobody, where no pod has enough for its end to be of use.
 */
export function whoMustGo<T extends Held>(pods: readonly T[], scarce: Scarce): T | undefined {
  const rank = ({ pod, amount }: Held): number[] => [
    scarce === 'bytes' && amount > askedFor(pod) ? 0 : 1,
    pod.spec.priority ?? 0,
    -amount,
  ];
  return pods
    .filter(({ amount }) => amount >= OF_USE[scarce])
    .map((held) => ({ held, rank: rank(held) }))
    .sort((a, b) => a.rank.map((part, i) => part - (b.rank[i] ?? 0)).find((difference) => difference !== 0) ?? 0)[0]
    ?.held;
}

const OF_USE: Readonly<Record<Scarce, number>> = { bytes: 32 * 2 ** 20, inodes: 10_000 };

const askedFor = ({ spec }: Pod): number =>
  spec.containers.reduce((sum, { resources }) => {
    const asked = parseQuantity(resources?.requests?.['ephemeral-storage'])?.nanos ?? 0n;
    return sum + Number(asked / NANOS_PER_ONE);
  }, 0);

/** In the words of a kubelet, as far as it has some. */
export function evictionMessage({ amount }: Held, scarce: Scarce, space: DiskSpace): string {
  const resource = scarce === 'bytes' ? 'ephemeral-storage' : 'inodes';
  return `The node was low on resource: ${resource}. ${leftOf(scarce, space)} were available, and this pod was using ${amountOf(scarce, amount)}.`;
}
