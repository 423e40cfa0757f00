import { mkdirSync } from 'node:fs';
import type { Cgroups } from '../../../linux/cgroups.ts';
import { inNewNamespaces, openNamespace, setHostname } from '../../../linux/namespaces.ts';
import { inNetworkNamespace, isNetworkNamespace } from '../../../linux/network-namespace.ts';
import { closeAll } from '../../../linux/pipe.ts';
import { writeSysctl } from '../../../linux/sysctl.ts';
import { mountTmpfs, unmountAll } from '../../../linux/tmpfs.ts';
import { type SandboxSpec, type SandboxState, StartError } from '../runtime.ts';

/** What the containers of a pod share: limits, a host name, messages and memory between processes, and the network. */
export class Sandbox {
  readonly spec: SandboxSpec;
  readonly group: string;
  /** Descriptors: nothing of it is left when this process ends. */
  readonly namespaces: { readonly uts: number; readonly ipc: number };
  /** Limits that this machine cannot set. */
  readonly unlimited: readonly string[];
  readonly #cgroups: Cgroups;
  #refusedProcesses = false;

  constructor(spec: SandboxSpec, { cgroups, group }: { cgroups: Cgroups; group: string }) {
    const { networkNamespace } = spec;
    if (networkNamespace !== undefined && !isNetworkNamespace(networkNamespace)) {
      throw new StartError('CreatePodSandboxError', `there is no network namespace at ${networkNamespace}`);
    }
    this.spec = spec;
    this.group = group;
    this.#cgroups = cgroups;
    try {
      cgroups.make(group);
      this.unlimited = cgroups.limit(group, spec.limits);
      if (spec.sharedMemory !== undefined) shareMemory(spec.sharedMemory);
      this.namespaces = makeNamespaces(spec);
    } catch (error) {
      cgroups.remove(group);
      throw error;
    }
  }

  /** Whether the kernel has refused to start a process because there were too many. */
  get refusedProcesses(): boolean {
    return this.#refusedProcesses;
  }

  /** Answers whether it is news. */
  noteRefusals(): boolean {
    const before = this.#refusedProcesses;
    this.#refusedProcesses ||= this.#cgroups.refusedProcesses(this.group) > 0;
    return this.#refusedProcesses !== before;
  }

  /** For as long as a container is being killed: what it needs for dying counts against what the pod may use. */
  hurry(): void {
    this.#cgroups.liftProcessorLimit(this.group);
  }

  slowDown(): void {
    const { cpuMillis, cpuAskedMillis } = this.spec.limits;
    const processors = {
      ...(cpuMillis === undefined ? {} : { cpuMillis }),
      ...(cpuAskedMillis === undefined ? {} : { cpuAskedMillis }),
    };
    this.#cgroups.limit(this.group, processors);
  }

  get state(): SandboxState {
    const { id, namespace, name, networkNamespace } = this.spec;
    return { id, namespace, name, ...(networkNamespace === undefined ? {} : { networkNamespace }) };
  }

  close(): void {
    closeAll(Object.values(this.namespaces));
    if (this.spec.sharedMemory !== undefined) unmountAll(this.spec.sharedMemory);
  }
}

/** A mount of the host, as one that is nowhere can be put in one place only. */
function shareMemory(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  mountTmpfs(folder, { mode: 0o1777, sizeBytes: SHARED_MEMORY, withoutPrograms: true });
}

/** As much as container runtimes give. */
export const SHARED_MEMORY = 64 * 2 ** 20;

function makeNamespaces(spec: SandboxSpec): Sandbox['namespaces'] {
  const { hostname, networkNamespace } = spec;
  return inNewNamespaces(['uts', 'ipc'], () => {
    setHostname(hostname);
    if (networkNamespace === undefined) setSysctls(spec);
    else inNetworkNamespace(networkNamespace, () => setSysctls(spec));
    return { uts: openNamespace('thread-self', 'uts'), ipc: openNamespace('thread-self', 'ipc') };
  });
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
