import { openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { CallList } from '../../../linux/call-list.ts';
import type { Cgroups } from '../../../linux/cgroups.ts';
import { FIRST_DESCRIPTOR, launch } from '../../../linux/launch.ts';
import { flagsOf } from '../../../linux/namespaces.ts';
import { closeAll, givePipe, makePipe } from '../../../linux/pipe.ts';
import { openProcess } from '../../../linux/process-descriptor.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { ExecSpec } from '../runtime.ts';
import { type Container, joinGroups, writer } from './container.ts';
import { becomeProgram, beUntouchable } from './identity.ts';
import type { LogStream } from './log-file.ts';
import { Output } from './output.ts';

export interface Execution {
  readonly input: Socket | undefined;
  readonly ended: Promise<{ exitCode: number }>;
  resize(columns: number, rows: number): void;
  /** With all that it has started. */
  kill(): void;
}

/** Another command in a running container, with the rights of the container. */
export async function execute(
  spec: ExecSpec,
  container: Container,
  {
    clock,
    cgroups,
    part,
    write,
  }: {
    clock: Clock;
    cgroups: Cgroups;
    /** Names the group of its processes inside that of the container. */
    part: string;
    write: (stream: LogStream, chunk: Buffer) => Promise<unknown> | undefined;
  },
): Promise<Execution> {
  const { pid } = container;
  if (pid === undefined) throw new Error(`container ${container.spec.name} does not run`);
  const { user, group } = container.spec;
  cgroups.makePart(container.group, part);
  const target = openProcess(pid);
  const [input, output, errors] = [spec.stdin ? makePipe() : undefined, makePipe(), makePipe()];
  for (const pipe of [input, output, errors]) if (pipe !== undefined) givePipe(pipe, user, group);
  const theirs = [input?.read ?? openSync('/dev/null', 'r'), output.write, errors.write] as const;
  const calls = new CallList();
  beUntouchable(calls);
  joinGroups(calls, cgroups.joins(container.group, part));
  calls.add('setns', [FIRST_DESCRIPTOR, flagsOf(['mnt', 'cgroup', 'uts', 'ipc', 'net'])], {
    doing: 'enter the container',
  });
  becomeProgram(calls, container.spec, { command: spec.command, tty: spec.tty });
  const launched = launch({ calls, stdio: theirs, descriptors: [target], processes: { of: pid } });
  closeAll([...theirs, target]);

  const inputSocket = input === undefined ? undefined : writer(input.write);
  const streams = [
    new Output(output.read, (chunk) => write('stdout', chunk)),
    new Output(errors.read, (chunk) => write('stderr', chunk)),
  ];
  const wholeGroup = `${container.group}/${part}`;
  const kill = () => {
    cgroups.kill(wholeGroup);
    try {
      process.kill(launched.pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  };
  const cancel = spec.timeoutMs === undefined ? () => {} : clock.timer(spec.timeoutMs, kill);
  const ended = launched.ended.then(async ({ exitCode, signal }) => {
    cancel();
    inputSocket?.destroy();
    await Promise.all(streams.map((stream) => stream.endSoon(clock, LINGERING)));
    cgroups.remove(wholeGroup);
    return { exitCode: exitCode ?? 128 + (signal === undefined ? 0 : constants.signals[signal]) };
  });
  try {
    await launched.begun;
  } catch (error) {
    await ended;
    throw error;
  }
  return { input: inputSocket, ended, kill, resize: () => {} };
}

/** How long what a command has left behind may go on writing, in milliseconds. */
const LINGERING = 500;
