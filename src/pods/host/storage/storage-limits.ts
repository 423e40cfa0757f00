import type { Container, Pod } from '../../../api/core/pod.ts';
import { NANOS_PER_ONE, parseQuantity } from '../../../api/quantity.ts';
import type { Places } from '../places.ts';
import { allContainersOf } from '../pod-facts.ts';

/** What may be in these folders together. */
export interface StorageLimit {
  readonly folders: readonly string[];
  readonly bytes: number;
  /** What is said of a pod that has put more there, in the words of a kubelet. */
  readonly message: string;
}

/** @param latestRun the identifier of the latest run of a container, which says where it writes beside its volumes */
export function storageLimitsOf(pod: Pod, places: Places, latestRun: (container: string) => string | undefined) {
  const ofVolumes = (pod.spec.volumes ?? []).flatMap(({ name, emptyDir }): StorageLimit[] => {
    const bytes = bytesIn(emptyDir?.sizeLimit);
    // In memory, the kernel keeps the limit.
    if (bytes === undefined || emptyDir?.medium === 'Memory') return [];
    const message = `Usage of EmptyDir volume "${name}" exceeds the limit "${emptyDir?.sizeLimit}".`;
    return [{ folders: [places.volume(pod.metadata.uid, name)], bytes, message }];
  });
  const foldersOf = ({ name }: Container): string[] => {
    const run = latestRun(name);
    return run === undefined ? [] : [places.layer(run), places.containerLogs(pod, name)];
  };
  const containers = allContainersOf(pod);
  const ofContainers = containers.flatMap((container): StorageLimit[] => {
    const limit = container.resources?.limits?.[STORAGE];
    const bytes = bytesIn(limit);
    if (bytes === undefined) return [];
    const message = `Container ${container.name} exceeded its local ephemeral storage limit "${limit}".`;
    return [{ folders: foldersOf(container), bytes, message }];
  });
  return [...ofVolumes, ...ofContainers, ...ofPod(pod, places, containers.flatMap(foldersOf))];
}

/** The limits of its containers are also what all of them may have together, with what is in their volumes. */
function ofPod(pod: Pod, places: Places, folders: readonly string[]): StorageLimit[] {
  const limits = pod.spec.containers.flatMap(({ resources }) => bytesIn(resources?.limits?.[STORAGE]) ?? []);
  if (limits.length === 0) return [];
  const bytes = limits.reduce((sum, each) => sum + each, 0);
  const message = `Pod ephemeral local storage usage exceeds the total limit of containers ${quantityOf(bytes)}.`;
  const volumes = (pod.spec.volumes ?? []).flatMap(({ name, emptyDir }) =>
    emptyDir === undefined || emptyDir.medium === 'Memory' ? [] : [places.volume(pod.metadata.uid, name)],
  );
  return [{ folders: [...folders, ...volumes], bytes, message }];
}

const quantityOf = (bytes: number): string => {
  const [unit, size] = UNITS.find(([, each]) => bytes % each === 0) ?? ['', 1];
  return `${bytes / size}${unit}`;
};

const UNITS = [
  ['Gi', 2 ** 30],
  ['Mi', 2 ** 20],
  ['Ki', 2 ** 10],
] as const;

const STORAGE = 'ephemeral-storage';

function bytesIn(limit: string | undefined): number | undefined {
  const nanos = parseQuantity(limit)?.nanos ?? 0n;
  return nanos > 0n ? Number(nanos / NANOS_PER_ONE) : undefined;
}
