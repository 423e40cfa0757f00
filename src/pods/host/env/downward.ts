import type { Container, Pod } from '../../../api/core/pod.ts';
import { NANOS_PER_ONE, parseQuantity } from '../../../api/quantity.ts';
import { allContainersOf } from '../pod-facts.ts';

/** What a pod may learn of itself. */
export interface DownwardSource {
  readonly pod: Pod;
  readonly podIPs: readonly string[];
  readonly hostIPs: readonly string[];
  /** What a container without limits could use. */
  readonly capacity: { readonly cpuMillis: number; readonly memoryBytes: number };
}

/** Undefined for a path that means nothing here; a label that is not set is an empty text. */
export function fieldValue({ pod, podIPs, hostIPs }: DownwardSource, path: string): string | undefined {
  const { metadata, spec } = pod;
  const [, map, key] = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path) ?? [];
  if (key !== undefined) return (map === 'labels' ? metadata.labels : metadata.annotations)?.[key] ?? '';
  switch (path) {
    case 'metadata.name':
      return metadata.name;
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid;
    case 'metadata.labels':
      return lines(metadata.labels);
    case 'metadata.annotations':
      return lines(metadata.annotations);
    case 'spec.nodeName':
      return spec.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec.serviceAccountName ?? '';
    case 'status.hostIP':
      return hostIPs[0] ?? '';
    case 'status.hostIPs':
      return hostIPs.join(',');
    case 'status.podIP':
      return podIPs[0] ?? '';
    case 'status.podIPs':
      return podIPs.join(',');
    default:
      return undefined;
  }
}

/** As a kubelet writes labels into a file: `key="value"`, a line each, in order. */
const lines = (map: Readonly<Record<string, string>> = {}): string =>
  Object.keys(map)
    .sort()
    .map((key) => `${key}=${quoted(map[key] ?? '')}`)
    .join('\n');

/** As Go quotes it: unlike JSON, it writes control characters with two digits. */
const quoted = (text: string): string =>
  JSON.stringify(text)
    .replace(/\\u00([01][0-9a-f])/g, '\\x$1')
    .replaceAll('\u007f', '\\x7f');

interface ResourceField {
  readonly containerName?: string;
  readonly resource: string;
  readonly divisor?: string;
}

/** Rounded up to whole divisors; undefined for a container or a resource that is none. */
export function resourceValue(
  { pod, capacity }: DownwardSource,
  container: Container | undefined,
  { containerName, resource, divisor }: ResourceField,
): string | undefined {
  const named =
    containerName === undefined || containerName === ''
      ? container
      : allContainersOf(pod).find(({ name }) => name === containerName);
  const [kind, name] = resource.split('.');
  if (named === undefined || name === undefined || (kind !== 'limits' && kind !== 'requests')) return undefined;
  const set = parseQuantity(named.resources?.[kind]?.[name])?.nanos;
  const amount = set ?? (kind === 'limits' ? capacityOf(capacity, name) : 0n);
  if (amount === undefined) return undefined;
  const unit = parseQuantity(divisor)?.nanos ?? 0n;
  const per = unit > 0n ? unit : NANOS_PER_ONE;
  return String((amount + per - 1n) / per);
}

function capacityOf({ cpuMillis, memoryBytes }: DownwardSource['capacity'], name: string): bigint | undefined {
  if (name === 'cpu') return BigInt(Math.round(cpuMillis)) * (NANOS_PER_ONE / 1000n);
  if (name === 'memory') return BigInt(Math.round(memoryBytes)) * NANOS_PER_ONE;
  return name === 'ephemeral-storage' || name.startsWith('hugepages-') ? 0n : undefined;
}
