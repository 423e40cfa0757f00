import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { LABS } from '../../src/lab/state/places.ts';
import { removeIfEmpty } from '../../src/lab/state/turn.ts';
import { kubectl } from '../kubectl/kubectl.ts';
import { removeCgroups } from './machine-view.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/netloom', import.meta.url));

/** Everything that a machine has from the start: a network with a way out, and a rule of somebody else. */
const BOOT = `
set -e
# What others have mounted there is not to be kept alive by copies of it.
for folder in $(cut -d' ' -f2 /proc/mounts | grep -E "^(/run|/var/lib/netloom|$SHARED)/" | sort -r); do
  # Gone meanwhile, when those who had it have removed it.
  umount --lazy "$folder" 2>/dev/null || true
done
mount -t tmpfs tmpfs /run
mkdir -p /run/tmp /var/lib/netloom
mount --bind "$STATE" /var/lib/netloom
# Addresses are what they are at once.
sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0
ip link set lo up
ip link add eth0 type veth peer name out
ip address add 192.0.2.2/24 dev eth0
ip link set out up
ip link set eth0 up
ip route add default via 192.0.2.1
nft add table inet mine
nft add chain inet mine input '{ type filter hook input priority 0; policy accept; }'
# Somebody uses network namespaces already.
ip netns add other
echo on
# As a first process does, it buries those whose parents are gone.
sleep infinity & wait
`;

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * A computer of its own, as far as the kernel can play one: its processes, its network, its mounts, its /run. Nobody else is
 * there, so what is left of something can be seen to the last file. Switched off, all of that is gone; disks stay.
 */
export class Computer {
  /** Its disks. */
  readonly folder = mkdtempSync(join(tmpdir(), 'netloom-computer-'));
  readonly name = `c${this.folder
    .slice(-6)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '0')}`;
  readonly #kubectl: string;
  #current: ChildProcess | undefined;
  #init = 0;

  private constructor(kubectlPath: string) {
    this.#kubectl = kubectlPath;
    for (const disk of ['state', 'data']) mkdirSync(join(this.folder, disk), { mode: 0o700 });
  }

  static async make(): Promise<Computer> {
    const computer = new Computer((await kubectl()).path);
    await computer.switchOn();
    return computer;
  }

  get kubeconfig(): string {
    return join(this.folder, 'data/kubeconfig');
  }

  async switchOn(): Promise<void> {
    const words = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', 'sh', '-c', BOOT];
    const env = { ...process.env, STATE: join(this.folder, 'state'), SHARED: tmpdir() };
    const child = spawn('unshare', words, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    const [said] = await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
    assert.equal(`${said}`, 'on\n');
    this.#current = child;
    this.#init = childOf(child);
  }

  /** As if somebody had pulled the plug. */
  async switchOff(): Promise<void> {
    const child = this.#current;
    if (child === undefined) return;
    const gone = once(child, 'close');
    process.kill(this.#init, 'SIGKILL');
    await gone;
    this.#current = undefined;
    // With the current, all groups go that no process is in any more.
    removeCgroups(this.name);
  }

  /** Leaves nothing. */
  async remove(): Promise<void> {
    await this.switchOff();
    rmSync(this.folder, { recursive: true, force: true });
    // On which its disk was mounted.
    removeIfEmpty(LABS);
  }

  /** As `npm start`. Resolves when it is ready. */
  async startNetloom(...words: readonly string[]): Promise<RunningHere> {
    const where = ['--data-dir', join(this.folder, 'data'), '--listen', '127.0.0.1:6443', '--host', this.name];
    const child = this.#spawn(PROGRAM, ['up', ...where, ...words]);
    const running = new RunningHere(child);
    await running.ready;
    return running;
  }

  /** Words in one text are taken apart at spaces. */
  async run(words: string | readonly string[], input = ''): Promise<string> {
    const { code, stdout, stderr } = await this.attempt(words, input);
    assert.equal(code, 0, `${[words].flat().join(' ')} → ${code}: ${stderr}${stdout}`);
    return stdout;
  }

  /** `kubectl` and `netloom` are ours. */
  async attempt(words: string | readonly string[], input = '', signal?: AbortSignal): Promise<Result> {
    const [command = '', ...rest] = typeof words === 'string' ? words.split(' ') : words;
    const child = this.#spawn(command === 'netloom' ? PROGRAM : command === 'kubectl' ? this.#kubectl : command, rest);
    signal?.addEventListener('abort', () => kill(child, 'SIGKILL'));
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
    assert.ok(child.stdout !== null && child.stderr !== null);
    const ended = once(child, 'close');
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { code, stdout, stderr };
  }

  async becomesReady(node: string): Promise<void> {
    const ready = `kubectl get node ${node} -o jsonpath={.status.conditions[?(@.type=="Ready")].status}`;
    await this.eventually(
      async () => (await this.attempt(ready)).stdout,
      (status) => status === 'True',
    );
  }

  /** Empties a disk. */
  erase(disk: 'state' | 'data'): void {
    rmSync(join(this.folder, disk), { recursive: true });
    mkdirSync(join(this.folder, disk), { mode: 0o700 });
  }

  /** A file on its disk, by its whole path. */
  write(name: string, content: string): string {
    const file = join(this.folder, name);
    writeFileSync(file, content);
    return file;
  }

  /** Asks until the answer satisfies. */
  async eventually<T>(ask: () => Promise<T>, satisfies: (answer: T) => boolean, seconds = 60): Promise<T> {
    const end = Date.now() + seconds * 1000;
    for (;;) {
      const answer = await ask();
      if (satisfies(answer)) return answer;
      if (Date.now() > end) throw new Error(`still not so after ${seconds} s: ${JSON.stringify(answer)}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  #spawn(command: string, words: readonly string[]): ChildProcess {
    const env = {
      ...process.env,
      KUBECONFIG: this.kubeconfig,
      KUBERC: 'off',
      TMPDIR: '/run/tmp',
      KUBECACHEDIR: join(this.folder, 'cache'),
    };
    return spawn('nsenter', ['--target', `${this.#init}`, '--net', '--mount', '--pid', '--', command, ...words], {
      env,
      stdio: 'pipe',
    });
  }
}

/** A `netloom up` on a computer. */
export class RunningHere {
  readonly ready: Promise<void>;
  readonly #child: ChildProcess;
  readonly #gone: Promise<unknown>;
  stdout = '';
  stderr = '';

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#gone = once(child, 'close');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    child.stdout?.on('data', (chunk) => {
      this.stdout += chunk;
      if (/^ready /m.test(this.stdout)) resolve();
    });
    child.stderr?.on('data', (chunk) => {
      this.stderr += chunk;
    });
    void this.#gone.then(() => reject(new Error(`netloom up ended: ${this.stderr}`)));
    this.ready = promise;
    this.ready.catch(() => {});
  }

  async stop(): Promise<void> {
    kill(this.#child, 'SIGTERM');
    await this.#gone;
  }
}

/** Those who enter the processes of a computer only wait for their only child, which is the program. */
const childOf = ({ pid }: ChildProcess): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]);

function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    const program = childOf(child);
    if (program > 0) process.kill(program, signal);
    else child.kill(signal);
  } catch {
    // It has come to its end.
  }
}
