import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { System } from '../../../runtime/clock.ts';
import { asError, type Log } from '../../../runtime/log.ts';
import type { PodDirectory } from '../pod-directory.ts';
import type { ContainerRuntime } from '../runtime.ts';
import { type Caller, callerOf, isApiServer } from './callers.ts';
import { answerLogs } from './logs/answer-logs.ts';
import { Refusal } from './refusal.ts';
import { serveTunnel } from './serve-tunnel.ts';
import { isTunnelPath, type Target, targetOf } from './target.ts';

export interface KubeletApiOptions {
  readonly directory: PodDirectory;
  readonly runtime: Pick<ContainerRuntime, 'exec' | 'attach' | 'watch'>;
  readonly address: string;
  /** 0 takes any port that is free. */
  readonly port: number;
  /** What it shows, and the authority of those whom it knows: asked for at the start, and by `useCertificates`. */
  readonly certificates: () => Certificates;
  /** The API server may everything, and nobody else anything, when it is left out. */
  readonly mayUse?: (caller: Caller, method: string, path: string) => boolean | Promise<boolean>;
  /** What else is served, by its path. */
  readonly routes?: Readonly<Record<string, () => Page | Promise<Page>>>;
  readonly log: Log;
  readonly system: System;
}

/** All three as PEM. */
export interface Certificates {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

export interface Page {
  readonly contentType: string;
  readonly body: string;
}

/**
 * What a kubelet serves to the API server, and through it to people: the output of containers, commands in them, and
 * connections into pods. Who may do which of that, the API server has decided before it asks.
 */
export class KubeletApi {
  readonly #options: KubeletApiOptions;
  readonly #server: Server;
  readonly #connections = new Set<Socket>();

  private constructor(options: KubeletApiOptions) {
    this.#options = options;
    this.#server = createServer(
      {
        ...credentials(options.certificates()),
        requestCert: true,
        // Who is unknown is told so in words, not by a handshake that fails.
        rejectUnauthorized: false,
        minVersion: 'TLSv1.2',
        shouldUpgradeCallback: ({ url = '' }) => isTunnelPath(pathOf(url)),
        keepAlive: true,
        keepAliveInitialDelay: 30_000,
        noDelay: true,
        headersTimeout: 20_000,
        requestTimeout: 120_000,
      },
      (request, response) => void this.#answer(request, response),
    );
    this.#server.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head));
    this.#server.on('secureConnection', (socket) => {
      this.#connections.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => this.#connections.delete(socket));
    });
    this.#server.on('tlsClientError', () => {});
    this.#server.on('clientError', (_error, socket) => socket.destroy());
  }

  static async start(options: KubeletApiOptions): Promise<KubeletApi> {
    const api = new KubeletApi(options);
    api.#server.listen(options.port, options.address);
    await once(api.#server, 'listening');
    return api;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Shows newer certificates from the next connection on. */
  useCertificates(): void {
    this.#server.setSecureContext({ ...credentials(this.#options.certificates()), minVersion: 'TLSv1.2' });
  }

  /** Cuts whatever is under way: containers go on, commands that were run in them end. */
  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#connections) socket.destroy();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.on('error', () => {});
    response.on('error', () => {});
    // Nothing that is answered so has a body that counts.
    request.resume();
    try {
      const { target, query } = await this.#admit(request);
      if (target.kind === 'logs') await answerLogs(target, query, response, this.#options);
      else if (target.kind === 'page') await this.#page(target.path, response);
      else throw new Refusal(400, 'Upgrade request required');
    } catch (error) {
      if (response.headersSent) response.destroy();
      else answerText(response, this.#refusal(error, request));
    }
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => {});
    try {
      const { target, query } = await this.#admit(request);
      if (socket.destroyed) return;
      const fault = (error: unknown) => void this.#refusal(error, request);
      serveTunnel(target, query, { request, socket, head, fault }, this.#options);
    } catch (error) {
      const { code, message } = this.#refusal(error, request);
      socket.end(
        `HTTP/1.1 ${code} Refused\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(message)}\r\n\r\n${message}`,
      );
    }
  }

  async #admit(request: IncomingMessage): Promise<{ target: Target; query: URLSearchParams }> {
    const { url = '/', method = 'GET' } = request;
    const path = pathOf(url);
    const { system, mayUse = isApiServer } = this.#options;
    const { user, groups } = callerOf(request.socket as TLSSocket, system.now());
    if (!(await mayUse({ user, groups }, method, path))) {
      throw new Refusal(
        403,
        `Forbidden (user=${user}, verb=${method.toLowerCase()}, resource=nodes, subresource(s)=[proxy])`,
      );
    }
    return { target: targetOf(path), query: new URLSearchParams(url.slice(path.length + 1)) };
  }

  async #page(path: string, response: ServerResponse): Promise<void> {
    const page =
      path === '/healthz' ? { contentType: 'text/plain', body: 'ok' } : await this.#options.routes?.[path]?.();
    if (page === undefined) throw new Refusal(404, '404 page not found');
    response.writeHead(200, { 'Content-Type': page.contentType, 'Content-Length': Buffer.byteLength(page.body) });
    response.end(page.body);
  }

  #refusal(error: unknown, { url }: IncomingMessage): Refusal {
    if (error instanceof Refusal) return error;
    this.#options.log.error('a request to the agent failed for a reason that is ours', {
      path: pathOf(url ?? ''),
      error: asError(error),
    });
    return new Refusal(500, asError(error).message);
  }
}

const credentials = ({ certificate, key, authority }: Certificates) => ({ cert: certificate, key, ca: authority });

const pathOf = (url: string): string => url.split('?', 1)[0] ?? '';

function answerText(response: ServerResponse, { code, message }: Refusal): void {
  response.writeHead(code, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(message),
  });
  response.end(message);
}
