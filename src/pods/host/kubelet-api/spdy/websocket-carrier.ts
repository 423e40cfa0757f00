import type { WebSocketConnection } from '../../../../runtime/websocket/connection.ts';
import type { Carrier } from './connection.ts';

/** SPDY inside a WebSocket: the messages together are the bytes, wherever they are cut. */
export const webSocketCarrier = (socket: WebSocketConnection): Carrier => ({
  async *chunks() {
    for await (const { bytes } of socket.data()) yield bytes;
  },
  write: (...parts) => socket.send('binary', ...parts),
  end: () => socket.close(),
  cut: () => socket.cut(),
  fail: socket.fail,
  gone: socket.gone,
});

/** What clients put before the name of the protocol that they speak inside. */
export const TUNNELLED = 'SPDY/3.1+';
