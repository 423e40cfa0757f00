import type { Controller } from '../../runtime/controller.ts';
import { deployments } from './deployment.controller.ts';
import { replicaSets } from './replica-set.controller.ts';
import { statefulSets } from './stateful-set.controller.ts';

/** What a kube-controller-manager does for workloads elsewhere. */
export const workloadControllers = (): Controller[] => [replicaSets(), deployments(), statefulSets()];
