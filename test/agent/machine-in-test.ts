import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../src/api/json.ts';
import { changeLink } from '../../src/linux/links.ts';
import { Netlink } from '../../src/linux/netlink/connection.ts';
import {
  createNetworkNamespace,
  inNetworkNamespace,
  removeNetworkNamespace,
} from '../../src/linux/network-namespace.ts';
import type { Client } from '../../src/runtime/client.ts';
import { kubectl } from '../kubectl/kubectl.ts';
import { MachineApi } from './machine-api.ts';

export const PROGRAM = fileURLToPath(new URL('../../bin/netloom', import.meta.url));

interface Process {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  stdout: string;
  stderr: string;
}

/** A network of its own with `netloom up` and an agent in it, as on a machine of its own, and a kubectl there. */
export class MachineInTest {
  readonly name = `m${randomBytes(3).toString('hex')}`;
  readonly folder = mkdtempSync(join(tmpdir(), 'netloom-machine-'));
  readonly #namespace = createNetworkNamespace(`netloom-test-${this.name}`, () => {
    using netlink = new Netlink();
    changeLink(netlink, 'lo', { up: true });
  });
  #kubectl = '';
  #api: MachineApi | undefined;
  up: Process | undefined;
  agent: Process | undefined;

  /** Nothing runs there yet. */
  static async make(): Promise<MachineInTest> {
    const machine = new MachineInTest();
    machine.#kubectl = (await kubectl()).path;
    return machine;
  }

  static async start(): Promise<MachineInTest> {
    const machine = await MachineInTest.make();
    try {
      await machine.startUp();
      await machine.startAgent();
    } catch (error) {
      await machine.destroy();
      throw error;
    }
    return machine;
  }

  /** Its kubectl, for what takes more than its words. */
  get program(): string {
    return this.#kubectl;
  }

  /** Its network, by its path. */
  get network(): string {
    return this.#namespace;
  }

  /** Of its API, as an administrator, from outside. */
  async client(): Promise<Client> {
    this.#api ??= await MachineApi.reach(this.#namespace, this.kubeconfig);
    return this.#api.client;
  }

  get kubeconfig(): string {
    return join(this.folder, 'data/kubeconfig');
  }

  get places(): string[] {
    return ['--state-dir', join(this.folder, 'state'), '--run-dir', join(this.folder, 'run')];
  }

  /**
   * @param agent whether it is to start the agent of the machine
   * @param more words for `netloom up`
   */
  async startUp(agent: 'on' | 'off' = 'off', how: readonly string[] = [], more: readonly string[] = []): Promise<void> {
    const data = ['--data-dir', join(this.folder, 'data'), '--listen', '127.0.0.1:6443'];
    this.up = await this.#ready(['up', '--agent', agent, '--host', this.name, ...data, ...more], how);
  }

  async startAgent(): Promise<void> {
    const words = ['agent', '--name', this.name, ...this.places, '--hide', join(this.folder, 'data'), '--listen', '0'];
    this.agent = await this.#ready([...words, '--kubeconfig', this.kubeconfig]);
  }

  async end(which: 'up' | 'agent', signal: NodeJS.Signals): Promise<void> {
    this[which]?.child.kill(signal);
    await this[which]?.ended;
  }

  /** Ends with what is said on standard output; fails the test when the command does. */
  async run(command: string, words: readonly string[], input = ''): Promise<string> {
    const { code, stdout, stderr } = await this.attempt(command, words, input);
    assert.equal(code, 0, `${command} ${words.join(' ')} → ${code}: ${stderr}${stdout}`);
    return stdout;
  }

  async attempt(command: string, words: readonly string[], input = '') {
    const child = this.#spawn(command, words);
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    assert.ok(child.stdout !== null && child.stderr !== null);
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { stdout, stderr, code };
  }

  /** Words in one text are taken apart at spaces. */
  kubectl(words: string | readonly string[], input: string | JsonObject = ''): Promise<string> {
    const args = typeof words === 'string' ? words.split(' ') : words;
    return this.run(this.#kubectl, args, typeof input === 'string' ? input : JSON.stringify(input));
  }

  netloom(words: readonly string[]): Promise<string> {
    return this.run(PROGRAM, words);
  }

  /** Asks until the answer satisfies, for half a minute. */
  async eventually<T>(ask: () => Promise<T>, satisfies: (answer: T) => boolean): Promise<T> {
    const end = Date.now() + 30_000;
    for (;;) {
      const answer = await ask();
      if (satisfies(answer)) return answer;
      if (Date.now() > end) {
        throw new Error(`still not so after 30 s: ${JSON.stringify(answer)}\nthe agent says: ${this.agent?.stderr}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** What an agent of this name has where agents have it when nobody says otherwise. */
  async removeUsual(): Promise<void> {
    await this.attempt(PROGRAM, ['agent', '--name', this.name, '--kubeconfig', '/none', '--remove']);
  }

  get supervisor(): number {
    return Number(readFileSync(join(this.folder, 'run/supervisor.lock'), 'utf8'));
  }

  /** Leaves nothing, whatever happened. */
  async destroy(): Promise<void> {
    this.#api?.close();
    await this.end('agent', 'SIGKILL');
    if (existsSync(join(this.folder, 'run'))) {
      await this.attempt(PROGRAM, ['agent', '--name', this.name, ...this.places, '--kubeconfig', '/none', '--remove']);
    }
    await this.end('up', 'SIGKILL');
    removeNetworkNamespace(`netloom-test-${this.name}`);
    rmSync(this.folder, { recursive: true, force: true });
  }

  #spawn(command: string, words: readonly string[]): ChildProcess {
    const env = { ...process.env, KUBECONFIG: this.kubeconfig, HOME: this.folder, KUBERC: 'off' };
    return inNetworkNamespace(this.#namespace, () => spawn(command, words, { env, stdio: 'pipe' }));
  }

  /** Resolves when it says that it is ready. */
  async #ready(words: readonly string[], how: readonly string[] = []): Promise<Process> {
    const [program = PROGRAM, ...before] = [...how, PROGRAM];
    const child = this.#spawn(program, [...before, ...words]);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const ended = new Promise<number | null>((end) => child.on('close', end));
    const started: Process = { child, ended, stdout: '', stderr: '' };
    child.stdout?.on('data', (chunk) => {
      started.stdout += chunk;
      if (/^ready /m.test(started.stdout)) resolve();
    });
    child.stderr?.on('data', (chunk) => {
      started.stderr += chunk;
    });
    const timer = setTimeout(() => reject(new Error(`not ready within a minute: ${started.stderr}`)), 60_000);
    void ended.then(() => reject(new Error(`netloom ${words[0]} ended: ${started.stderr}`)));
    await promise.finally(() => clearTimeout(timer));
    return started;
  }
}
