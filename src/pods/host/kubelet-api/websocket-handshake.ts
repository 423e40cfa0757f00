import type { IncomingMessage } from 'node:http';
import { acceptOf } from '../../../runtime/websocket/dial.ts';
import { Refusal } from './refusal.ts';

export const isWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket';

/** The first that the client would like of those that we speak; undefined when it names none. */
export function agreedProtocol<Protocol extends string>(
  { headers }: IncomingMessage,
  ours: readonly Protocol[],
): Protocol | undefined {
  const theirs = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const wanted = theirs.filter((name) => name !== '');
  const agreed = wanted.map((name) => ours.find((own) => own === name)).find((own) => own !== undefined);
  if (agreed === undefined && wanted.length > 0) {
    throw new Refusal(400, `none of the protocols ${wanted.join(', ')} is spoken here, but ${ours.join(', ')}`);
  }
  return agreed;
}

/** The answer by which a WebSocket begins. */
export function agreement({ headers, method }: IncomingMessage, protocol: string | undefined): string {
  const key = headers['sec-websocket-key'] ?? '';
  if (method !== 'GET') throw new Refusal(405, 'a WebSocket begins with GET');
  if (headers['sec-websocket-version'] !== '13') throw new Refusal(426, 'only version 13 of WebSocket is spoken here');
  if (Buffer.from(key, 'base64').length !== 16) throw new Refusal(400, 'Sec-WebSocket-Key must be 16 bytes in base64');
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${acceptOf(key)}`,
    ...(protocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
