import type { Readable, Writable } from 'node:stream';

/**
 * What runs containers on this host, as the agent sees it. It knows nothing of the API: a sandbox is a network namespace
 * and a limit, a container is a process tree in namespaces of its own, and both outlive the agent. Whoever starts the
 * agent anew finds by `list` what runs, and goes on. Every call may be repeated: what is so already is no failure.
 */
export interface ContainerRuntime {
  /** What is there, whoever started it. */
  list(): Promise<{ sandboxes: SandboxState[]; containers: ContainerState[] }>;
  /** Called with the new state whenever a container changes, until the result is called. */
  watch(changed: (state: ContainerState) => void): () => void;
  createSandbox(spec: SandboxSpec): Promise<SandboxState>;
  /** Ends all that still runs in it, and leaves nothing of it behind. */
  removeSandbox(id: string): Promise<void>;
  /** Resolves when the command has begun; rejects with a StartError when it cannot. */
  startContainer(spec: ContainerSpec): Promise<ContainerState>;
  /** Sends a signal to the first process of a container; KILL ends them all. */
  signal(containerId: string, signal: NodeJS.Signals): Promise<void>;
  /** Forgets a container that has ended, with its log and its writable layer. */
  removeContainer(containerId: string): Promise<void>;
  exec(spec: ExecSpec): Promise<ExecSession>;
  /** The streams of a container that runs: what it writes from now on, and its input when it was started with one. */
  attach(containerId: string): Promise<AttachSession>;
}

/** The command of a container could not begin. */
export class StartError extends Error {
  override readonly name = 'StartError';
  /** As a kubelet says it: `CreateContainerError`, `RunContainerError`, `StartError`. */
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface SandboxSpec {
  /** The UID of the pod. */
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly hostname: string;
  /** A network namespace as `PodNetwork` made it, by its path; the host's own when left out. */
  readonly networkNamespace?: string;
  /** Of all containers together. */
  readonly limits: Limits;
  readonly sysctls: readonly { readonly name: string; readonly value: string }[];
  /** A folder for the memory that its containers share at `/dev/shm`; without it, each of them has its own there. */
  readonly sharedMemory?: string;
}

export interface Limits {
  readonly memoryBytes?: number;
  readonly processes?: number;
  /** Thousandths of a processor. */
  readonly cpuMillis?: number;
  /** What it has asked for, in the same: it gets its part of what there is by this. */
  readonly cpuAskedMillis?: number;
}

export interface SandboxState {
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly networkNamespace?: string;
}

export interface ContainerSpec {
  /** Unique for ever: another start of the same container is another container. */
  readonly id: string;
  readonly sandbox: string;
  readonly name: string;
  /** How often it was started before. */
  readonly attempt: number;
  /** Looked up in the PATH of `env` when it has no slash. */
  readonly command: readonly string[];
  readonly env: readonly (readonly [name: string, value: string])[];
  readonly workingDirectory?: string;
  readonly mounts: readonly Mount[];
  readonly user: number;
  readonly group: number;
  readonly supplementalGroups: readonly number[];
  /** Without `CAP_`. */
  readonly capabilities: readonly string[];
  readonly noNewPrivileges: boolean;
  /** Whether system calls are refused by which a process could reach beyond the container. */
  readonly filtersCalls?: boolean;
  readonly readOnlyRoot: boolean;
  readonly privileged: boolean;
  readonly limits: Limits;
  /** Who goes first when the host has no memory left, from -1000, never, to 1000. */
  readonly dispensability?: number;
  /** Where its output goes, in the format of kubelet logs: `TIME stdout|stderr F|P text`. */
  readonly logFile: string;
  readonly log: { readonly maxBytes: number; readonly maxFiles: number };
  readonly stdin: boolean;
  /** Whether its input ends with the first who attaches and says something; otherwise it goes on, whoever comes and leaves. */
  readonly stdinOnce?: boolean;
  readonly tty: boolean;
  /** Kept in memory by whoever starts it, so that the next agent finds it again. */
  readonly labels: Readonly<Record<string, string>>;
}

export interface Mount {
  /** A path of the host; for `tmpfs`, nothing. */
  readonly source: string;
  /** Below `source`: followed without ever leaving it, whatever links are there. */
  readonly subPath?: string;
  readonly target: string;
  readonly kind: 'bind' | 'tmpfs';
  readonly readOnly: boolean;
  /** Of a tmpfs. */
  readonly sizeBytes?: number;
}

export interface ContainerState {
  readonly id: string;
  readonly sandbox: string;
  readonly name: string;
  readonly attempt: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly logFile: string;
  readonly phase: 'running' | 'ended';
  /** On the host. */
  readonly pid?: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly exitCode?: number;
  readonly signal?: number;
  readonly outOfMemory?: boolean;
  /** Limits of it or of its sandbox that this machine cannot set: `memory`, `pids`, `cpu`. */
  readonly unlimited?: readonly string[];
  /** The kernel has refused to start a process in the sandbox, because its limit was reached. */
  readonly refusedProcesses?: boolean;
}

export interface ExecSpec {
  readonly containerId: string;
  readonly command: readonly string[];
  readonly stdin: boolean;
  readonly tty: boolean;
  /** Of the terminal, where it is known before the command begins. */
  readonly size?: { readonly columns: number; readonly rows: number };
  /** Ends the command when it takes longer. */
  readonly timeoutMs?: number;
}

/** Ending an AttachSession ends nothing else, but the input of a container that is read once. */
export type AttachSession = Omit<ExecSession, 'kill' | 'ended'> & { close(): void };

export interface ExecSession {
  readonly stdin: Writable | undefined;
  /** With a tty, all output comes here. */
  readonly stdout: Readable;
  readonly stderr: Readable | undefined;
  resize(columns: number, rows: number): void;
  kill(): void;
  /** Resolves when the command has ended and all its output is there. */
  readonly ended: Promise<{ exitCode: number }>;
}
