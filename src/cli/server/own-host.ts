import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { dnsSubdomainFaults } from '../../api/syntax.ts';
import { backoff } from '../../runtime/backoff.ts';
import { Client } from '../../runtime/client.ts';
import { sleep } from '../../runtime/clock.ts';
import { readKubeconfig } from '../../runtime/kubeconfig.ts';
import { asError, type Log } from '../../runtime/log.ts';
import { system } from '../../runtime/system.ts';
import type { Transport } from '../../runtime/transport.ts';
import { agentFlags } from '../agent/process-flags.ts';
import { isInProgram } from '../agent/program-folder.ts';

export interface OwnHostOptions {
  readonly name: string | undefined;
  /** Of an administrator. */
  readonly transport: Transport;
  /** By which the engine is reached; its file. */
  readonly kubeconfig: string;
  /** Of the engine: no container may see it. */
  readonly directory: string;
  readonly serviceCidr: string;
  readonly podCidr: string;
  readonly log: Log;
}

/** This machine as a host of its own cluster: its agent is a process of its own, which is started again when it dies. */
export interface OwnHost {
  readonly name: string;
  /** Pods go on. */
  stop(): Promise<void>;
}

const MAIN = join(import.meta.dirname, '../main.ts');
const RESTART = { first: 1_000, max: 60_000 };
/** Who has lived so long does not die for a reason that is still there. */
const LONG_LIFE = 60_000;
/** Of the five seconds that whoever stops us allows. */
const GRACE = 3_000;

/** Starts the agent of this machine; a sentence instead where that cannot be. */
export async function startOwnHost(options: OwnHostOptions): Promise<OwnHost | { readonly reason: string }> {
  if (process.getuid?.() !== 0) {
    return { reason: 'only root can run pods on this machine; everything else works' };
  }
  const secret = secretFolders(options).find(isInProgram);
  if (secret !== undefined) {
    return {
      reason: `${secret} is in the folder of Netloom itself, which pods see: give it another place to run pods`,
    };
  }
  const name = options.name ?? hostname().toLowerCase();
  if (dnsSubdomainFaults(name).length > 0) {
    return { reason: `the name of this machine, "${name}", cannot be one of a node: give it another with --host NAME` };
  }
  const runDirectory = `/run/netloom/hosts/${name}`;
  // Loaded only here: nothing else of the engine's process deals with the kernel.
  const { lockFile } = await import('../../linux/file-lock.ts');
  await mkdir(runDirectory, { recursive: true, mode: 0o700 });
  const lock = lockFile(join(runDirectory, 'agent.lock'));
  if ('heldBy' in lock) {
    const who = lock.heldBy === undefined ? 'another process' : `process ${lock.heldBy}`;
    return { reason: `the agent of ${name} runs already, as ${who}: it belongs to another Netloom` };
  }
  lock.release();
  return new RunningHost(name, options);
}

/** With what is in there, anybody is an administrator. */
const secretFolders = ({ directory, kubeconfig }: OwnHostOptions): string[] => [
  ...new Set([directory, dirname(kubeconfig)]),
];

class RunningHost implements OwnHost {
  readonly name: string;
  readonly #options: OwnHostOptions;
  readonly #end = new AbortController();
  readonly #running: Promise<void>;
  #child: ChildProcess | undefined;

  constructor(name: string, options: OwnHostOptions) {
    this.name = name;
    this.#options = options;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#end.abort();
    this.#child?.kill('SIGTERM');
    const late = setTimeout(() => this.#child?.kill('SIGKILL'), GRACE);
    await this.#running;
    clearTimeout(late);
  }

  async #run(): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#end;
    for (let failures = 0; !signal.aborted; ) {
      const began = system.uptime();
      const why = await this.#live().catch((error: unknown) => asError(error).message);
      if (signal.aborted) return;
      failures = system.uptime() - began > LONG_LIFE ? 1 : failures + 1;
      const delay = backoff(failures, RESTART, system);
      log.warn('the agent of this machine has ended; it is started again', { why, after: `${Math.round(delay)} ms` });
      await sleep(system, delay, signal);
    }
  }

  /** One life of the agent; resolves with how it ended. */
  async #live(): Promise<string> {
    const { serviceCidr, podCidr } = this.#options;
    const addresses = await this.#enrol();
    const { signal } = this.#end;
    if (signal.aborted) return 'stopped';
    const known = addresses.flatMap((address) => ['--node-ip', address]);
    const words = ['agent', '--name', this.name, ...known, '--listen', '0'];
    const hidden = secretFolders(this.#options).flatMap((folder) => ['--hide', folder]);
    const child = spawn(
      process.execPath,
      [
        ...process.execArgv,
        ...agentFlags,
        MAIN,
        ...words,
        ...hidden,
        '--service-cidr',
        serviceCidr,
        '--pod-cidr',
        podCidr,
      ],
      // By the channel it learns that we are gone, however we end.
      { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
    );
    this.#child = child;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    child.once('error', reject);
    child.once('exit', (code, by) => resolve(by === null ? `exit code ${code}` : `${by}`));
    return promise.finally(() => {
      this.#child = undefined;
    });
  }

  /** Gives the host what it takes to speak as itself, so that its agent never sees the credentials of an administrator. */
  async #enrol(): Promise<readonly string[]> {
    const { transport, kubeconfig, podCidr } = this.#options;
    const [{ enrol }, { ownAddresses }] = await Promise.all([
      import('../../agent/enrol.ts'),
      import('../agent/own-address.ts'),
    ]);
    const { server, ca } = await readKubeconfig(kubeconfig);
    const addresses = ownAddresses(podCidr);
    await enrol({
      client: new Client({ transport, fieldManager: 'netloom', signal: this.#end.signal }),
      way: { server, insecure: false, ...(ca === undefined ? {} : { ca }) },
      name: this.name,
      addresses,
      stateDirectory: `/var/lib/netloom/hosts/${this.name}`,
      system,
      signal: this.#end.signal,
    });
    return addresses;
  }
}
