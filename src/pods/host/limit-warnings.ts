import type { Pod } from '../../api/core/pod.ts';
import { podLimits } from './limits.ts';
import type { ContainerState } from './runtime.ts';

export interface LimitWarning {
  readonly reason: string;
  readonly message: string;
}

/** What people should know of the limits of a pod that no status has a place for. */
export function limitWarnings(
  pod: Pod,
  { name, unlimited = [], refusedProcesses }: Pick<ContainerState, 'name' | 'unlimited' | 'refusedProcesses'>,
): LimitWarning[] {
  const warnings = unlimited.map((what) => ({
    reason: 'LimitNotSet',
    message: `this host cannot limit ${NAMES[what] ?? what}: its cgroups have no controller for it, so container ${name} runs without that limit`,
  }));
  if (refusedProcesses !== true) return warnings;
  const { processes = 0 } = podLimits(pod);
  const message = `the pod has as many processes as it may, ${processes}: the kernel refuses to start more in it`;
  return [...warnings, { reason: 'ProcessLimitReached', message }];
}

/** Controllers, as people know them. */
const NAMES: Readonly<Record<string, string>> = { pids: 'the number of processes', cpu: 'the use of processors' };
