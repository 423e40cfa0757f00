import { ConfigMap, Secret } from '../../api/core/config.ts';
import type { Container, Pod, PodSpec } from '../../api/core/pod.ts';
import type { ObjectMeta } from '../../api/object.ts';
import type { EnvSource } from './env/container-env.ts';
import type { DiskSpace } from './storage/disk-space.ts';

const metaOf = (name: string): ObjectMeta => ({
  name,
  namespace: 'shop',
  uid: `uid-of-${name}`,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
});

/** A disk that nobody has filled. */
export const ROOMY: DiskSpace = {
  diskBytes: 100 * 2 ** 30,
  diskAvailable: 50 * 2 ** 30,
  inodes: 1_000_000,
  inodesFree: 900_000,
};

/** What a host has for pods. */
export const ALLOCATABLE = { cpu: '4', memory: '8Gi', pods: '110', 'ephemeral-storage': '100Gi' };

/** A pod for what looks at one. */
export const podWith = (spec: Partial<PodSpec> = {}, metadata: Partial<ObjectMeta> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { ...metaOf('web'), ...metadata },
  spec: { containers: [{ name: 'main', command: ['serve'] }], ...spec },
});

export const configMapWith = (name: string, content: Pick<ConfigMap, 'data' | 'binaryData'>): ConfigMap => ({
  apiVersion: 'v1',
  kind: ConfigMap.kind,
  metadata: metaOf(name),
  ...content,
});

export const secretWith = (name: string, texts: Record<string, string>): Secret => ({
  apiVersion: 'v1',
  kind: Secret.kind,
  metadata: metaOf(name),
  data: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
});

/** All that variables and files of a pod may be made of. */
export function sourceFor(pod: Pod, objects: readonly (ConfigMap | Secret)[] = []): EnvSource {
  const find = (kind: string, name: string) =>
    objects.find((each) => each.kind === kind && each.metadata.name === name);
  return {
    pod,
    podIPs: ['10.244.7.3'],
    hostIPs: ['192.0.2.7'],
    capacity: { cpuMillis: 4_000, memoryBytes: 2 ** 30 },
    services: [],
    defaults: [['PATH', '/bin']],
    configMap: (name) => find('ConfigMap', name) as ConfigMap | undefined,
    secret: (name) => find('Secret', name) as Secret | undefined,
  };
}

export const containerWith = (extra: Partial<Container>): Container => ({ name: 'main', command: ['serve'], ...extra });
