import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import { CallList } from '../../../linux/call-list.ts';
import type { Cgroups } from '../../../linux/cgroups.ts';
import { FIRST_DESCRIPTOR, launch } from '../../../linux/launch.ts';
import { flagsOf } from '../../../linux/namespaces.ts';
import { openProcess } from '../../../linux/process-descriptor.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { ExecSpec } from '../runtime.ts';
import { type Container, joinGroups } from './container.ts';
import { becomeProgram, beUntouchable } from './identity.ts';
import { makeStdio, type Stdio, type Taker } from './stdio.ts';

export interface Execution {
  readonly stdio: Stdio;
  readonly ended: Promise<{ exitCode: number }>;
  /** With all that it has started. */
  kill(): void;
}

/** Another command in a running container, with the rights of the container. */
export async function execute(
  { command, stdin, tty, size, timeoutMs }: ExecSpec,
  container: Container,
  {
    clock,
    cgroups,
    part,
    begun,
    take,
  }: {
    clock: Clock;
    cgroups: Cgroups;
    /** Names the group of its processes inside that of the container. */
    part: string;
    /** Called before anything is taken. */
    begun: () => void;
    take: Taker;
  },
): Promise<Execution> {
  const { pid, terminals, spec } = container;
  if (pid === undefined) throw new Error(`container ${spec.name} does not run`);
  const calls = new CallList();
  beUntouchable(calls);
  joinGroups(calls, cgroups.joins(container.group, part));
  const inside = flagsOf(['mnt', 'cgroup', 'uts', 'ipc', 'net']);
  calls.add('setns', [FIRST_DESCRIPTOR, inside], { doing: 'enter the container' });
  becomeProgram(calls, spec, { command, tty });

  cgroups.makePart(container.group, part);
  const target = openProcess(pid);
  const hasBegun = Promise.withResolvers<boolean>();
  const takeWhenBegun: Taker = async (...written) => {
    if (await hasBegun.promise) await take(...written);
  };
  const stdio = makeStdio({ stdin, tty, terminals, user: spec.user, group: spec.group, take: takeWhenBegun });
  if (size !== undefined) stdio.resize(size.columns, size.rows);
  const launched = launch({ calls, stdio: stdio.theirs, descriptors: [target], processes: { of: pid } });
  stdio.closeTheirs();
  closeSync(target);

  const group = `${container.group}/${part}`;
  const kill = (): void => cgroups.kill(group);
  const cancel = timeoutMs === undefined ? () => {} : clock.timer(timeoutMs, kill);
  const ended = launched.ended.then(async ({ exitCode, signal }) => {
    cancel();
    await Promise.all(stdio.outputs.map((output) => output.endSoon(clock, LINGERING)));
    stdio.input?.destroy();
    cgroups.remove(group);
    return { exitCode: exitCode ?? 128 + (signal === undefined ? 0 : constants.signals[signal]) };
  });
  try {
    await launched.begun;
    begun();
    hasBegun.resolve(true);
  } catch (error) {
    hasBegun.resolve(false);
    await ended;
    throw error;
  }
  return { stdio, ended, kill };
}

/** How long what a command has left behind may go on writing, in milliseconds. */
const LINGERING = 500;
