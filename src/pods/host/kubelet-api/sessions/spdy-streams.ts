import type { System } from '../../../../runtime/clock.ts';
import { type Carrier, SpdyConnection } from '../spdy/connection.ts';
import type { SpdyStream } from '../spdy/stream.ts';
import { failureText } from './outcome.ts';
import { SizeReader } from './resize.ts';
import type { ClientStreams, Wanted } from './streams.ts';

export const STREAM_PROTOCOLS = [
  'v4.channel.k8s.io',
  'v3.channel.k8s.io',
  'v2.channel.k8s.io',
  'channel.k8s.io',
] as const;

/** What a client that names no protocol speaks. */
export const OLDEST_STREAMS = 'channel.k8s.io';

export type StreamProtocol = (typeof STREAM_PROTOCOLS)[number];

/** The streams of a client that speaks SPDY, as soon as it has opened all; undefined when it does not in time. */
export async function spdyStreams(
  carrier: Carrier,
  wanted: Wanted,
  protocol: StreamProtocol,
  system: System,
): Promise<ClientStreams | undefined> {
  const hasStatus = protocol === 'v4.channel.k8s.io';
  const canResize = hasStatus || protocol === 'v3.channel.k8s.io';
  const expected = new Set(['error', ...namesOf(wanted), ...(wanted.tty && canResize ? ['resize'] : [])]);
  const streams = new Map<string, SpdyStream>();
  const complete = Promise.withResolvers<boolean>();
  const connection = new SpdyConnection(carrier, (stream) => {
    const type = stream.headers.get('streamtype') ?? '';
    if (!expected.has(type) || streams.has(type)) throw new Error(`no stream of type "${type}" is expected`);
    streams.set(type, stream);
    if (streams.size === expected.size) complete.resolve(true);
  });
  const cancel = system.timer(PATIENCE, () => complete.resolve(false));
  const giveUp = () => complete.resolve(false);
  carrier.gone.addEventListener('abort', giveUp, { once: true });
  const isComplete = await complete.promise;
  cancel();
  carrier.gone.removeEventListener('abort', giveUp);
  if (!isComplete) {
    await connection.close();
    return undefined;
  }
  const output = (stream: SpdyStream | undefined) =>
    stream === undefined ? undefined : (bytes: Buffer) => stream.write(bytes);
  const sizes = new SizeReader();
  streams.get('resize')?.input.stream.on('data', (bytes: Buffer) => sizes.read(bytes));
  return {
    stdin: streams.get('stdin')?.input.stream,
    stdout: output(streams.get('stdout')),
    stderr: output(streams.get('stderr')),
    firstSize: sizes.first,
    onResize: (changed) => sizes.onResize(changed),
    gone: carrier.gone,
    async end(outcome) {
      const text = hasStatus ? JSON.stringify(outcome) : failureText(outcome);
      if (text !== '') await streams.get('error')?.write(Buffer.from(text));
      for (const stream of streams.values()) await stream.end();
      await connection.close();
    },
  };
}

const namesOf = (wanted: Wanted): string[] => (['stdin', 'stdout', 'stderr'] as const).filter((name) => wanted[name]);

/** How long a client may take to open its streams. */
const PATIENCE = 30_000;
