import type { Pod } from '../../api/core/pod.ts';
import { allContainersOf, type Obstacle } from './pod-facts.ts';

/** Why a pod can never run here: it fails, and whoever owns it learns so from its status. */
export function refusalOf(pod: Pod): Obstacle | undefined {
  return sharesTooMuch(pod) ?? bindsHostPorts(pod) ?? forbiddenSysctl(pod);
}

function sharesTooMuch({ spec }: Pod): Obstacle | undefined {
  const fields = (['hostPID', 'hostIPC', 'shareProcessNamespace'] as const).filter((field) => spec[field] === true);
  if (fields.length === 0) return undefined;
  const named = fields.map((field) => `spec.${field}`).join(' and ');
  return {
    reason: 'UnsupportedByHost',
    message: `${named}: containers here always have process and IPC namespaces of their own; leave it out`,
  };
}

/** With the network of the host, a port of the container is one of the host anyway. */
function bindsHostPorts(pod: Pod): Obstacle | undefined {
  if (pod.spec.hostNetwork === true) return undefined;
  for (const { name, ports = [] } of allContainersOf(pod)) {
    const bound = ports.find(({ hostPort = 0 }) => hostPort !== 0);
    if (bound === undefined) continue;
    const message = `container ${name} asks for port ${bound.hostPort} of the host: use hostNetwork, or a Service of type LoadBalancer or NodePort`;
    return { reason: 'UnsupportedByHost', message };
  }
  return undefined;
}

/** Those that a pod can set without others noticing, as a kubelet allows them. */
const SAFE_SYSCTLS = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
]);

function forbiddenSysctl({ spec }: Pod): Obstacle | undefined {
  const sysctls = spec.securityContext?.sysctls ?? [];
  const forbidden = sysctls.find(({ name }) => !SAFE_SYSCTLS.has(name.replaceAll('/', '.')));
  return forbidden === undefined
    ? undefined
    : { reason: 'SysctlForbidden', message: `forbidden sysctl: "${forbidden.name}" not allowlisted` };
}
