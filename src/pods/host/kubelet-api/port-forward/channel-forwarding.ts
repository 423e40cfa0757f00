import type { Channels } from '../../../../runtime/websocket/channels.ts';
import { Refusal } from '../refusal.ts';
import { Inlet } from '../sessions/inlet.ts';
import { type ForwardTarget, forward } from './forward.ts';

/** The ports that a client names which forwards over channels of a WebSocket. */
export function portsIn(query: URLSearchParams): readonly number[] {
  const ports = query
    .getAll('port')
    .flatMap((text) => text.split(','))
    .map(Number);
  if (ports.length === 0) throw new Refusal(400, 'query parameter "port" is required');
  if (ports.length > MOST_PORTS) throw new Refusal(400, `at most ${MOST_PORTS} ports can be forwarded at once`);
  for (const port of ports) {
    if (!(Number.isInteger(port) && port >= 1 && port <= 65_535)) throw new Refusal(400, 'there is no such port');
  }
  return ports;
}

/** Channels are numbered by a byte, and the last of them has a meaning of its own. */
const MOST_PORTS = 127;

/**
 * Forwards one connection to each port: what is said goes over the channels 0, 2, 4, …, what is wrong over 1, 3, 5, …,
 * and the first that comes over each is the number of its port.
 */
export async function forwardOverChannels(channels: Channels, ports: readonly number[], target: ForwardTarget) {
  const inlets = ports.map(() => new Inlet());
  const receive = async () => {
    for await (const { channel, bytes } of channels.arrivals()) {
      const inlet = channel % 2 === 0 ? inlets[channel / 2] : undefined;
      if (bytes === undefined) inlet?.end();
      else await inlet?.push(bytes);
    }
  };
  const serve = async (port: number, index: number, inlet: Inlet) => {
    const [data, error] = [index * 2, index * 2 + 1];
    const number = Buffer.alloc(2);
    number.writeUInt16LE(port);
    await channels.send(data, number);
    await channels.send(error, number);
    const client = {
      input: inlet.stream,
      write: (bytes: Buffer) => channels.send(data, bytes),
      // A channel cannot be ended alone: when the pod has said all, so has the client.
      end: async () => inlet.shut(),
    };
    const failure = await forward(client, target, port);
    if (failure !== undefined) await channels.send(error, Buffer.from(failure));
  };
  const served = Promise.all(inlets.map((inlet, index) => serve(ports[index] ?? 0, index, inlet)));
  await Promise.race([receive(), served]);
  for (const inlet of inlets) inlet.shut();
  await channels.close();
}
