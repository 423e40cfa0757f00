import type { Container, Pod } from '../../api/core/pod.ts';
import { parseQuantity } from '../../api/quantity.ts';

/** Resource → how much of it, in thousandths: whole numbers that a double holds exactly. */
export type Amounts = ReadonlyMap<string, number>;

/** What a node must have left for the pod: init containers run before the others, sidecars beside them. */
export function requestsOf({ spec }: Pod): Amounts {
  const beside = new Map<string, number>();
  const largest = new Map<string, number>();
  for (const container of spec.initContainers ?? []) {
    const asked = asks(container);
    if (container.restartPolicy === 'Always') {
      add(beside, asked);
      raise(largest, beside);
    } else {
      raise(largest, sum(beside, asked));
    }
  }
  const running = new Map(beside);
  for (const container of spec.containers) add(running, asks(container));
  raise(running, largest);
  running.set('pods', 1000);
  return running;
}

export const amountsOf = (quantities: Readonly<Record<string, string>> = {}): Amounts =>
  new Map(Object.entries(quantities).map(([resource, text]) => [resource, milli(text)]));

/** Rounded up, as who asks for less than a thousandth needs a bit of it all the same. */
function milli(text: string): number {
  const nanos = parseQuantity(text)?.nanos ?? 0n;
  return Number((nanos + 999_999n) / 1_000_000n);
}

/** A limit without a request is a request. */
const asks = ({ resources }: Container): Amounts => amountsOf({ ...resources?.limits, ...resources?.requests });

function add(to: Map<string, number>, amounts: Amounts): void {
  for (const [resource, amount] of amounts) to.set(resource, (to.get(resource) ?? 0) + amount);
}
function raise(to: Map<string, number>, amounts: Amounts): void {
  for (const [resource, amount] of amounts) to.set(resource, Math.max(to.get(resource) ?? 0, amount));
}
function sum(a: Amounts, b: Amounts): Amounts {
  const total = new Map(a);
  add(total, b);
  return total;
}
