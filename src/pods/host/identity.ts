import type { Container, Pod } from '../../api/core/pod.ts';
import type { HostUsers } from './host-users.ts';

/** As whom the processes of a container run, and what they may do. */
export interface Identity {
  readonly user: number;
  readonly group: number;
  readonly supplementalGroups: readonly number[];
  readonly capabilities: readonly string[];
  readonly noNewPrivileges: boolean;
  readonly filtersCalls: boolean;
  readonly readOnlyRoot: boolean;
  readonly privileged: boolean;
}

/** The container may not run as it would have to. */
export class ForbiddenIdentity extends Error {
  override readonly name = 'ForbiddenIdentity';
}

export function identityOf(pod: Pod, container: Container, users: HostUsers): Identity {
  const ofPod = pod.spec.securityContext ?? {};
  const own = container.securityContext ?? {};
  const user = own.runAsUser ?? ofPod.runAsUser ?? ROOT;
  if ((own.runAsNonRoot ?? ofPod.runAsNonRoot) === true && user === ROOT) {
    const { namespace = '', name, uid } = pod.metadata;
    const about = `(pod: "${name}_${namespace}(${uid})", container: ${container.name})`;
    throw new ForbiddenIdentity(
      own.runAsUser === undefined && ofPod.runAsUser === undefined
        ? `container has runAsNonRoot and would run as root, as images are never pulled: set runAsUser ${about}`
        : `container's runAsUser breaks non-root policy ${about}`,
    );
  }
  const privileged = own.privileged === true;
  const groups = [
    ...(ofPod.supplementalGroups ?? []),
    ...(ofPod.fsGroup === undefined ? [] : [ofPod.fsGroup]),
    ...(ofPod.supplementalGroupsPolicy === 'Strict' ? [] : users.groupsNaming(user)),
  ];
  return {
    user,
    group: own.runAsGroup ?? ofPod.runAsGroup ?? users.groupOf(user),
    supplementalGroups: [...new Set(groups)],
    capabilities: capabilitiesOf(own.capabilities ?? {}),
    noNewPrivileges: own.allowPrivilegeEscalation === false,
    // Whoever says nothing is filtered too, as by a kubelet with `--seccomp-default`.
    filtersCalls: !privileged && (own.seccompProfile ?? ofPod.seccompProfile)?.type !== 'Unconfined',
    readOnlyRoot: own.readOnlyRootFilesystem === true,
    privileged,
  };
}

/** `ALL` first, single ones after it; what is dropped is not there, even when it is added too. */
function capabilitiesOf({ add = [], drop = [] }: { add?: string[]; drop?: string[] }): string[] {
  const added = add.map(plain);
  const dropped = drop.map(plain);
  const base = dropped.includes('ALL') ? [] : added.includes('ALL') ? ALL : USUAL;
  const single = added.filter((name) => name !== 'ALL');
  return [...new Set([...base, ...single])].filter((name) => !dropped.includes(name));
}

const plain = (name: string): string => name.toUpperCase().replace(/^CAP_/, '');

const ROOT = 0;

/** What containers of containerd have unless they say otherwise. */
const USUAL = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FSETID',
  'FOWNER',
  'MKNOD',
  'NET_RAW',
  'SETGID',
  'SETUID',
  'SETFCAP',
  'SETPCAP',
  'NET_BIND_SERVICE',
  'SYS_CHROOT',
  'KILL',
  'AUDIT_WRITE',
];

const ALL = [
  ...USUAL,
  'DAC_READ_SEARCH',
  'LINUX_IMMUTABLE',
  'NET_BROADCAST',
  'NET_ADMIN',
  'IPC_LOCK',
  'IPC_OWNER',
  'SYS_MODULE',
  'SYS_RAWIO',
  'SYS_PTRACE',
  'SYS_PACCT',
  'SYS_ADMIN',
  'SYS_BOOT',
  'SYS_NICE',
  'SYS_RESOURCE',
  'SYS_TIME',
  'SYS_TTY_CONFIG',
  'LEASE',
  'AUDIT_CONTROL',
  'MAC_OVERRIDE',
  'MAC_ADMIN',
  'SYSLOG',
  'WAKE_ALARM',
  'BLOCK_SUSPEND',
  'AUDIT_READ',
  'PERFMON',
  'BPF',
  'CHECKPOINT_RESTORE',
];
