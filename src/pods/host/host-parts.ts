import type { Node } from '../../api/core/node.ts';
import type { Service } from '../../api/core/service.ts';
import type { Client } from '../../runtime/client.ts';
import type { System } from '../../runtime/clock.ts';
import type { Events } from '../../runtime/events.ts';
import type { Log } from '../../runtime/log.ts';
import type { Gate } from './gate.ts';
import type { HostUsers } from './host-users.ts';
import type { Places } from './places.ts';
import type { PodAddresses } from './pod-addresses.ts';
import type { PodNetwork } from './pod-network.ts';
import type { References } from './references.ts';
import type { ContainerRuntime } from './runtime.ts';
import type { DiskSpace } from './storage/disk-space.ts';
import type { DiskUsage } from './storage/storage-watch.ts';

export interface PodHostOptions {
  /** Speaks as the node. */
  readonly client: Client;
  readonly system: System;
  readonly log: Log;
  readonly events: Events;
  /** The name of the Node. */
  readonly node: string;
  /** Whether the Node says what the host is and has now, and not what it was and had under an agent before. */
  readonly isNodeUpToDate: (node: Node) => boolean;
  readonly runtime: ContainerRuntime;
  readonly network: PodNetwork;
  /** STATE in the README. */
  readonly stateDirectory: string;
  /** Of the Node as it is now, the one that pods report first. */
  readonly hostAddresses: () => readonly string[];
  /** One of each family that pods have, the preferred first; none as long as the Node has none. */
  readonly podCidrs: () => readonly string[];
  readonly dns: () => ClusterDns;
  readonly diskUsage: DiskUsage;
  /** Of the disk that the state directory is on. */
  readonly diskSpace: () => Promise<DiskSpace>;
  /** All that are known: containers find their addresses in variables. */
  readonly services: () => readonly Service[];
}

/** Where pods with dnsPolicy ClusterFirst ask. */
export interface ClusterDns {
  readonly nameservers: readonly string[];
  /** For all pods; one that begins with `svc.` is preceded by that of the pod's own namespace. */
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

/** What all pods of a host share. */
export interface HostParts extends PodHostOptions {
  readonly places: Places;
  readonly addresses: PodAddresses;
  readonly users: HostUsers;
  readonly references: References;
  /** How many pods may be busy with what costs the host something, at once. */
  readonly gate: Gate;
  /** Where netloom's own program is. */
  readonly programs: string;
  readonly capacity: { readonly cpuMillis: number; readonly memoryBytes: number };
}
