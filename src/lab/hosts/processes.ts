import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import path from 'node:path';
import { Cgroups } from '../../linux/cgroups.ts';
import { networkNamespacePath } from '../../linux/network-namespace.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { PlannedHost } from '../plan/lab-plan.ts';
import type { HostPlaces } from '../state/places.ts';

export interface HostProcess {
  readonly pid: number;
  readonly command: readonly string[];
}

/** A host with its places on this machine. */
export interface PlacedHost {
  readonly host: PlannedHost;
  readonly places: HostPlaces;
}

/** What runs in each network namespace of this machine, by its number; looked at once, for all hosts. */
export class RunningProcesses {
  /** namespace → processes */
  readonly #byNamespace = new Map<number, number[]>();

  constructor() {
    for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
      const namespace = namespaceOf(name);
      if (namespace === undefined || Number(name) === process.pid) continue;
      this.#byNamespace.set(namespace, [...(this.#byNamespace.get(namespace) ?? []), Number(name)]);
    }
  }

  /** In the namespace of the host itself: its agent, its supervisor, and whatever people have started there. */
  inHost({ host }: Pick<PlacedHost, 'host'>): HostProcess[] {
    return this.#in(networkNamespacePath(host.namespace)).map((pid) => ({ pid, command: commandOf(pid) }));
  }

  /** All that runs because of a host, its pods included. */
  because(placed: PlacedHost): number[] {
    const namespaces = [placed.host.namespace, ...podNamespaces(placed.places)];
    const inside = namespaces.flatMap((name) => this.#in(networkNamespacePath(name)));
    return [...new Set([...inside, ...new Cgroups().processes(cgroupOf(placed.host))])];
  }

  #in(file: string): number[] {
    return existsSync(file) ? (this.#byNamespace.get(statSync(file).ino) ?? []) : [];
  }
}

/** Its agent: a netloom that was started as `agent --name HOST`. */
export const isAgentOf =
  ({ name }: PlannedHost) =>
  ({ command }: HostProcess): boolean =>
    command.some((word, i) => word === 'agent' && command[i + 1] === '--name' && command[i + 2] === name);

/** The network namespaces of its pods, by their names, as far as its disk knows of them. */
export const podNamespaces = ({ state }: HostPlaces): string[] =>
  podsOn(path.join(state, 'pods')).map((uid) => `netloom-pod-${uid}`);

/** The group that all processes of its pods are in. */
export const cgroupOf = ({ namespace }: PlannedHost): string => namespace;

/** Ends all that runs because of these hosts, without a word, as when the current goes. */
export async function endProcesses(
  hosts: readonly PlacedHost[],
  { clock, spare }: { clock: Clock; spare: ReadonlySet<number> },
): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const running = new RunningProcesses();
    const pids = hosts.flatMap((host) => running.because(host)).filter((pid) => !spare.has(pid));
    if (pids.length === 0) return;
    if (tries === MOST_TRIES)
      throw new Error(`these processes do not end, though they were killed: ${pids.join(', ')}`);
    for (const pid of pids) kill(pid);
    await sleep(clock, LOOK_AGAIN);
  }
}

export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has come to its end meanwhile.
  }
}

/** Those whose standard output a file is: whatever they are called, and in whichever place of that name. */
export function writersOf(file: string): number[] {
  const log = fileOf(file);
  if (log === undefined) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid && fileOf(`/proc/${name}/fd/1`) === log)
    .map(Number);
}

/** Undefined when there is none, or none any more. */
function fileOf(name: string): string | undefined {
  try {
    const { dev, ino } = statSync(name);
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}

function podsOn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((uid) => /^[A-Za-z0-9-]+$/.test(uid)) : [];
}

/** Undefined for those that have ended, zombies too. */
function namespaceOf(pid: string): number | undefined {
  try {
    return Number(/^net:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/ns/net`))?.[1]);
  } catch {
    return undefined;
  }
}

function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

const LOOK_AGAIN = 20;
/** Ten seconds: the kernel takes its time with processes that have much memory or wait for a disk. */
const MOST_TRIES = 500;

/** As it calls itself. */
export const isSupervisorOf =
  (host: PlannedHost) =>
  ({ command }: HostProcess): boolean =>
    command[0] === `netloom-supervisor ${cgroupOf(host)}`;
