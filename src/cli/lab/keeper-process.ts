import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LabPlaces } from '../../lab/state/places.ts';
import { type System, sleep } from '../../runtime/clock.ts';

/** In a session of its own, so that it goes on when the terminal is closed. */
export function startKeeperProcess(lab: string): void {
  startLogging(lab, process.execPath, keeperWords(lab), 'ignore').unref();
}

/**
 * Has the keeper of a lab started again should it die: without it no host reaches the API. The guard is a shell that waits at a pipe
 * until there is nobody at the other end any more, and then becomes the next keeper.
 */
export class KeeperGuard {
  readonly #lab: string;
  readonly #system: System;
  #guard: ChildProcess;
  #isEnded = false;

  constructor(lab: string, system: System) {
    this.#lab = lab;
    this.#system = system;
    this.#guard = this.#start();
  }

  /** Resolves when it is gone. */
  async end(): Promise<void> {
    this.#isEnded = true;
    if (this.#guard.exitCode !== null || this.#guard.signalCode !== null) return;
    const gone = once(this.#guard, 'close');
    this.#guard.stdin?.end('goodbye\n');
    await gone;
  }

  #start(): ChildProcess {
    const words = ['-c', GUARD, `netloom-lab-guard ${this.#lab}`, process.execPath, ...keeperWords(this.#lab)];
    const guard = startLogging(this.#lab, 'sh', words, 'pipe');
    // Should somebody kill it, writing to it fails: there will be another one.
    guard.stdin?.on('error', () => {});
    guard.on('error', () => {});
    guard.on('close', async () => {
      if (this.#isEnded) return;
      await sleep(this.#system, PAUSE);
      if (!this.#isEnded) this.#guard = this.#start();
    });
    return guard;
  }
}

/** Not at once, so that a keeper that cannot live is not started without a pause. */
const GUARD = 'read -r word && exit; sleep 1; exec "$@" </dev/null';
const PAUSE = 1_000;

const keeperWords = (lab: string): string[] => [...process.execArgv, MAIN, 'lab', 'keep', lab];

function startLogging(lab: string, command: string, words: readonly string[], input: 'ignore' | 'pipe'): ChildProcess {
  const places = new LabPlaces(lab);
  mkdirSync(places.state, { recursive: true, mode: 0o700 });
  const log = openSync(places.keeperLog, 'a', 0o600);
  try {
    return spawn(command, words, { cwd: '/', detached: true, stdio: [input, log, log] });
  } finally {
    closeSync(log);
  }
}

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
