import type { Cgroups } from '../../../linux/cgroups.ts';
import { inNewNamespaces, openNamespace, setHostname } from '../../../linux/namespaces.ts';
import { inNetworkNamespace, isNetworkNamespace } from '../../../linux/network-namespace.ts';
import { closeAll } from '../../../linux/pipe.ts';
import { writeSysctl } from '../../../linux/sysctl.ts';
import { type SandboxSpec, type SandboxState, StartError } from '../runtime.ts';

/** What the containers of a pod share: limits, a host name, messages and memory between processes, and the network. */
export class Sandbox {
  readonly spec: SandboxSpec;
  readonly group: string;
  /** Descriptors: nothing of it is left when this process ends. */
  readonly namespaces: { readonly uts: number; readonly ipc: number };

  constructor(spec: SandboxSpec, { cgroups, group }: { cgroups: Cgroups; group: string }) {
    const { networkNamespace } = spec;
    if (networkNamespace !== undefined && !isNetworkNamespace(networkNamespace)) {
      throw new StartError('CreatePodSandboxError', `there is no network namespace at ${networkNamespace}`);
    }
    this.spec = spec;
    this.group = group;
    cgroups.make(group);
    cgroups.limit(group, spec.limits);
    this.namespaces = inNewNamespaces(['uts', 'ipc'], () => {
      setHostname(spec.hostname);
      if (networkNamespace === undefined) setSysctls(spec);
      else inNetworkNamespace(networkNamespace, () => setSysctls(spec));
      return { uts: openNamespace('thread-self', 'uts'), ipc: openNamespace('thread-self', 'ipc') };
    });
  }

  get state(): SandboxState {
    const { id, namespace, name, networkNamespace } = this.spec;
    return { id, namespace, name, ...(networkNamespace === undefined ? {} : { networkNamespace }) };
  }

  close(): void {
    closeAll(Object.values(this.namespaces));
  }
}

/** Only those that belong to the namespaces of the pod: any other would change the host. */
const OF_A_POD = /^(net[./]|kernel[./](shm|msg|sem)|fs[./]mqueue[./])/;

function setSysctls({ sysctls, networkNamespace }: SandboxSpec): void {
  for (const { name, value } of sysctls) {
    const isOfPod = OF_A_POD.test(name) && (networkNamespace !== undefined || !/^net[./]/.test(name));
    if (!isOfPod) throw new StartError('CreatePodSandboxError', `the sysctl ${name} does not belong to a pod alone`);
    const before = writeSysctl(name.split(name.includes('/') ? '/' : '.'), value);
    if (before === undefined) throw new StartError('CreatePodSandboxError', `this kernel has no sysctl ${name}`);
  }
}
