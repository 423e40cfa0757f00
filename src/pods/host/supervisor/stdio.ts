import { closeSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { closeAll, givePipe, makePipe } from '../../../linux/pipe.ts';
import { openTerminal } from '../../../linux/terminal.ts';
import type { LogStream } from './log-file.ts';
import { Output } from './output.ts';

/** Takes what a program writes; a promise says that it should wait before it writes more. */
export type Taker = (stream: LogStream, chunk: Buffer) => Promise<unknown> | undefined;

/** Both ends of what a program reads and writes. */
export interface Stdio {
  /** Descriptors for the program. */
  readonly theirs: readonly [number, number, number];
  readonly input: Writable | undefined;
  readonly outputs: readonly Output[];
  resize(columns: number, rows: number): void;
  /** When the program has them. */
  closeTheirs(): void;
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
  const [input, output, errors] = [stdin ? makePipe() : undefined, makePipe(), makePipe()];
  for (const pipe of [input, output, errors]) if (pipe !== undefined) givePipe(pipe, user, group);
  const theirs = [input?.read ?? openSync('/dev/null', 'r'), output.write, errors.write] as const;
  return {
    theirs,
    input: input === undefined ? undefined : quiet(new Socket({ fd: input.write, readable: false, writable: true })),
    outputs: [
      new Output(reader(output.read), (chunk) => take('stdout', chunk)),
      new Output(reader(errors.read), (chunk) => take('stderr', chunk)),
    ],
    resize: () => {},
    closeTheirs: () => closeAll(theirs),
  };
}

/** All that is written to a terminal comes as one stream. */
function terminalFor({ stdin, user, take, terminals }: StdioOptions & { readonly terminals: number }): Stdio {
  const { stream, slave, resize } = openTerminal(terminals, user);
  return {
    theirs: [slave, slave, slave],
    input: stdin ? quiet(stream) : undefined,
    outputs: [new Output(stream, (chunk) => take('stdout', chunk))],
    resize,
    closeTheirs: () => closeSync(slave),
  };
}

const reader = (fd: number): Socket => new Socket({ fd, readable: true, writable: false });

/** Whoever was to read it may have ended, or have closed it. */
function quiet(socket: Socket): Socket {
  socket.on('error', () => {});
  return socket;
}
