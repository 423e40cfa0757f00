import { createServer } from 'node:net';

/** A port that nothing listens on, and that the kernel gives to nobody else for a while. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('a TCP server listens on a port');
  return address.port;
}
