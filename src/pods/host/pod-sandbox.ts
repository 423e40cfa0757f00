import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Pod } from '../../api/core/pod.ts';
import { Prefix } from '../../api/prefix.ts';
import type { HostParts } from './host-parts.ts';
import { podLimits } from './limits.ts';
import { allContainersOf } from './pod-facts.ts';
import { hostnameOf, hostsFile, kernelNameOf, resolverFile } from './pod-files.ts';

export interface PreparedSandbox {
  readonly networkNamespace: string | undefined;
  readonly podIPs: readonly string[];
}

/** What all containers of a pod share: a network, its files in `/etc`, and limits. */
export async function prepareSandbox(parts: HostParts, pod: Pod): Promise<PreparedSandbox> {
  const { node, runtime, places } = parts;
  const { uid, name, namespace = '' } = pod.metadata;
  const hostname = kernelNameOf(pod, node, parts.dns());
  // What has a folder here is known to be ours, whatever happens next.
  mkdirSync(places.pod(uid), { recursive: true, mode: 0o750 });
  const network = await attach(parts, pod);
  writeFiles(parts, pod, hostname, network.podIPs);
  await runtime.createSandbox({
    id: uid,
    namespace,
    name,
    hostname,
    ...(network.networkNamespace === undefined ? {} : { networkNamespace: network.networkNamespace }),
    limits: podLimits(pod),
    sysctls: pod.spec.securityContext?.sysctls ?? [],
    ...(allContainersOf(pod).length > 1 ? { sharedMemory: places.sharedMemory(uid) } : {}),
  });
  return network;
}

async function attach(parts: HostParts, pod: Pod): Promise<PreparedSandbox> {
  const { network, podCidrs, hostAddresses } = parts;
  if (pod.spec.hostNetwork === true) return { networkNamespace: undefined, podIPs: hostAddresses() };
  const { uid, name, namespace = '' } = pod.metadata;
  const podIPs = takeAddresses(parts, pod, podCidrs());
  const { namespacePath } = await network.attach({ uid, namespace, name }, podIPs);
  return { networkNamespace: namespacePath, podIPs };
}

/** What a pod has already, in the order in which it was said; the kernel has an order of its own. */
export function heldAddresses({ addresses }: HostParts, { metadata, status }: Pod): readonly string[] {
  const said = (status?.podIPs ?? []).map(({ ip }) => ip);
  return [...addresses.of(metadata.uid)].sort((one, other) => said.indexOf(one) - said.indexOf(other));
}

/** One of each range; what the pod has already it keeps, and what is missing after a crash is added. */
function takeAddresses(parts: HostParts, pod: Pod, podCidrs: readonly string[]): readonly string[] {
  const { addresses } = parts;
  const { uid } = pod.metadata;
  const held = heldAddresses(parts, pod);
  if (podCidrs.length === 0) {
    if (held.length > 0) return held;
    throw new Error('the Node has no spec.podCIDR yet, so there are no addresses for pods');
  }
  try {
    return podCidrs.map((podCidr) => takeAddress(uid, addresses, podCidr));
  } catch (error) {
    if (held.length === 0) addresses.release(uid);
    throw error;
  }
}

function takeAddress(uid: string, addresses: HostParts['addresses'], podCidr: string): string {
  const range = Prefix.parse(podCidr);
  if (range === undefined) throw new Error(`spec.podCIDR of the Node is "${podCidr}", which is no network`);
  const address = addresses.take(uid, range);
  if (address !== undefined) return address;
  throw new Error(`all addresses of ${podCidr} are in use: this host cannot run more pods`);
}

const HOSTS = '/etc/hosts';
const RESOLVER = '/etc/resolv.conf';
/** Where systemd-resolved says whom it asks. */
const SYSTEMD_RESOLVER = '/run/systemd/resolve/resolv.conf';
const HOSTNAME = '/etc/hostname';

/** The files of every container of a pod, by where they are in it. */
export const ETC_FILES: readonly (readonly [target: string, name: string])[] = [
  [HOSTS, 'hosts'],
  [RESOLVER, 'resolv.conf'],
  [HOSTNAME, 'hostname'],
];

function writeFiles({ places, node, dns }: HostParts, pod: Pod, kernelName: string, podIPs: readonly string[]): void {
  const known = dns();
  const contents = new Map([
    [HOSTS, hostsFile({ pod, podIPs, hostname: hostnameOf(pod, node), dns: known, ofHost: textOf(HOSTS) })],
    [RESOLVER, resolverFile({ pod, dns: known, ofHost: textOf(RESOLVER), behindHost: textOf(SYSTEMD_RESOLVER) })],
    [HOSTNAME, `${kernelName}\n`],
  ]);
  for (const [target, name] of ETC_FILES) {
    const file = places.file(pod.metadata.uid, name);
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 });
    writeFileSync(file, contents.get(target) ?? '', { mode: 0o644 });
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
