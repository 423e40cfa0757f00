import type { ChannelProtocol, Channels } from '../../../../runtime/websocket/channels.ts';
import { Inlet } from './inlet.ts';
import { failureText } from './outcome.ts';
import { SizeReader } from './resize.ts';
import type { ClientStreams, Output, Wanted } from './streams.ts';

const [STDIN, STDOUT, STDERR, ERROR, RESIZE] = [0, 1, 2, 3, 4];

/** The streams of a client that speaks over a WebSocket. */
export function channelStreams(channels: Channels, wanted: Wanted, { hasStatus }: ChannelProtocol): ClientStreams {
  const stdin = new Inlet();
  const sizes = new SizeReader();
  const output =
    (channel: number): Output =>
    (bytes) =>
      channels.send(channel, bytes);
  if (!wanted.stdin) stdin.shut();
  receive(channels, stdin, sizes).catch(channels.fail);
  // Some clients wait for a first message before they believe that somebody is there.
  if (wanted.stdout || wanted.stderr) void channels.send(wanted.stdout ? STDOUT : STDERR, Buffer.alloc(0));
  return {
    stdin: wanted.stdin ? stdin.stream : undefined,
    stdout: wanted.stdout ? output(STDOUT) : undefined,
    stderr: wanted.stderr ? output(STDERR) : undefined,
    firstSize: sizes.first,
    onResize: (changed) => sizes.onResize(changed),
    gone: channels.gone,
    async end(outcome) {
      stdin.shut();
      const text = hasStatus ? JSON.stringify(outcome) : failureText(outcome);
      if (text !== '') await channels.send(ERROR, Buffer.from(text));
      await channels.close();
    },
  };
}

async function receive(channels: Channels, stdin: Inlet, sizes: SizeReader): Promise<void> {
  for await (const { channel, bytes } of channels.arrivals()) {
    if (channel === STDIN && bytes === undefined) stdin.end();
    else if (channel === STDIN && bytes !== undefined) await stdin.push(bytes);
    else if (channel === RESIZE && bytes !== undefined) sizes.read(bytes);
  }
}
