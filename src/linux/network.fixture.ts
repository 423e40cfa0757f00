import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { createNetworkNamespace, inNetworkNamespace, removeNetworkNamespace } from './network-namespace.ts';

export const needsRoot = { skip: process.getuid?.() === 0 ? false : 'needs root' };

/** Different in every test process, so that tests run beside each other. */
export const uniqueName = (): string => `t${randomBytes(4).toString('hex')}`;

/** A namespace that is gone after the test. */
export function temporaryNamespace(t: TestContext, name = `netloom-test-${uniqueName()}`): string {
  t.after(() => removeNetworkNamespace(name));
  return createNetworkNamespace(name);
}

/** Listens on all addresses of a namespace, and says to everybody from where they come. */
export async function greetIn(t: TestContext, namespace: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(`${socket.remoteAddress}`.replace('::ffff:', ''));
  });
  // Without a host, the socket is made before listen() returns.
  inNetworkNamespace(namespace, () => server.listen(0));
  t.after(() => server.close());
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the server has no port');
  return bound.port;
}

/** What the greeter says to somebody in this namespace; rejects with the reason when it is not reached. */
export async function askFrom(namespace: string, address: string, port: number): Promise<string> {
  const child = inNetworkNamespace(namespace, () =>
    spawn('timeout', ['5', 'bash', '-c', `exec 3<>/dev/tcp/${address}/${port} && cat <&3`]),
  );
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [said, complaint, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(complaint || `nobody answered (${code})`);
  return said;
}
