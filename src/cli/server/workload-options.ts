import { Prefix } from '../../api/prefix.ts';
import type { PodsOptions } from '../../pods/index.ts';
import { UsageError } from '../command.ts';

const SWITCH = { type: 'string', choices: ['on', 'off'] } as const;

/** Whether we do what a kube-scheduler, a kube-controller-manager and kubelets do elsewhere; `fallback` when not said. */
export const workloadOptions = <const Fallback extends 'on' | 'off'>(fallback: Fallback) =>
  ({
    pods: {
      ...SWITCH,
      default: fallback,
      description: 'watch over nodes, schedule pods, and run Deployments and their kin; off where the cluster does it',
    },
    services: {
      ...SWITCH,
      default: fallback,
      description: 'keep the endpoints of Services; off where the cluster does it',
    },
    'pod-cidr': {
      type: 'string',
      placeholder: 'CIDR',
      default: '10.244.0.0/16',
      description: 'what pods have their addresses from; every node gets 256 of them',
    },
  }) as const;

/** Needs admission, so it is for the engine alone. */
export const evictionOption = {
  'evict-after': {
    type: 'integer',
    placeholder: 'SECONDS',
    minimum: 0,
    default: 5,
    description: 'for how long pods stay on a lost node, unless they say so themselves; then they are replaced',
  },
} as const;

export interface WorkloadOptions {
  readonly pods: PodsOptions | undefined;
  readonly services: boolean;
}

export function readWorkloadOptions(options: {
  readonly pods: string;
  readonly services: string;
  readonly 'pod-cidr': string;
}): WorkloadOptions {
  return {
    pods: options.pods === 'on' ? { podCidr: readCidr(options['pod-cidr']) } : undefined,
    services: options.services === 'on',
  };
}

function readCidr(text: string): Prefix {
  const network = Prefix.parse(text);
  const longest = network?.family === 6 ? 120 : 24;
  if (network === undefined || network.length > longest) {
    throw new UsageError(
      `--pod-cidr takes a network of at least one /${longest}, such as 10.244.0.0/16, not "${text}"`,
    );
  }
  return network;
}
