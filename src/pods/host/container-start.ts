import type { Container, Pod } from '../../api/core/pod.ts';
import { makeTerminationMessage, ownMounts } from './container-mounts.ts';
import { containerSpec } from './container-spec.ts';
import type { HostParts } from './host-parts.ts';
import { hostnameOf } from './pod-files.ts';
import type { ContainerState } from './runtime.ts';

export interface ContainerStart {
  readonly pod: Pod;
  readonly container: Container;
  readonly attempt: number;
  readonly backoff: number;
  readonly podIPs: readonly string[];
}

/** Rejects with a ConfigError or a StartError when that says why; with anything else, trying again may help. */
export async function startContainer(parts: HostParts, start: ContainerStart): Promise<ContainerState> {
  const { runtime, gate, places, references, node, hostAddresses, services } = parts;
  const { pod, container, attempt, podIPs } = start;
  const { uid, namespace = '' } = pod.metadata;
  const spec = containerSpec(
    {
      ...parts,
      ...{ pod, podIPs },
      hostname: hostnameOf(pod, node),
      hostIPs: hostAddresses(),
      services: services(),
      configMap: (name) => references.configMap(namespace, name),
      secret: (name) => references.secret(namespace, name),
      mountsOf: () => ownMounts(places, pod, container, attempt, new Set()),
    },
    container,
    start,
  );
  makeTerminationMessage(places.terminationMessage(uid, container.name, attempt));
  return gate.through(() => runtime.startContainer(spec));
}
