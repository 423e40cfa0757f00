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
      description:
        'what pods have their addresses from; every node gets 256 of them; two, with a comma between, for IPv4 and IPv6, of which every node gets a /64',
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

/** @param serviceNetworks what Services have their addresses from, where that is known */
export function readWorkloadOptions(
  options: { readonly pods: string; readonly services: string; readonly 'pod-cidr': string },
  serviceNetworks: readonly Prefix[] = [],
): WorkloadOptions {
  return {
    pods: options.pods === 'on' ? { podCidrs: readPodNetworks(options['pod-cidr'], serviceNetworks) } : undefined,
    services: options.services === 'on',
  };
}

function readPodNetworks(text: string, serviceNetworks: readonly Prefix[]): Prefix[] {
  const networks = text.split(',').map((each) => readPodNetwork(each.trim(), text));
  const [first, second] = networks;
  if (networks.length > 2 || first?.family === second?.family) {
    throw new UsageError(
      `--pod-cidr takes one network, or one of each family, such as 10.244.0.0/16,fd00:244::/56, not "${text}"`,
    );
  }
  for (const network of networks) {
    const other = serviceNetworks.find((each) => each.overlaps(network));
    if (other === undefined) continue;
    throw new UsageError(
      `--pod-cidr ${network} overlaps --service-cidr ${other}: nobody could tell pods and Services apart, so choose another one for either`,
    );
  }
  return networks;
}

function readPodNetwork(text: string, whole: string): Prefix {
  const network = Prefix.parse(text);
  const longest = network?.family === 6 ? 120 : 24;
  if (network !== undefined && network.length <= longest) return network;
  const example = network?.family === 6 ? 'fd00:244::/56' : '10.244.0.0/16';
  throw new UsageError(`--pod-cidr takes a network of at least one /${longest}, such as ${example}, not "${whole}"`);
}
