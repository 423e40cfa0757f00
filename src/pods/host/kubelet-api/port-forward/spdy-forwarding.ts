import type { System } from '../../../../runtime/clock.ts';
import { type Carrier, SpdyConnection } from '../spdy/connection.ts';
import type { SpdyStream } from '../spdy/stream.ts';
import { type ForwardTarget, forward } from './forward.ts';

export const PORT_FORWARD_PROTOCOL = 'portforward.k8s.io';

/**
 * Forwards connections for a client that speaks SPDY: for each it opens two streams, one for what is said and one for what
 * is wrong. Resolves when the client is gone.
 */
export async function forwardOverSpdy(carrier: Carrier, target: ForwardTarget, system: System): Promise<void> {
  const pairs = new Map<string, Pair>();
  const connection = new SpdyConnection(carrier, (stream) => {
    const { request, type, port } = wishOf(stream);
    const pair = pairs.get(request) ?? newPair(request);
    if (pair[type] !== undefined) throw new Error(`request ${request} has a stream of type ${type} already`);
    pair[type] = stream;
    const { data, error } = pair;
    if (data === undefined || error === undefined) return;
    pair.cancel();
    pairs.delete(request);
    serve(data, error, port).catch((failure: unknown) => carrier.fail(failure));
  });
  const newPair = (request: string): Pair => {
    const cancel = system.timer(PATIENCE, () => {
      pairs.delete(request);
      void pair.error?.write(Buffer.from('timed out waiting for the other stream')).then(() => pair.error?.end());
      void pair.data?.reset();
    });
    const pair: Pair = { cancel };
    pairs.set(request, pair);
    return pair;
  };
  const serve = async (data: SpdyStream, error: SpdyStream, port: number) => {
    const client = {
      input: data.input.stream,
      write: (bytes: Buffer) => data.write(bytes),
      end: () => data.end(),
    };
    const failure = await forward(client, target, port);
    if (failure !== undefined) await error.write(Buffer.from(failure));
    await error.end();
    await data.end();
  };
  const { promise, resolve } = Promise.withResolvers<void>();
  if (connection.gone.aborted) resolve();
  connection.gone.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  for (const { cancel } of pairs.values()) cancel();
}

interface Pair {
  data?: SpdyStream;
  error?: SpdyStream;
  readonly cancel: () => void;
}

/** Throws for a stream whose headers do not say what it is for. */
function wishOf({ id, headers }: SpdyStream): { request: string; type: 'data' | 'error'; port: number } {
  const type = headers.get('streamtype');
  if (type !== 'data' && type !== 'error') throw new Error(`"${type}" is no type of stream`);
  const port = Number(headers.get('port'));
  if (!(Number.isInteger(port) && port >= 1 && port <= 65_535)) throw new Error('there is no such port');
  // Old clients do not number their requests, but open the stream for errors first, and the other right after it.
  const request = headers.get('requestid') || `stream ${type === 'error' ? id : id - 2}`;
  return { request, type, port };
}

/** How long a client may take to open the second stream. */
const PATIENCE = 30_000;
