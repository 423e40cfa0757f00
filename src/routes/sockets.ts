import { createServer, isIPv6, connect as netConnect, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type PeerCertificate, TLSSocket, connect as tlsConnect } from 'node:tls';
import type { Dial, Wire, WireHandler } from './wire.ts';

/** Both sides show a certificate of the same authority, or there is no session. All three are PEM texts. */
export interface TlsFiles {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Reads `HOST:PORT`, `[2001:db8::1]:PORT` or `:PORT`, which means all addresses. */
export function parseEndpoint(text: string): Endpoint {
  const match = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new RangeError(`"${text}" is not an address with a port, like [::1]:4711 or routes.example.com:4711`);
  }
  return { host: match[1] ?? match[2] ?? '', port };
}

export const formatEndpoint = ({ host, port }: Endpoint): string =>
  isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;

/** One attempt after the other to reach a server. */
export function dialer({ host, port }: Endpoint, tls?: TlsFiles): Dial {
  return ({ opened, failed }) => {
    const target = { host: host === '' ? 'localhost' : host, port };
    const socket = tls === undefined ? netConnect(target) : tlsConnect({ ...target, ...tlsOptions(tls) });
    const timer = setTimeout(() => socket.destroy(new Error('no answer')), dialTimeoutMs);
    const stop = (): void => {
      clearTimeout(timer);
      socket.off('error', fail);
      socket.on('error', () => {});
    };
    const fail = (error: Error): void => {
      stop();
      socket.destroy();
      failed(`cannot be reached: ${error.message}`);
    };
    socket.on('error', fail);
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
      stop();
      serveWire(socket, opened);
    });
    return () => {
      stop();
      socket.destroy();
    };
  };
}

/** Hands every connection over; resolves with where it listens when it does. */
export async function listen(
  { host, port }: Endpoint,
  { accept, tls }: { accept: (wire: Wire) => WireHandler; tls?: TlsFiles | undefined },
): Promise<{ endpoint: Endpoint; close(): Promise<void> }> {
  const take = (socket: Socket): void => serveWire(socket, accept);
  const server: Server =
    tls === undefined
      ? createServer(take)
      : createTlsServer({ ...tlsOptions(tls), handshakeTimeout: dialTimeoutMs }, take).on(
          'tlsClientError',
          (_, socket) => {
            socket.destroy();
          },
        );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === '' ? {} : { host }) }, resolve);
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('a TCP server listens on an address with a port');
  return {
    endpoint: { host: address.address, port: address.port },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Also those that are still busy with the greeting of TLS.
        for (const socket of sockets) socket.destroy();
      }),
  };
}

const dialTimeoutMs = 10_000;
const enoughInARow = 65_536;

const tlsOptions = ({ certificate, key, authority }: TlsFiles) => ({
  cert: certificate,
  key,
  ca: authority,
  minVersion: 'TLSv1.3' as const,
  requestCert: true,
  rejectUnauthorized: true,
});

function serveWire(socket: Socket, open: (wire: Wire) => WireHandler): void {
  socket.setNoDelay(true);
  const { remoteAddress = 'unknown', remotePort = 0 } = socket;
  let handler: WireHandler | undefined;
  let reason = 'the peer has closed the connection';
  socket.on('error', (error) => {
    reason = error.message;
  });
  socket.on('close', () => handler?.closed(reason));
  socket.on('drain', () => handler?.ready());
  handler = open({
    // An IPv4 address that came in through an IPv6 socket is an IPv4 address.
    remote: formatEndpoint({ host: remoteAddress.replace(/^::ffff:(?=\d+\.)/, ''), port: remotePort }),
    names: socket instanceof TLSSocket ? namesIn(socket.getPeerCertificate()) : [],
    send: (bytes) => socket.write(bytes),
    close: () => {
      handler = undefined;
      socket.destroy();
    },
  });
  let readInARow = 0;
  socket.on('data', (bytes) => {
    handler?.received(bytes);
    readInARow += bytes.length;
    if (readInARow < enoughInARow) return;
    // Left alone, Node reads up to two megabytes of each socket before it looks at timers and other sockets.
    readInARow = 0;
    socket.pause();
    setImmediate(() => socket.resume());
  });
  socket.on('end', () => socket.destroy());
}

/** The common name, and the names the certificate is also valid for. */
function namesIn({ subject, subjectaltname = '' }: PeerCertificate): string[] {
  // Node quotes names with commas and the like. Nobody needs them, and splitting them could make up a name.
  const others = subjectaltname.includes('"')
    ? []
    : subjectaltname.split(', ').filter((name) => name.startsWith('DNS:'));
  return [...(typeof subject.CN === 'string' ? [subject.CN] : []), ...others.map((name) => name.slice('DNS:'.length))];
}
