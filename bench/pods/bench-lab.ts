import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { mayLeave } from '../shared/leftovers.ts';
import { Load } from '../shared/load.ts';
import { Netloom } from '../shared/netloom.ts';

const PROGRAM = path.join(import.meta.dirname, '../../bin/netloom');
const NAMESPACE = '/api/v1/namespaces/default';
export const PODS = `${NAMESPACE}/pods`;

/** `netloom up` and a lab of hosts on one switch, as people have them, with names that no other lab of the machine has. */
export class BenchLab {
  readonly netloom: Netloom;
  readonly load: Load;
  readonly hosts: readonly string[];
  /** What making the lab took, in milliseconds. */
  readonly upIn: number;
  readonly #name: string;
  readonly #isDown: () => void;

  private constructor(parts: {
    netloom: Netloom;
    load: Load;
    name: string;
    hosts: readonly string[];
    upIn: number;
    isDown: () => void;
  }) {
    this.netloom = parts.netloom;
    this.load = parts.load;
    this.hosts = parts.hosts;
    this.upIn = parts.upIn;
    this.#name = parts.name;
    this.#isDown = parts.isDown;
  }

  /** @param directory of the engine's data */
  static async up(count: number, directory: string): Promise<BenchLab> {
    const netloom = await Netloom.serve('up', directory);
    const name = `b${randomBytes(3).toString('hex')}`;
    const hosts = Array.from({ length: count }, (_, i) => `${name}-${i}`);
    const undo = async () => {
      await run(PROGRAM, ['lab', 'down', name], { kubeconfig: netloom.kubeconfig }).catch(() => {});
      await netloom.stop();
    };
    const isDown = mayLeave(undo);
    const began = performance.now();
    try {
      await run(PROGRAM, ['lab', 'up', '-'], { kubeconfig: netloom.kubeconfig, input: documentOf(name, hosts) });
      const upIn = performance.now() - began;
      return new BenchLab({ netloom, load: await Load.open(netloom.kubeconfig, 8), name, hosts, upIn, isDown });
    } catch (error) {
      await undo();
      isDown();
      throw error;
    }
  }

  /** What taking the lab down took, in milliseconds. */
  async down(): Promise<number> {
    this.load.close();
    const began = performance.now();
    await run(PROGRAM, ['lab', 'down', this.#name], { kubeconfig: this.netloom.kubeconfig });
    const took = performance.now() - began;
    this.#isDown();
    await this.netloom.stop();
    return took;
  }

  /** A pod of one container on that host, which the scheduler has to find. */
  createPod(name: string, host: string, command: readonly string[]): Promise<string> {
    return this.load.ask('POST', PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        nodeSelector: { 'kubernetes.io/hostname': host },
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'main', image: 'host', command: [...command] }],
      },
    });
  }

  async pod(name: string): Promise<{ uid: string; ip: string }> {
    const { metadata, status } = JSON.parse(await this.load.ask('GET', `${PODS}/${name}`));
    return { uid: metadata.uid, ip: status.podIP };
  }

  /** Resolves when none of them is there any more. */
  async deletePods(names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => this.load.send('DELETE', `${PODS}/${name}`)));
    for (const name of names) {
      while ((await this.load.send('GET', `${PODS}/${name}`)).status !== 404) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  /** The name of the network namespace of the nth host. */
  networkOf(number: number): string {
    return `netloom-lab-${this.#name}-${this.hosts[number]}`;
  }

  /** The agent of a host and its supervisor, as process ids. */
  processesOf(host: string): { agent: number; supervisor: number } {
    const commands = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => ({ pid: Number(pid), words: commandOf(pid) }));
    const agent = commands.find(({ words }) => words.includes('agent') && words.includes(host));
    const supervisor = commands.find(({ words }) =>
      words.join(' ').startsWith(`netloom-supervisor netloom-lab-${this.#name}-${host}`),
    );
    if (agent === undefined || supervisor === undefined) throw new Error(`the agent of ${host} does not run`);
    return { agent: agent.pid, supervisor: supervisor.pid };
  }
}

const documentOf = (name: string, hosts: readonly string[]): string => `
lab: ${name}
switches:
  wire: { subnet: 192.168.211.0/24 }
hosts:
${hosts.map((host) => `  ${host}:\n    links: { eth0: wire }\n    resources: { pods: '200' }`).join('\n')}
`;

function commandOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** Runs a program that must succeed; returns what it prints. */
export async function run(
  program: string,
  words: readonly string[],
  { kubeconfig, input = '' }: { kubeconfig?: string; input?: string } = {},
): Promise<string> {
  const env = kubeconfig === undefined ? process.env : { ...process.env, KUBECONFIG: kubeconfig };
  const child = spawn(program, words, { env, stdio: 'pipe' });
  // Who reads nothing may have ended before.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const [printed, complaints, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`${program} ${words.join(' ')} → ${code}: ${complaints}${printed}`);
  return printed;
}
