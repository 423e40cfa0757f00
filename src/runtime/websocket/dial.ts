import { createHash } from 'node:crypto';
import type { System } from '../clock.ts';
import type { HttpTransport } from '../http-transport.ts';
import { Unreachable } from '../transport.ts';
import { WebSocketConnection } from './connection.ts';
import { Wire } from './wire.ts';

/** What a client says to begin a WebSocket, and what the server says to that. */
export const acceptOf = (key: string): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');

export interface Dialling {
  readonly path: string;
  readonly protocols: readonly string[];
  readonly system: System;
  /** Told what goes wrong later for a reason that is ours. */
  readonly fault: (error: unknown) => void;
}

/** Begins a WebSocket at a path of an API server, in one of these protocols. Rejects with an ApiError when it is refused. */
export async function dialWebSocket(
  transport: HttpTransport,
  { path, protocols, system, fault }: Dialling,
): Promise<{ socket: WebSocketConnection; protocol: string }> {
  const key = Buffer.from(Array.from({ length: 16 }, () => Math.floor(system.random() * 256))).toString('base64');
  const { headers, socket, head } = await transport.upgrade(
    { method: 'GET', path },
    {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': key,
      'sec-websocket-protocol': protocols.join(', '),
    },
  );
  const protocol = headers['sec-websocket-protocol'] ?? '';
  if (headers['sec-websocket-accept'] !== acceptOf(key) || !protocols.includes(protocol)) {
    socket.destroy();
    throw new Unreachable(`what answers at ${path} speaks none of ${protocols.join(', ')}, but "${protocol}"`);
  }
  const wire = new Wire(socket, head, system, fault);
  return { socket: new WebSocketConnection(wire, 'client', system), protocol };
}
