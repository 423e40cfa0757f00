import type { HostedPod, PodDirectory } from '../pod-directory.ts';
import type { ContainerState } from '../runtime.ts';
import { Refusal } from './refusal.ts';
import type { PortForwardTarget, SessionTarget } from './target.ts';

/** The container whose output is meant; refuses as a kubelet does where there is none. */
export function containerWithLog(
  directory: PodDirectory,
  { namespace, pod: name, container }: { readonly namespace: string; readonly pod: string; readonly container: string },
  previous: boolean,
): ContainerState {
  const pod = directory.find(namespace, name);
  if (pod === undefined) throw new Refusal(404, `pod "${name}" does not exist`);
  if (!pod.containers.includes(container)) {
    throw new Refusal(404, `container "${container}" not found in pod "${name}"`);
  }
  const found = pod.container(container);
  if (previous) {
    if (found.previous !== undefined) return found.previous;
    throw new Refusal(400, `previous terminated container "${container}" in pod "${name}" not found`);
  }
  if (found.current !== undefined) return found.current;
  const why = found.waiting ?? 'ContainerCreating';
  throw new Refusal(400, `container "${container}" in pod "${name}" is waiting to start: ${why}`);
}

/** The container that runs, for a command in it or to be attached to. */
export function runningContainer(directory: PodDirectory, target: SessionTarget): ContainerState {
  const { current } = podOf(directory, target).container(target.container);
  if (current?.phase === 'running') return current;
  throw new Refusal(500, `container not found ("${target.container}")`);
}

export function podOf(directory: PodDirectory, target: SessionTarget | PortForwardTarget): HostedPod {
  const pod = directory.find(target.namespace, target.pod);
  if (pod === undefined) throw new Refusal(404, 'pod does not exist');
  if (target.uid !== undefined && target.uid !== pod.uid) throw new Refusal(404, 'pod not found');
  return pod;
}
