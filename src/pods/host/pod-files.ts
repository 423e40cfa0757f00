import type { Pod } from '../../api/core/pod.ts';
import type { ClusterDns } from './host-parts.ts';

/** The name of a pod for itself, as a host's: at most 63 characters. */
export const hostnameOf = (pod: Pod, node: string): string => {
  if (pod.spec.hostNetwork === true) return node;
  const { hostname = '' } = pod.spec;
  return hostname === '' ? pod.metadata.name.slice(0, 63).replace(/[-.]+$/, '') : hostname;
};

/** What the kernel of the pod says that its name is. */
export function kernelNameOf(pod: Pod, node: string, dns: ClusterDns): string {
  const hostname = hostnameOf(pod, node);
  const wantsFull = pod.spec.setHostnameAsFQDN === true && pod.spec.hostNetwork !== true;
  const full = wantsFull ? fullNameOf(pod, hostname, domainOf(dns)) : undefined;
  if (full !== undefined && full.length > LONGEST_NAME) {
    throw new Error(
      `Failed to construct FQDN from Pod hostname and cluster domain, FQDN ${full} is too long (${LONGEST_NAME} characters is the max, ${full.length} characters requested)`,
    );
  }
  return full ?? hostname;
}

/** A kernel takes no more. */
const LONGEST_NAME = 64;

/** `web-0.web.shop.svc.cluster.local`, for pods that name a subdomain. */
function fullNameOf(pod: Pod, hostname: string, domain: string | undefined): string | undefined {
  const { subdomain = '' } = pod.spec;
  if (subdomain === '' || domain === undefined) return undefined;
  return `${hostname}.${subdomain}.${pod.metadata.namespace ?? ''}.svc.${domain}`;
}

export interface HostsFile {
  readonly pod: Pod;
  readonly podIPs: readonly string[];
  readonly hostname: string;
  readonly dns: ClusterDns;
  /** `/etc/hosts` of the host, which its pods share that share its network. */
  readonly ofHost: string;
}

export function hostsFile({ pod, podIPs, hostname, dns, ofHost }: HostsFile): string {
  const aliases = (pod.spec.hostAliases ?? []).map(({ ip, hostnames = [] }) => [ip, ...hostnames].join('\t'));
  const added = aliases.length === 0 ? [] : ['', '# Entries added by HostAliases.', ...aliases];
  if (pod.spec.hostNetwork === true) return text([ofHost.trimEnd(), ...added]);
  const fullName = fullNameOf(pod, hostname, domainOf(dns));
  const own = podIPs.map((ip) => [ip, ...(fullName === undefined ? [] : [fullName]), hostname].join('\t'));
  return text([...LOCAL, ...own, ...added]);
}

const LOCAL = [
  '# Written by netloom for this pod.',
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

const domainOf = ({ searches }: ClusterDns): string | undefined =>
  searches.find((search) => search.startsWith('svc.'))?.slice('svc.'.length);

export interface ResolverFile {
  readonly pod: Pod;
  readonly dns: ClusterDns;
  /** `/etc/resolv.conf` of the host. */
  readonly ofHost: string;
  /** The same of a host whose own only names a resolver on its loopback device: whom that one asks. */
  readonly behindHost?: string;
}

/** `/etc/resolv.conf` by the pod's dnsPolicy, with what its dnsConfig adds. */
export function resolverFile({ pod, dns, ...host }: ResolverFile): string {
  const { dnsPolicy = 'ClusterFirst', hostNetwork = false, dnsConfig = {} } = pod.spec;
  const asksCluster =
    dns.nameservers.length > 0 &&
    (dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !hostNetwork));
  const base = asksCluster ? ofCluster(pod, dns) : dnsPolicy === 'None' ? NOTHING : resolverFor(hostNetwork, host);
  const nameservers = unique([...base.nameservers, ...(dnsConfig.nameservers ?? [])]).slice(0, 3);
  const searches = unique([...base.searches, ...(dnsConfig.searches ?? [])]).slice(0, 32);
  const options = new Map(base.options.map((option) => [option.split(':')[0] ?? '', option]));
  for (const { name = '', value = '' } of dnsConfig.options ?? []) {
    options.set(name, value === '' ? name : `${name}:${value}`);
  }
  return text([
    ...(searches.length === 0 ? [] : [`search ${searches.join(' ')}`]),
    ...nameservers.map((nameserver) => `nameserver ${nameserver}`),
    ...(options.size === 0 ? [] : [`options ${[...options.values()].join(' ')}`]),
  ]);
}

const NOTHING: ClusterDns = { nameservers: [], searches: [], options: [] };

function ofCluster({ metadata: { namespace = '' } }: Pod, { nameservers, searches, options }: ClusterDns): ClusterDns {
  const own = searches.filter((search) => search.startsWith('svc.')).map((search) => `${namespace}.${search}`);
  return { nameservers, searches: [...own, ...searches], options };
}

/** On the loopback device of a pod nobody answers for the host. */
function resolverFor(hostNetwork: boolean, { ofHost, behindHost = '' }: Pick<ResolverFile, 'ofHost' | 'behindHost'>) {
  const own = resolverOf(ofHost);
  const behind = resolverOf(behindHost);
  const isReached = hostNetwork || own.nameservers.some((server) => !LOOPBACK.test(server));
  return isReached || behind.nameservers.length === 0 ? own : behind;
}

const LOOPBACK = /^(127\.|::1$)/;

function resolverOf(file: string): ClusterDns {
  const lines = file.split('\n').map((line) => line.trim().split(/\s+/));
  const all = (keyword: string): string[] =>
    lines.filter(([first]) => first === keyword).flatMap(([, ...rest]) => rest);
  const searches = lines.findLast(([first]) => first === 'search' || first === 'domain')?.slice(1) ?? [];
  return { nameservers: all('nameserver'), searches, options: all('options') };
}

const unique = (items: readonly string[]): string[] => [...new Set(items)];
const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`;
