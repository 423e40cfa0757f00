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
  return [...ofVolumes, ...ofContainers];
}

const STORAGE = 'ephemeral-storage';

function bytesIn(limit: string | undefined): number | undefined {
  const nanos = parseQuantity(limit)?.nanos ?? 0n;
  return nanos > 0n ? Number(nanos / NANOS_PER_ONE) : undefined;
}
