import type { Container, Pod } from '../../api/core/pod.ts';
import { NANOS_PER_ONE, parseQuantity } from '../../api/quantity.ts';
import { isSidecar } from './pod-facts.ts';
import type { Limits } from './runtime.ts';

/** A fork bomb ends here, long before the host has no processes left. */
const PROCESSES = 4096;

export function containerLimits({ resources }: Container): Limits {
  const memory = parseQuantity(resources?.limits?.['memory'])?.nanos;
  const cpu = parseQuantity(resources?.limits?.['cpu'])?.nanos;
  const asked = parseQuantity(resources?.requests?.['cpu'])?.nanos ?? 0n;
  return {
    cpuAskedMillis: millisIn(asked),
    ...(memory === undefined || memory <= 0n ? {} : { memoryBytes: Number(memory / NANOS_PER_ONE) }),
    ...(cpu === undefined || cpu <= 0n ? {} : { cpuMillis: Math.max(1, millisIn(cpu)) }),
  };
}

const millisIn = (nanos: bigint): number => Number((nanos * 1000n) / NANOS_PER_ONE);

/** As a kubelet has it: who has asked for nothing goes first, who keeps to what was asked for goes last. */
export function dispensabilityOf({ status }: Pod, { resources }: Container, capacityBytes: number): number {
  if (status?.qosClass === 'Guaranteed') return -997;
  if (status?.qosClass === 'BestEffort') return 1000;
  const asked = Number((parseQuantity(resources?.requests?.['memory'])?.nanos ?? 0n) / NANOS_PER_ONE);
  return Math.min(999, Math.max(3, 1000 - Math.floor((1000 * asked) / capacityBytes)));
}

/** What all containers may use together, where each of them has a limit. Init containers run before the others, sidecars beside them. */
export function podLimits({ spec }: Pod): Limits {
  const init = spec.initContainers ?? [];
  const together = [...init.filter(isSidecar), ...spec.containers].map(containerLimits);
  const alone = init.filter((container) => !isSidecar(container)).map(containerLimits);
  const total = (limit: 'memoryBytes' | 'cpuMillis'): number | undefined => {
    const sum = together.reduce((all, each) => all + (each[limit] ?? Number.POSITIVE_INFINITY), 0);
    const most = Math.max(sum, ...alone.map((each) => each[limit] ?? Number.POSITIVE_INFINITY));
    return Number.isFinite(most) ? most : undefined;
  };
  const [memoryBytes, cpuMillis] = [total('memoryBytes'), total('cpuMillis')];
  const asked = (all: readonly Limits[]): number[] => all.map(({ cpuAskedMillis = 0 }) => cpuAskedMillis);
  return {
    processes: PROCESSES,
    cpuAskedMillis: Math.max(
      asked(together).reduce((sum, each) => sum + each, 0),
      ...asked(alone),
    ),
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(cpuMillis === undefined ? {} : { cpuMillis }),
  };
}
