import type { Status } from '../../api/status.ts';
import { system } from '../../runtime/system.ts';
import { CHANNEL_PROTOCOLS, Channels, OLDEST_CHANNELS } from '../../runtime/websocket/channels.ts';
import { dialWebSocket } from '../../runtime/websocket/dial.ts';
import { CommandError } from '../command.ts';
import { type ConnectionOptions, connect } from './connection.ts';
import { explained, podPath } from './pod-request.ts';

interface ExecOptions extends ConnectionOptions {
  readonly container: string | undefined;
  readonly stdin: boolean;
  readonly tty: boolean;
}

/** Where what of a command goes. */
const CHANNEL = { input: 0, output: 1, errors: 2, outcome: 3, size: 4, close: 255 } as const;

/** The newest way first: only there the end of the input can be told. */
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

/** Answers with the exit code of the command. */
export async function execute(pod: string, words: readonly string[], options: ExecOptions): Promise<number> {
  const tty = options.tty && options.stdin && process.stdin.isTTY;
  if (options.tty && !tty) {
    throw new CommandError('-t needs a terminal on standard input, and -i: without one, leave -t out');
  }
  const { transport, namespace } = await connect(options);
  const path = podPath(pod, namespace, 'exec', [
    ['container', options.container],
    ['stdin', options.stdin],
    ['stdout', true],
    ['stderr', !tty],
    ['tty', tty],
    ...words.map((word) => ['command', word] as const),
  ]);
  const fault = (error: unknown): void => void process.stderr.write(`${String(error)}\n`);
  const { socket, protocol } = await explained(dialWebSocket(transport, { path, protocols: PROTOCOLS, system, fault }));
  const spoken = CHANNEL_PROTOCOLS.get(protocol) ?? OLDEST_CHANNELS;
  const channels = new Channels(socket, spoken);
  const restore = tty ? takeTerminal(channels) : () => {};
  if (options.stdin) void sendInput(channels, spoken.canClose);
  try {
    return await exitCode(channels);
  } finally {
    restore();
    process.stdin.destroy();
    transport.close();
  }
}

async function exitCode(channels: Channels): Promise<number> {
  let outcome = '';
  for await (const { channel, bytes = Buffer.alloc(0) } of channels.arrivals()) {
    if (channel === CHANNEL.output) await written(process.stdout, bytes);
    else if (channel === CHANNEL.errors) await written(process.stderr, bytes);
    else if (channel === CHANNEL.outcome) outcome += bytes.toString('utf8');
  }
  if (outcome === '') throw new CommandError('the connection broke before the command ended; it may still run');
  const { status, message, details }: Status = JSON.parse(outcome);
  if (status === 'Success') return 0;
  const code = details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message;
  if (code === undefined) throw new CommandError(message ?? outcome);
  return Number(code);
}

async function sendInput(channels: Channels, canClose: boolean): Promise<void> {
  for await (const bytes of process.stdin) await channels.send(CHANNEL.input, bytes);
  if (canClose) await channels.send(CHANNEL.close, Buffer.of(CHANNEL.input));
}

/** Every key goes to the command, and it knows how large the terminal is. Returns what undoes it. */
function takeTerminal(channels: Channels): () => void {
  const { stdin, stdout } = process;
  const tellSize = (): void => {
    const { columns = 80, rows = 24 } = stdout;
    void channels.send(CHANNEL.size, Buffer.from(JSON.stringify({ Width: columns, Height: rows })));
  };
  stdin.setRawMode(true);
  stdout.on('resize', tellSize);
  tellSize();
  return () => {
    stdin.setRawMode(false);
    stdout.off('resize', tellSize);
  };
}

function written(stream: NodeJS.WriteStream, bytes: Buffer): Promise<void> {
  return stream.write(bytes) ? Promise.resolve() : new Promise((resolve) => stream.once('drain', resolve));
}
