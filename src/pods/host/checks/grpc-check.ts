import http2 from 'node:http2';
import { dialText } from './dial-text.ts';
import { failed, LONGEST_OUTPUT, type Outcome, passed } from './outcome.ts';

const SERVING = 1;
const NAMES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

/** Asks `grpc.health.v1.Health/Check`, whose request and answer have one field each. */
export function checkByGrpc(host: string, port: number, service: string, giveUp: AbortSignal): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const session = http2.connect(`http://${host.includes(':') ? `[${host}]` : host}:${port}`);
  const end = (outcome: Outcome): void => {
    resolve(outcome);
    session.destroy();
  };
  const abort = (): void => {
    reject(giveUp.reason);
    session.destroy();
  };
  if (giveUp.aborted) abort();
  giveUp.addEventListener('abort', abort, { once: true });
  session.on('close', () => giveUp.removeEventListener('abort', abort));
  session.on('error', (error) => end(failed(dialText(host, port, error))));
  const stream = session.request({
    ':method': 'POST',
    ':path': '/grpc.health.v1.Health/Check',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  const chunks: Buffer[] = [];
  let length = 0;
  let status: string | undefined;
  const note = (headers: http2.IncomingHttpHeaders): void => {
    status = String(headers['grpc-status'] ?? status ?? '');
  };
  stream.on('response', note);
  stream.on('trailers', note);
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > LONGEST_OUTPUT) end(failed(`the service answered with more than ${LONGEST_OUTPUT} bytes`));
  });
  // Where there is no connection, the stream learns of it first, and has the reason as its cause.
  stream.on('error', (error) => end(failed(dialText(host, port, error.cause ?? error))));
  stream.on('end', () => end(outcomeOf(status, Buffer.concat(chunks), service)));
  stream.end(framed(service));
  return promise;
}

/** Not compressed, with its length before it; the name of the service is field 1. */
function framed(service: string): Buffer {
  const name = Buffer.from(service);
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, ...varint(name.length)]), name]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

const varint = (value: number): number[] => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >> 7)]);

function outcomeOf(status: string | undefined, frame: Buffer, service: string): Outcome {
  if (status !== '0' && status !== '' && status !== undefined) {
    return failed(`the service answered with gRPC status ${status}`);
  }
  // Field 1 of the answer; left out, it is 0.
  const health = frame[5] === 0x08 ? (frame[6] ?? 0) : 0;
  return health === SERVING
    ? passed('service healthy')
    : failed(`service unhealthy (${service === '' ? '' : `${service}: `}responded with "${NAMES[health] ?? health}")`);
}
