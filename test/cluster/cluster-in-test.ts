import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Finished, netloom } from '../end-to-end/netloom.ts';
import { kubectlFor, type Result } from '../kubectl/kubectl.ts';
import { Kubernetes } from '../peers/kubernetes.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A real Kubernetes cluster that knows our roles, and whatever runs Netloom's controllers against it. */
export class ClusterInTest {
  readonly kubernetes: Kubernetes;
  readonly #kubectl: Awaited<ReturnType<typeof kubectlFor>>;
  readonly #controllers: Controllers[] = [];

  private constructor(kubernetes: Kubernetes, kubectl: Awaited<ReturnType<typeof kubectlFor>>) {
    this.kubernetes = kubernetes;
    this.#kubectl = kubectl;
  }

  static async start(): Promise<ClusterInTest> {
    const kubernetes = await Kubernetes.start();
    const cluster = new ClusterInTest(kubernetes, await kubectlFor({ kubeconfig: kubernetes.kubeconfig }));
    await cluster.ok('apply -f deploy/roles/');
    return cluster;
  }

  /** Resolves when they run; with `--leader-elect` not before they are at work. */
  async startControllers(...words: string[]): Promise<Controllers> {
    const controllers = this.controllers(...words);
    await controllers.isAtWork;
    return controllers;
  }

  controllers(...words: string[]): Controllers {
    const controllers = new Controllers(['--kubeconfig', this.kubernetes.kubeconfig, ...words]);
    this.#controllers.push(controllers);
    return controllers;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#controllers.map((each) => each.kill()));
    await this.kubernetes.stop();
  }

  /** Runs a `netloom` command. */
  netloom(...words: string[]): Promise<Finished> {
    return netloom(words, { env: { KUBECONFIG: this.kubernetes.kubeconfig } });
  }

  async run(words: string, input = ''): Promise<string> {
    const env = { KUBECONFIG: this.kubernetes.kubeconfig };
    const { code, stdout, stderr } = await netloom(words.split(' '), { env, input });
    assert.equal(code, 0, `netloom ${words} → ${code}: ${stderr}${stdout}`);
    return stdout;
  }

  kubectl(words: string, input = ''): Promise<Result> {
    return this.#kubectl(words.split(' '), { input });
  }

  /** Runs kubectl, which must succeed; `examples/…` and `deploy/…` are those of the project. */
  async ok(words: string, input = ''): Promise<string> {
    const there = words.replaceAll(/(?<= )(examples|deploy)\//g, `${ROOT}$1/`);
    const { code, stdout, stderr } = await this.kubectl(there, input);
    assert.equal(code, 0, `kubectl ${words} → ${code}: ${stderr}${stdout}`);
    return stdout;
  }
}

/** A `netloom controllers` of its own. */
export class Controllers {
  readonly isAtWork: Promise<void>;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #log = '';

  constructor(words: readonly string[]) {
    const child = spawn(`${ROOT}bin/netloom`, ['controllers', ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    child.stderr.on('data', (text) => {
      this.#log = `${this.#log}${text}`.slice(-100_000);
    });
    this.#ended = new Promise((resolve) => child.on('close', () => resolve()));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    createInterface(child.stdout).on('line', (line) => {
      if (line.startsWith('ready ')) resolve();
    });
    void this.#ended.then(() => reject(new Error(`netloom controllers ended: ${this.#log}`)));
    // Those that never come to work, because others are, are nobody's failure.
    promise.catch(() => {});
    this.isAtWork = promise;
  }

  /** What they have said last. */
  get log(): string {
    return this.#log;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
