import type { Container, Pod, Profile } from '../../api/core/pod.ts';
import { allContainersOf, type Obstacle } from './pod-facts.ts';

/** Why a pod can never run here: it fails, and whoever owns it learns so from its status. */
export function refusalOf(pod: Pod): Obstacle | undefined {
  return sharesTooMuch(pod) ?? wantsWhatIsNotHere(pod) ?? bindsHostPorts(pod) ?? forbiddenSysctl(pod);
}

const refusal = (message: string): Obstacle => ({ reason: 'UnsupportedByHost', message });

function sharesTooMuch({ spec }: Pod): Obstacle | undefined {
  const fields = (['hostPID', 'hostIPC', 'shareProcessNamespace'] as const).filter((field) => spec[field] === true);
  if (fields.length === 0) return undefined;
  const named = fields.map((field) => `spec.${field}`).join(' and ');
  return refusal(`${named}: containers here always have process and IPC namespaces of their own; leave it out`);
}

/** What would make it safer or other than it is here must not be passed over in silence. */
function wantsWhatIsNotHere(pod: Pod): Obstacle | undefined {
  const { hostUsers, runtimeClassName = '', securityContext = {} } = pod.spec;
  if (hostUsers === false)
    return refusal('spec.hostUsers: users in containers here are those of the host; leave it out');
  if (runtimeClassName !== '') {
    return refusal(
      `spec.runtimeClassName: there is no "${runtimeClassName}" here, only processes of the host; leave it out`,
    );
  }
  const profile = ownProfile(securityContext);
  if (profile !== undefined) return refusal(`spec.securityContext.${profile}`);
  for (const container of allContainersOf(pod)) {
    const found = inContainer(container);
    if (found !== undefined) return refusal(`container ${container.name}: ${found}`);
  }
  return undefined;
}

function inContainer({ securityContext = {}, volumeDevices = [], volumeMounts = [] }: Container): string | undefined {
  const [device] = volumeDevices;
  if (device !== undefined) return `volumeDevices: this host has no block devices for volume "${device.name}"`;
  const shared = volumeMounts.find(({ mountPropagation = 'None' }) => mountPropagation !== 'None');
  if (shared !== undefined) {
    return `mountPropagation ${shared.mountPropagation} of ${shared.mountPath}: what is mounted later is not passed on here; leave it out`;
  }
  if (securityContext.procMount === 'Unmasked')
    return 'securityContext.procMount: /proc is always masked here; leave it out';
  const profile = ownProfile(securityContext);
  return profile && `securityContext.${profile}`;
}

function ownProfile(context: { seccompProfile?: Profile; appArmorProfile?: Profile }): string | undefined {
  const field = (['seccompProfile', 'appArmorProfile'] as const).find((each) => context[each]?.type === 'Localhost');
  return field && `${field}: profiles of the host cannot be applied here; use RuntimeDefault or leave it out`;
}

/** With the network of the host, a port of the container is one of the host anyway. */
function bindsHostPorts(pod: Pod): Obstacle | undefined {
  if (pod.spec.hostNetwork === true) return undefined;
  for (const { name, ports = [] } of allContainersOf(pod)) {
    const bound = ports.find(({ hostPort = 0 }) => hostPort !== 0);
    if (bound === undefined) continue;
    const message = `container ${name} asks for port ${bound.hostPort} of the host: use hostNetwork, or a Service of type LoadBalancer or NodePort`;
    return refusal(message);
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
