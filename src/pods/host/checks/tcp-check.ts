import net from 'node:net';
import { dialText } from './dial-text.ts';
import { failed, type Outcome, passed } from './outcome.ts';

/** Whether somebody accepts connections. */
export function checkByTcp(host: string, port: number, giveUp: AbortSignal): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const socket = net.connect({ host, port, signal: giveUp });
  socket.on('connect', () => {
    resolve(passed());
    socket.destroy();
  });
  socket.on('error', (error) => {
    if (giveUp.aborted) reject(error);
    else resolve(failed(dialText(host, port, error)));
  });
  return promise;
}
