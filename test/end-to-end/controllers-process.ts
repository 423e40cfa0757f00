import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../bin/netloom', import.meta.url));

/** A `netloom controllers` of its own, as a process. It works without asking whether another one does. */
export class RunningControllers {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #log = '';
  #killed = false;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, 'close');
    child.stderr?.on('data', (chunk) => {
      this.#log = (this.#log + chunk).slice(-20_000);
    });
  }

  /** Resolves when it is at work. */
  static async start(kubeconfig: string): Promise<RunningControllers> {
    const child = spawn(PROGRAM, ['controllers', '--kubeconfig', kubeconfig], { stdio: ['ignore', 'pipe', 'pipe'] });
    const controllers = new RunningControllers(child);
    const ended = controllers.#ended.then(() => {
      throw new Error(`netloom controllers ended before it was ready: ${controllers.#log}`);
    });
    await Promise.race([once(child.stdout, 'data'), ended]);
    return controllers;
  }

  /** What it had to say at last, if it ended without having been killed. */
  get lastWords(): string | undefined {
    return this.#child.exitCode === null || this.#killed ? undefined : this.#log;
  }

  async kill(): Promise<void> {
    this.#killed = true;
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
