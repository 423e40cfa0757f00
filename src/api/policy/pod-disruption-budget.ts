import type { Condition } from '../condition.ts';
import { builtinKind } from '../kind.ts';
import type { ApiObject } from '../object.ts';
import type { LabelSelector } from '../selector.ts';

/** What Netloom reads and writes of it. */
export const PodDisruptionBudget = builtinKind<PodDisruptionBudget>(
  'policy',
  'v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
);
export interface PodDisruptionBudget extends ApiObject {
  spec: {
    selector: LabelSelector;
    /** A number, or a part such as `50%`. */
    minAvailable?: number | string;
    maxUnavailable?: number | string;
  };
  status?: {
    observedGeneration?: number;
    /** Pods that may go by their name, and since when: nobody has seen yet that they do. */
    disruptedPods?: Record<string, string>;
    disruptionsAllowed: number;
    currentHealthy: number;
    desiredHealthy: number;
    expectedPods: number;
    conditions?: (Condition & { observedGeneration?: number })[];
  };
}
