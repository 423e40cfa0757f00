import { closeSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { closeAll, givePipe, makePipe, type Pipe } from '../../../linux/pipe.ts';
import { openTerminal } from '../../../linux/terminal.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { LogStream } from './log-file.ts';
import { Output } from './output.ts';

/** Takes what a program writes; a promise says that it should wait before it writes more. */
export type Taker = (stream: LogStream, chunk: Buffer) => Promise<unknown> | undefined;

/** Both ends of what a program reads and writes. */
export interface Stdio {
  /** Descriptors for the program. */
  readonly theirs: readonly [number, number, number];
  readonly input: Writable | undefined;
  resize(columns: number, rows: number): void;
  /** When the program has them. */
  closeTheirs(): void;
  /** When the program has ended: what it wrote is taken, for so many milliseconds even from others that hold its output. */
  end(clock: Clock, lingering: number): Promise<void>;
}

export interface StdioOptions {
  readonly stdin: boolean;
  readonly user: number;
  readonly group: number;
  readonly take: Taker;
}

export function makeStdio(options: StdioOptions & { readonly tty: boolean; readonly terminals: number }): Stdio {
  return options.tty ? terminalFor(options) : pipesFor(options);
}

function pipesFor({ stdin, user, group, take }: StdioOptions): Stdio {
  const [output, errors, source] = makePipes(stdin ? 3 : 2);
  if (output === undefined || errors === undefined) throw new Error('there are no pipes');
  for (const pipe of [source, output, errors]) if (pipe !== undefined) givePipe(pipe, user, group);
  const theirs = [source?.read ?? openSync('/dev/null', 'r'), output.write, errors.write] as const;
  const input =
    source === undefined ? undefined : quiet(new Socket({ fd: source.write, readable: false, writable: true }));
  const outputs = [
    new Output(reader(output.read), (chunk) => take('stdout', chunk)),
    new Output(reader(errors.read), (chunk) => take('stderr', chunk)),
  ];
  return {
    theirs,
    input,
    resize: () => {},
    closeTheirs: () => closeAll(theirs),
    end: (...until) => endAll(input, outputs, ...until),
  };
}

/** All of them or none: descriptors may run out in the middle. */
function makePipes(count: number): Pipe[] {
  const pipes: Pipe[] = [];
  try {
    while (pipes.length < count) pipes.push(makePipe());
    return pipes;
  } catch (error) {
    closeAll(pipes.flatMap(({ read, write }) => [read, write]));
    throw error;
  }
}

async function endAll(
  input: Writable | undefined,
  outputs: readonly Output[],
  clock: Clock,
  lingering: number,
): Promise<void> {
  await Promise.all(outputs.map((output) => output.endSoon(clock, lingering)));
  input?.destroy();
}

/** All that is written to a terminal comes as one stream. */
function terminalFor({ stdin, user, take, terminals }: StdioOptions & { readonly terminals: number }): Stdio {
  const { stream, slave, resize } = openTerminal(terminals, user);
  const input = stdin ? quiet(stream) : undefined;
  const outputs = [new Output(stream, (chunk) => take('stdout', chunk))];
  return {
    theirs: [slave, slave, slave],
    input,
    resize,
    // Kept until it has ended: a program that closes its own before is hung up on as soon as nobody else has the terminal, and
    // many do, such as cat, just before they exit.
    closeTheirs: () => {},
    end: (...until) => {
      closeSync(slave);
      return endAll(input, outputs, ...until);
    },
  };
}

const reader = (fd: number): Socket => new Socket({ fd, readable: true, writable: false });

/** Whoever was to read it may have ended, or have closed it. */
function quiet(socket: Socket): Socket {
  socket.on('error', () => {});
  return socket;
}
