import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { connectToPod } from './pod-socket.ts';

/** Where connections are to lead. */
export interface ForwardTarget {
  readonly pod: string;
  readonly uid: string;
  readonly networkNamespace: string | undefined;
}

/** The client's end of one connection that is forwarded. */
export interface ForwardedConnection {
  /** Destroyed before its end when the client has broken off. */
  readonly input: Readable;
  write(bytes: Buffer): Promise<void>;
  /** The pod says no more. */
  end(): Promise<void>;
}

/** Joins a client with a port of a pod until both have said all. Resolves with why it could not be, if it could not. */
export async function forward(
  client: ForwardedConnection,
  { pod, uid, networkNamespace }: ForwardTarget,
  port: number,
): Promise<string | undefined> {
  let socket: Socket;
  try {
    socket = await connectToPod(networkNamespace, port);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `error forwarding port ${port} to pod ${pod}, uid ${uid}: failed to connect to localhost:${port} in the pod: ${why}`;
  }
  // That one side has broken off is no fault of the way between them; the end of the connection tells it.
  socket.on('error', () => {});
  socket.on('close', () => client.input.destroy());
  client.input.on('close', () => client.input.readableEnded || socket.destroy());
  if (client.input.destroyed) socket.destroy();
  client.input.pipe(socket);
  try {
    for await (const bytes of socket.iterator({ destroyOnReturn: false })) await client.write(bytes);
  } catch {
    socket.destroy();
  }
  await client.end();
  if (!socket.closed) await once(socket, 'close');
  return undefined;
}
