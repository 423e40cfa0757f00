import type { JsonObject } from '../../../api/json.ts';
import { parseQuantity } from '../../../api/quantity.ts';
import { objectAt, objectsAt, specOf } from '../reading.ts';

/** What a pod may count on when its node runs short: fixed when the pod is created. */
export function qosClassOf(pod: JsonObject): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const spec = specOf(pod);
  const requests = new Totals();
  const limits = new Totals();
  let isLimited = true;
  for (const container of [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')]) {
    const resources = objectAt(container, 'resources');
    requests.add(objectAt(resources, 'requests'));
    if (limits.add(objectAt(resources, 'limits')) < COUNTED.length) isLimited = false;
  }
  if (requests.isNothing && limits.isNothing) return 'BestEffort';
  return isLimited && COUNTED.every((name) => requests.of(name) === limits.of(name)) ? 'Guaranteed' : 'Burstable';
}

const COUNTED = ['cpu', 'memory'] as const;

class Totals {
  readonly #amounts = new Map<string, bigint>();

  /** Adds what one container says; answers how many of the counted resources it speaks of. */
  add(amounts: JsonObject | undefined): number {
    let spokenOf = 0;
    for (const name of COUNTED) {
      const nanos = parseQuantity(amounts?.[name])?.nanos ?? 0n;
      if (nanos <= 0n) continue;
      spokenOf++;
      this.#amounts.set(name, this.of(name) + nanos);
    }
    return spokenOf;
  }

  of(name: string): bigint {
    return this.#amounts.get(name) ?? 0n;
  }

  get isNothing(): boolean {
    return this.#amounts.size === 0;
  }
}
