import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { uniqueName } from '../../../linux/network.fixture.ts';
import { silentLog } from '../../../runtime/log.ts';
import { system } from '../../../runtime/system.ts';
import type { ContainerSpec, ContainerState, ExecSpec, Limits, SandboxSpec } from '../runtime.ts';
import { SupervisedRuntime } from './supervised-runtime.ts';

/** A host of its own, with a supervisor that is gone after the test with all it has. */
export class TestHost {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'netloom-runtime-'));
  readonly cgroup = `netloom-${uniqueName()}`;
  readonly #connections: SupervisedRuntime[] = [];
  runtime!: SupervisedRuntime;

  static async start(t: TestContext): Promise<TestHost> {
    const host = new TestHost();
    t.after(async () => {
      // Each of them would start another supervisor when this one has ended.
      for (const connection of host.#connections) await connection.close();
      const last = await host.connect();
      await last.shutDown();
      rmSync(host.folder, { recursive: true, force: true });
    });
    host.runtime = await host.connect();
    return host;
  }

  /** As another agent would, beside the one that is there. */
  async connect(): Promise<SupervisedRuntime> {
    const connection = await SupervisedRuntime.connect({
      runDirectory: path.join(this.folder, 'run'),
      stateDirectory: this.stateDirectory,
      cgroup: this.cgroup,
      system,
      log: silentLog,
    });
    this.#connections.push(connection);
    return connection;
  }

  get stateDirectory(): string {
    return path.join(this.folder, 'state');
  }

  async sandbox(id = `pod-${uniqueName()}`, limits: Limits = {}): Promise<string> {
    await this.runtime.createSandbox(sandboxSpec(id, limits));
    return id;
  }

  /** A shell script, or a command, in a sandbox of its own unless one is named. */
  async start(command: string | readonly string[], spec: Partial<ContainerSpec> = {}): Promise<ContainerState> {
    const sandbox = spec.sandbox ?? (await this.sandbox());
    return await this.runtime.startContainer(this.spec(command, { ...spec, sandbox }));
  }

  spec(
    command: string | readonly string[],
    spec: Partial<ContainerSpec> & Pick<ContainerSpec, 'sandbox'>,
  ): ContainerSpec {
    const { id = uniqueName() } = spec;
    return {
      id,
      name: 'main',
      attempt: 0,
      command: typeof command === 'string' ? ['sh', '-c', command] : command,
      env: [['PATH', '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin']],
      mounts: [],
      user: 0,
      group: 0,
      supplementalGroups: [],
      capabilities: DEFAULT_CAPABILITIES,
      noNewPrivileges: false,
      filtersCalls: true,
      readOnlyRoot: false,
      privileged: false,
      limits: {},
      logFile: path.join(this.folder, 'logs', `default_${id}`, 'main', '0.log'),
      log: { maxBytes: 1_000_000, maxFiles: 3 },
      stdin: false,
      tty: false,
      labels: {},
      ...spec,
    };
  }

  /** Waits until a container has ended. */
  async end({ id }: { id: string }): Promise<ContainerState> {
    const { promise, resolve } = Promise.withResolvers<ContainerState>();
    const look = (state: ContainerState | undefined): void => {
      if (state?.id === id && state.phase === 'ended') resolve(state);
    };
    const stop = this.runtime.watch(look);
    look((await this.runtime.list()).containers.find((state) => state.id === id));
    const ended = await promise;
    stop();
    return ended;
  }

  /** What a container has written from its start to its end, and how it ended. */
  async run(command: string | readonly string[], spec: Partial<ContainerSpec> = {}): Promise<RunResult> {
    const ended = await this.end(await this.start(command, spec));
    const lines = logLines(ended.logFile);
    const of = (stream: string): string =>
      lines
        .filter((line) => line.stream === stream)
        .map((line) => line.text + (line.tag === 'F' ? '\n' : ''))
        .join('');
    return { ...ended, stdout: of('stdout'), stderr: of('stderr') };
  }

  async exec(
    { id }: { id: string },
    command: string | readonly string[],
    { input, ...spec }: Partial<ExecSpec> & { input?: string } = {},
  ): Promise<{ stdout: string; stderr: string; exitCode: number }> {
    const session = await this.runtime.exec({
      containerId: id,
      command: typeof command === 'string' ? ['sh', '-c', command] : command,
      stdin: input !== undefined,
      tty: false,
      ...spec,
    });
    session.stdin?.end(input);
    const [stdout, stderr, { exitCode }] = await Promise.all([
      text(session.stdout),
      session.stderr === undefined ? '' : text(session.stderr),
      session.ended,
    ]);
    return { stdout, stderr, exitCode };
  }
}

export const sandboxSpec = (id: string, limits: Limits = {}): SandboxSpec => ({
  id,
  namespace: 'default',
  name: id,
  hostname: 'inside',
  limits,
  sysctls: [],
});

export type RunResult = ContainerState & { stdout: string; stderr: string };

export interface LogLine {
  readonly time: string;
  readonly stream: string;
  readonly tag: string;
  readonly text: string;
}

export function logLines(file: string): LogLine[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [, time = '', stream = '', tag = '', said = ''] = /^(\S+) (\S+) (\S) (.*)$/s.exec(line) ?? [];
      return { time, stream, tag, text: said };
    });
}

/** As a kubelet's runtimes have them. */
const DEFAULT_CAPABILITIES = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'NET_RAW',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
];
