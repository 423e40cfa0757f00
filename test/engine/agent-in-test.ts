import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { JsonObject } from '../../src/api/json.ts';
import { issueServer, type KeyPair } from '../../src/engine/auth/authority.ts';

/** What an agent does with a request, and with one that wants to speak another protocol. */
interface Behaviour {
  answer?(request: IncomingMessage, response: ServerResponse): void;
  upgrade?(request: IncomingMessage, socket: Socket): void;
}

/** An agent as the engine sees it: an HTTPS server whose certificate the engine's authority has signed. */
export class AgentInTest {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Every request, with the name in the certificate of whoever sent it. */
  readonly seen: { path: string; method: string; by: unknown; headers: IncomingMessage['headers'] }[] = [];

  private constructor(pair: KeyPair, authority: string, behaviour: Behaviour) {
    const note = (request: IncomingMessage) => {
      const { url = '', method = '', headers } = request;
      const by = (request.socket as TLSSocket).getPeerCertificate().subject?.['CN'];
      this.seen.push({ path: url, method, by, headers });
    };
    this.#server = createServer(
      { cert: pair.certificate, key: pair.key, ca: authority, requestCert: true, rejectUnauthorized: true },
      (request, response) => {
        note(request);
        behaviour.answer?.(request, response);
      },
    );
    this.#server.on('upgrade', (request, socket) => {
      note(request);
      behaviour.upgrade?.(request, socket as Socket);
    });
    this.#server.on('secureConnection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  /** `directory`: of the engine. `names`: what its certificate is good for. */
  static async start(directory: string, behaviour: Behaviour, names = ['127.0.0.1']): Promise<AgentInTest> {
    const text = await readFile(`${directory}/pki/ca.pem`, 'utf8');
    const at = text.indexOf('-----BEGIN PRIVATE KEY-----');
    const authority = { certificate: text.slice(0, at), key: text.slice(at) };
    const agent = new AgentInTest(await issueServer(authority, names, new Date()), authority.certificate, behaviour);
    const { promise, resolve } = Promise.withResolvers<void>();
    agent.#server.listen(0, '127.0.0.1', resolve);
    await promise;
    return agent;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  /** The Node that says where this agent is. */
  node(name: string): JsonObject {
    const { port } = this.#server.address() as AddressInfo;
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      status: {
        addresses: [
          { type: 'Hostname', address: 'nowhere.invalid' },
          { type: 'InternalIP', address: '127.0.0.1' },
        ],
        daemonEndpoints: { kubeletEndpoint: { Port: port } },
      },
    };
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    await promise;
  }
}
