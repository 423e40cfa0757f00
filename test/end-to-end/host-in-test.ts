import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { JsonObject } from '../../src/api/json.ts';
import { issueServer } from '../../src/engine/auth/authority.ts';
import { KubeletApi } from '../../src/pods/host/kubelet-api/kubelet-api.ts';
import type { HostedPod, PodDirectory } from '../../src/pods/host/pod-directory.ts';
import type {
  AttachSession,
  ContainerRuntime,
  ContainerState,
  ExecSession,
  ExecSpec,
} from '../../src/pods/host/runtime.ts';
import { StartError } from '../../src/pods/host/runtime.ts';
import type { System } from '../../src/runtime/clock.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { system } from '../../src/runtime/system.ts';

interface Running {
  state: ContainerState;
  readonly child: ChildProcessWithoutNullStreams;
}

/** A host whose containers are plain processes of the test, and the agent's API for them. */
export class HostInTest implements PodDirectory, Pick<ContainerRuntime, 'exec' | 'attach' | 'watch'> {
  readonly folder = mkdtempSync(join(tmpdir(), 'netloom-host-'));
  readonly #pods = new Map<string, HostedPod & { readonly attempts: Map<string, Running[]> }>();
  readonly #watchers = new Set<(state: ContainerState) => void>();
  /** By what they are, what was run by `exec` and still runs. */
  readonly #commands = new Map<ChildProcess, string>();
  /** The sizes that terminals of commands were given. */
  readonly sizes: string[] = [];
  #api: KubeletApi | undefined;

  /** @param directory of the engine whose agent it is to be */
  static async start(directory: string, clock: System = system): Promise<HostInTest> {
    const text = await readFile(`${directory}/pki/ca.pem`, 'utf8');
    const at = text.indexOf('-----BEGIN PRIVATE KEY-----');
    const authority = { certificate: text.slice(0, at), key: text.slice(at) };
    const own = await issueServer(authority, ['127.0.0.1'], new Date());
    const host = new HostInTest();
    host.#api = await KubeletApi.start({
      directory: host,
      runtime: host,
      address: '127.0.0.1',
      port: 0,
      certificates: () => ({ ...own, authority: authority.certificate }),
      log: silentLog,
      system: clock,
    });
    return host;
  }

  get port(): number {
    return this.#api?.port ?? 0;
  }

  async stop(): Promise<void> {
    await this.#api?.stop();
    const running = [...this.#pods.values()].flatMap(({ attempts }) => [...attempts.values()].flat());
    for (const child of [...running.map((each) => each.child), ...this.#commands.keys()]) killAll(child);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The Node that says where its agent is. */
  node(name: string): JsonObject {
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      status: {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: this.port } },
      },
    };
  }

  /** What the API is told of a pod that this host has from then on. */
  pod(node: string, name: string, containers: readonly string[] = ['main'], networkNamespace?: string): JsonObject {
    const attempts = new Map<string, Running[]>();
    this.#pods.set(name, {
      uid: name,
      containers,
      networkNamespace,
      attempts,
      container: (each) => ({
        current: attempts.get(each)?.at(-1)?.state,
        previous: attempts.get(each)?.at(-2)?.state,
      }),
    });
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default' },
      spec: { nodeName: node, containers: containers.map((each) => ({ name: each, image: 'none' })) },
    };
  }

  /** Starts a container, or starts it again. */
  run(pod: string, command: string, container = 'main'): ChildProcess {
    const attempts = this.#pods.get(pod)?.attempts;
    const before = attempts?.get(container) ?? [];
    const folder = join(this.folder, `default_${pod}_${pod}`, container);
    mkdirSync(folder, { recursive: true });
    const child = spawn('sh', ['-c', command], { detached: true });
    const state: ContainerState = {
      id: `${pod}-${container}-${before.length}`,
      sandbox: pod,
      name: container,
      attempt: before.length,
      labels: {},
      logFile: join(folder, `${before.length}.log`),
      phase: 'running',
      startedAt: system.now(),
    };
    const running: Running = { state, child };
    attempts?.set(container, [...before, running]);
    appendFileSync(state.logFile, '');
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].on('data', (text) => writeLog(state.logFile, stream, String(text)));
    }
    child.on('close', (exitCode) => {
      running.state = { ...state, phase: 'ended', exitCode: exitCode ?? 137, endedAt: system.now() };
      for (const changed of this.#watchers) changed(running.state);
    });
    return child;
  }

  logFile(pod: string, container = 'main'): string {
    return this.find('default', pod)?.container(container).current?.logFile ?? '';
  }

  /** As the supervisor does it with a log that has grown too long. */
  rotate(pod: string, parts: number): void {
    const log = this.logFile(pod);
    for (let part = parts - 1; part >= 1; part -= 1) {
      try {
        renameSync(`${log}.${part}`, `${log}.${part + 1}`);
      } catch {
        // There are not so many yet.
      }
    }
    renameSync(log, `${log}.1`);
    appendFileSync(log, '');
  }

  find(namespace: string, name: string): HostedPod | undefined {
    return namespace === 'default' ? this.#pods.get(name) : undefined;
  }

  watch(changed: (state: ContainerState) => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  /** Whether a command runs that contains this. */
  runs(part: string): boolean {
    return [...this.#commands.values()].some((command) => command.includes(part));
  }

  async exec({ command, stdin, tty, size }: ExecSpec): Promise<ExecSession> {
    const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    const [program = '', ...words] = tty ? ['script', '-qefc', quoted, '/dev/null'] : command;
    const child = spawn(program, words, { detached: true });
    const started = Promise.withResolvers<void>();
    child.once('spawn', started.resolve);
    child.once('error', ({ message }) => started.reject(new StartError('StartError', message)));
    await started.promise;
    this.#commands.set(child, quoted);
    if (size !== undefined) this.sizes.push(`${size.columns}x${size.rows}`);
    const ended = new Promise<{ exitCode: number }>((resolve) =>
      child.on('close', (code) => {
        this.#commands.delete(child);
        resolve({ exitCode: code ?? 137 });
      }),
    );
    if (!stdin) child.stdin.end();
    return {
      stdin: stdin ? child.stdin : undefined,
      stdout: child.stdout,
      stderr: tty ? undefined : child.stderr,
      resize: (columns, rows) => void this.sizes.push(`${columns}x${rows}`),
      kill: () => killAll(child),
      ended,
    };
  }

  async attach(id: string): Promise<AttachSession> {
    const found = [...this.#pods.values()]
      .flatMap(({ attempts }) => [...attempts.values()].flat())
      .find(({ state }) => state.id === id);
    if (found === undefined) throw new Error(`there is no container ${id}`);
    const [stdout, stderr] = [found.child.stdout.pipe(new PassThrough()), found.child.stderr.pipe(new PassThrough())];
    return {
      stdin: found.child.stdin,
      stdout,
      stderr,
      resize: (columns, rows) => void this.sizes.push(`${columns}x${rows}`),
      close() {
        found.child.stdout.unpipe(stdout);
        found.child.stderr.unpipe(stderr);
      },
    };
  }
}

/** With all that it has started. */
function killAll({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** Lines as a kubelet has them. */
export function writeLog(file: string, stream: 'stdout' | 'stderr', text: string, time = Date.now()): void {
  const lines = text.split('\n');
  const last = lines.pop();
  const at = `${new Date(time).toISOString().slice(0, -1)}000000Z`;
  const entries = [
    ...lines.map((line) => `${at} ${stream} F ${line}\n`),
    ...(last === '' ? [] : [`${at} ${stream} P ${last}\n`]),
  ];
  appendFileSync(file, entries.join(''));
}
