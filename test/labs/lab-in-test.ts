import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Finished, netloom, RunningNetloom } from '../end-to-end/netloom.ts';
import type { Result } from '../kubectl/kubectl.ts';
import { kubectlFor } from '../kubectl/kubectl.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What keeps the tests of labs from running here; false where they can. */
export const noLabs: string | false = process.getuid?.() === 0 ? false : 'labs take root';

/**
 * Netloom as a process and a lab on it, as a person has them after `npm start` and `netloom lab up`, each with names of its own so
 * that several tests can do the same at the same time.
 */
export class LabInTest {
  netloom: RunningNetloom;
  readonly name: string;
  readonly #document: string;
  readonly #kubectl: Awaited<ReturnType<typeof kubectlFor>>;

  private constructor(running: RunningNetloom, document: string, kubectl: Awaited<ReturnType<typeof kubectlFor>>) {
    this.netloom = running;
    this.name = `t${randomUUID().slice(0, 6)}`;
    this.#document = document;
    this.#kubectl = kubectl;
  }

  /**
   * @param document what follows `lab: NAME` in the file of a lab; `@` stands for what makes names of hosts unique
   * @param words for `netloom up`
   */
  static async start(document: string, words: readonly string[] = []): Promise<LabInTest> {
    const running = await RunningNetloom.start('up', { words });
    const lab = new LabInTest(running, document, await kubectlFor({ kubeconfig: running.kubeconfig }));
    try {
      await lab.upAgain();
      return lab;
    } catch (error) {
      await lab.stop();
      throw error;
    }
  }

  /** The whole name of what the document calls `@name`: no two labs of a machine may have hosts of one name. */
  host(name: string): string {
    return `${this.name}-${name}`;
  }

  /** As `netloom lab up` of its file, or of another one. */
  async upAgain(document = this.#document): Promise<void> {
    await this.run(['lab', 'up', '-'], this.written(document));
  }

  /** What is in its file. */
  written(document = this.#document): string {
    return `lab: ${this.name}\n${document.replaceAll('@', this.host(''))}`;
  }

  async stop(): Promise<void> {
    await netloom(['lab', 'down', this.name]);
    await this.netloom.stopAndRemove();
  }

  /** Kills the engine and its controllers, and starts them again on what they have stored. */
  async restartNetloom(): Promise<void> {
    const { directory, url } = this.netloom;
    await this.netloom.kill();
    this.netloom = await RunningNetloom.start('up', { directory, listen: new URL(url).host });
  }

  /** Runs a `netloom` command. */
  tried(words: readonly string[], input = ''): Promise<Finished> {
    return netloom(words, { env: { KUBECONFIG: this.netloom.kubeconfig }, input });
  }

  /** Runs a `netloom` command that must succeed. */
  async run(words: readonly string[], input = ''): Promise<string> {
    const { code, stdout, stderr } = await this.tried(words, input);
    assert.equal(code, 0, `netloom ${words.join(' ')} → ${code}: ${stderr}${stdout}`);
    return stdout;
  }

  /** Words in one text are taken apart at spaces. */
  kubectl(words: string | readonly string[], input = ''): Promise<Result> {
    return this.#kubectl(typeof words === 'string' ? words.split(' ') : words, { input });
  }

  /** Runs kubectl, which must succeed; `examples/…` are those of the project. */
  async ok(words: string | readonly string[], input = ''): Promise<string> {
    const there = typeof words === 'string' ? words.replaceAll(/(?<= )examples\//g, `${ROOT}examples/`) : words;
    const { code, stdout, stderr } = await this.kubectl(there, input);
    assert.equal(code, 0, `kubectl ${words} → ${code}: ${stderr}${stdout}`);
    return stdout;
  }

  async becomesReady(host: string, wanted: boolean): Promise<void> {
    const condition = '{.status.conditions[?(@.type=="Ready")].status}';
    await this.eventually(
      () => this.ok(`get node ${host} -o jsonpath=${condition}`),
      (status) => (status === 'True') === wanted,
      100,
    );
  }

  /** Runs a command in the network of a host, until it ends or `signal` ends it. */
  on(host: string, words: readonly string[], options: Running = {}): Promise<Result> {
    return inNetwork(`netloom-lab-${this.name}-${host}`, words, options);
  }

  /** Runs a command in the network of a pod, whatever the API and agents do. */
  inPod(uid: string, words: readonly string[], options: Running = {}): Promise<Result> {
    return inNetwork(`netloom-pod-${uid}`, words, options);
  }

  /** Asks until the answer satisfies, for as long as ten times what is promised. */
  async eventually<T>(ask: () => Promise<T>, satisfies: (answer: T) => boolean, seconds = 60): Promise<T> {
    const end = Date.now() + seconds * 1000;
    for (;;) {
      const answer = await ask();
      if (satisfies(answer)) return answer;
      if (Date.now() > end) throw new Error(`still not so after ${seconds} s: ${JSON.stringify(answer)}`);
      await sleep(50);
    }
  }
}

interface Running {
  readonly signal?: AbortSignal;
  /** Called when it has written something for the first time. */
  readonly began?: () => void;
}

async function inNetwork(namespace: string, words: readonly string[], { signal, began }: Running): Promise<Result> {
  const child = spawn('nsenter', [`--net=/run/netns/${namespace}`, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(signal === undefined ? {} : { signal }),
  });
  child.on('error', () => {});
  if (began !== undefined) child.stdout.once('data', began);
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { stdout, stderr, code };
}

/** What runs in the network of a pod, as the machine sees it: from outside, even its first process can be killed. */
export function processesIn(podUid: string): { pid: number; command: string }[] {
  const { dev, ino } = statSync(`/run/netns/netloom-pod-${podUid}`);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const network = statSync(`/proc/${name}/ns/net`);
        if (network.dev !== dev || network.ino !== ino) return [];
        return [{ pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') }];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
}
