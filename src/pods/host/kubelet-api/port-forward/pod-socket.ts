import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { inNetworkNamespace } from '../../../../linux/network-namespace.ts';

/** Connects to a port that something in the pod listens on, at the pod's own loopback addresses. */
export async function connectToPod(networkNamespace: string | undefined, port: number): Promise<Socket> {
  try {
    return await connected(networkNamespace, port, '127.0.0.1');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED')) throw error;
    // Something may listen at the address of the newer kind alone; where there is none, the first reason counts.
    return await connected(networkNamespace, port, '::1').catch(() => {
      throw error;
    });
  }
}

async function connected(networkNamespace: string | undefined, port: number, address: string): Promise<Socket> {
  const begin = () => beginConnecting(port, address);
  const socket = networkNamespace === undefined ? begin() : inNetworkNamespace(networkNamespace, begin);
  await once(socket, 'connect');
  return socket;
}

/**
 * A socket belongs to the namespace in which it is made. For a plain address, Node.js makes it a moment later; for a
 * name, as soon as the address is found, which here is at once.
 */
function beginConnecting(port: number, address: string): Socket {
  const family = address.includes(':') ? 6 : 4;
  return connect({
    host: 'localhost',
    port,
    lookup: (_host, _options, found) => found(null, address, family),
    autoSelectFamily: false,
    allowHalfOpen: true,
    noDelay: true,
  });
}
