import type { Condition } from '../condition.ts';
import { builtinKind } from '../kind.ts';
import type { ApiObject } from '../object.ts';

/** What Netloom reads and writes of Nodes, which every server brings along. */
export const Node = builtinKind<Node>('', 'v1', 'Node', 'nodes', 'Cluster');
export interface Node extends ApiObject {
  spec: {
    podCIDR?: string;
    podCIDRs?: string[];
    unschedulable?: boolean;
    taints?: Taint[];
  };
  status?: {
    capacity?: Record<string, string>;
    allocatable?: Record<string, string>;
    conditions?: NodeCondition[];
    addresses?: { type: 'InternalIP' | 'ExternalIP' | 'Hostname'; address: string }[];
    daemonEndpoints?: { kubeletEndpoint?: { Port: number } };
    nodeInfo?: Record<string, string>;
    features?: { supplementalGroupsPolicy?: boolean };
  };
}

export interface NodeCondition extends Condition {
  lastHeartbeatTime?: string;
}

export interface Taint {
  key: string;
  value?: string;
  effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  timeAdded?: string;
}

/** On a Node: the address that other hosts route to for its pods, where that is not its InternalIP; one of each family, with a comma between. */
export const UNDERLAY_ADDRESS = 'netloom.io/underlay-address';

/** What its pods have their addresses from, one range of each family that they have, the preferred first. */
export const podRangesOf = ({ spec: { podCIDR, podCIDRs } }: Node): readonly string[] =>
  podCIDRs ?? (podCIDR === undefined ? [] : [podCIDR]);

/** On the Nodes of a lab: its name. */
export const LAB_LABEL = 'netloom.io/lab';

/**
 * Under which another host reaches it and its pods, the one first that it routes to. The networks of a lab are its own: their
 * addresses mean somebody else, or nobody, to a host that is not of the same lab.
 */
export function addressesSeenBy(viewer: Node | undefined, { metadata, status }: Node): string[] {
  const isNear = viewer?.metadata.labels?.[LAB_LABEL] === metadata.labels?.[LAB_LABEL];
  const underlay = isNear ? metadata.annotations?.[UNDERLAY_ADDRESS] : undefined;
  const internal = (status?.addresses ?? []).flatMap(({ type, address }) => (type === 'InternalIP' ? [address] : []));
  return [...(underlay?.split(',') ?? []), ...internal];
}
