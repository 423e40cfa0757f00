import type { Container, Pod } from '../../api/core/pod.ts';
import { makeTerminationMessage, ownMounts } from './container-mounts.ts';
import { containerSpec } from './container-spec.ts';
import type { HostParts } from './host-parts.ts';
import { kernelNameOf } from './pod-files.ts';
import type { ContainerState } from './runtime.ts';
import type { PodVolumes } from './volumes/pod-volumes.ts';

export interface ContainerStart {
  readonly pod: Pod;
  readonly container: Container;
  readonly attempt: number;
  readonly backoff: number;
  readonly podIPs: readonly string[];
  readonly volumes: PodVolumes;
}

/** Rejects with a ConfigError or a StartError when that says why; with anything else, trying again may help. */
export async function startContainer(parts: HostParts, start: ContainerStart): Promise<ContainerState> {
  const { runtime, gate, places, references, node, hostAddresses, services } = parts;
  const { pod, container, attempt, podIPs, volumes } = start;
  const { uid, namespace = '' } = pod.metadata;
  const spec = containerSpec(
    {
      ...parts,
      ...{ pod, podIPs },
      hostname: kernelNameOf(pod, node, parts.dns()),
      hostIPs: hostAddresses(),
      services: services(),
      configMap: (name) => references.configMap(namespace, name),
      secret: (name) => references.secret(namespace, name),
      mountsOf: (_, lookUp) => {
        const mounts = volumes.mountsOf(pod, container, lookUp);
        const taken = new Set(mounts.map(({ target }) => target));
        return [...mounts, ...ownMounts(places, pod, container, attempt, taken)];
      },
    },
    container,
    start,
  );
  makeTerminationMessage(places.terminationMessage(uid, container.name, attempt));
  return gate.through(() => runtime.startContainer(spec));
}
