import type { Prefix } from '../api/prefix.ts';
import type { Controller } from '../runtime/controller.ts';
import { budgets } from './budgets/budgets.controller.ts';
import { evictions } from './nodes/evictions.controller.ts';
import { nodeHealth, nodeTaints } from './nodes/health.controller.ts';
import { podRanges } from './nodes/ranges.controller.ts';
import { scheduler } from './scheduler.controller.ts';
import { workloadControllers } from './workloads/index.ts';

export { podsAdmission } from './admission.ts';
export { podsRights } from './rights.ts';

export interface PodsOptions {
  /** What all pods have their addresses from: one network, or one of each family, the preferred first. Every node gets a part of each. */
  readonly podCidrs: readonly Prefix[];
  /** After so many milliseconds without a sign of it a node is lost. */
  readonly nodePatience?: number;
}

/** Agents renew their Lease every two seconds: three signs may be missed, and a lost host is known as such within ten seconds. */
const PATIENCE = 7_000;

/** What a kube-scheduler and a kube-controller-manager do elsewhere. */
export const podsControllers = ({ podCidrs, nodePatience = PATIENCE }: PodsOptions): Controller[] => [
  podRanges({ podCidrs }),
  nodeHealth({ patience: nodePatience }),
  nodeTaints(),
  evictions(),
  scheduler(),
  ...workloadControllers(),
  budgets(),
];
