import type { ContainerState } from './runtime.ts';

/** What others on this host may ask about its pods: the agent's API for logs, exec and port forwarding does. */
export interface PodDirectory {
  find(namespace: string, name: string): HostedPod | undefined;
}

export interface HostedPod {
  readonly uid: string;
  /** Of the pod as it is in the API; init containers too. */
  readonly containers: readonly string[];
  /** By its path; undefined for the host's own. */
  readonly networkNamespace: string | undefined;
  /** The container of this name that runs or ran last, and the one before it. */
  container(name: string): {
    readonly current: ContainerState | undefined;
    readonly previous: ContainerState | undefined;
    /** Why none has run yet, in one word as its status has it: `PodInitializing`, `CreateContainerConfigError`, `StartError`. */
    readonly waiting?: string | undefined;
  };
}
