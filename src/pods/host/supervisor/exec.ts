import { closeSync } from 'node:fs';
import { CallList } from '../../../linux/call-list.ts';
import type { Cgroups } from '../../../linux/cgroups.ts';
import { FIRST_DESCRIPTOR, type Launched, launch } from '../../../linux/launch.ts';
import { flagsOf } from '../../../linux/namespaces.ts';
import { setDispensability } from '../../../linux/out-of-memory.ts';
import { openProcess } from '../../../linux/process-descriptor.ts';
import { type Clock, sleep } from '../../../runtime/clock.ts';
import { type ExecSpec, StartError } from '../runtime.ts';
import { type Container, joinGroups } from './container.ts';
import { endGroup } from './end-group.ts';
import { exitCodeOf } from './exit-code.ts';
import { becomeProgram, beUntouchable } from './identity.ts';
import { makeStdio, type Stdio, type Taker } from './stdio.ts';

export interface Execution {
  readonly stdio: Stdio;
  readonly ended: Promise<{ exitCode: number }>;
  /** With all that it has started. */
  kill(): void;
}

export interface ExecOptions {
  readonly clock: Clock;
  readonly cgroups: Cgroups;
  /** Names the group of its processes inside that of the container. */
  readonly part: string;
  /** Called before anything is taken. */
  readonly begun: () => void;
  readonly take: Taker;
}

/** Another command in a running container, with the rights of the container. */
export async function execute(spec: ExecSpec, container: Container, options: ExecOptions): Promise<Execution> {
  const { clock, cgroups, part, begun, take } = options;
  const group = `${container.group}/${part}`;
  const hasBegun = Promise.withResolvers<boolean>();
  const takeWhenBegun: Taker = async (...written) => {
    if (await hasBegun.promise) await take(...written);
  };
  const { user, group: userGroup } = container.spec;
  const { terminals } = running(container);
  const stdio = makeStdio({ ...spec, terminals, user, group: userGroup, take: takeWhenBegun });
  const finish = async (): Promise<void> => {
    await stdio.end(clock, LINGERING);
    container.noteRefusals();
    // What goes on in the background belongs to the container from now on.
    for (let tries = 0; !cgroups.dissolvePart(container.group, part) && tries < TRIES; tries += 1)
      await sleep(clock, 20);
  };
  try {
    const launched = enter(spec, { container, cgroups, part, stdio });
    const kill = (): void => {
      launched.signal('SIGKILL');
      endGroup(cgroups, group, clock).catch(() => {});
    };
    const cancel = spec.timeoutMs === undefined ? () => {} : clock.timer(spec.timeoutMs, kill);
    const programEnded = launched.ended.finally(cancel);
    try {
      await launched.begun;
    } catch (error) {
      await programEnded.catch(() => {});
      throw error;
    }
    begun();
    hasBegun.resolve(true);
    const ended = programEnded.then((end) => finish().then(() => ({ exitCode: exitCodeOf(end) })));
    return { stdio, ended, kill };
  } catch (error) {
    hasBegun.resolve(false);
    await finish();
    if (!(error instanceof StartError)) await whetherItRuns(container, clock);
    throw error;
  }
}

/** The container as it is while it runs. */
function running(container: Container): { readonly pid: number; readonly terminals: number } {
  const { pid } = container;
  if (pid === undefined) throw new Error(`container ${container.spec.name} does not run`);
  return { pid, terminals: container.terminals };
}

/** A command in a container that ends meanwhile fails in strange ways: that it has ended is the reason. */
async function whetherItRuns(container: Container, clock: Clock): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    running(container);
    await sleep(clock, 20);
  }
}

function enter(
  { command, tty, size }: ExecSpec,
  { container, cgroups, part, stdio }: { container: Container; cgroups: Cgroups; part: string; stdio: Stdio },
): Launched {
  let target: number | undefined;
  try {
    const { pid } = running(container);
    if (size !== undefined) stdio.resize(size.columns, size.rows);
    cgroups.makePart(container.group, part);
    const calls = new CallList();
    beUntouchable(calls);
    joinGroups(calls, cgroups.joins(container.group, part));
    setDispensability(calls, container.spec.dispensability ?? 0);
    const inside = flagsOf(['mnt', 'cgroup', 'uts', 'ipc', 'net']);
    calls.add('setns', [FIRST_DESCRIPTOR, inside], { doing: 'enter the container' });
    becomeProgram(calls, container.spec, { command, tty });
    target = openProcess(pid);
    return launch({ calls, stdio: stdio.theirs, descriptors: [target], processes: { of: pid } });
  } finally {
    stdio.closeTheirs();
    if (target !== undefined) closeSync(target);
  }
}

/** How long what a command has left behind may go on writing, in milliseconds. */
const LINGERING = 500;
const TRIES = 10;
