import { type IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, isIPv6, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { UserInfo } from '../../api/admission.ts';
import { type ApiError, badRequest, tooLarge, unauthorized } from '../../api/status.ts';
import type { Log } from '../../runtime/log.ts';
import { type ShownIdentity, shownIdentity, showsCertificate } from '../../runtime/shown-identity.ts';
import type { Access } from '../auth/access.ts';
import type { KeyPair } from '../auth/authority.ts';
import type { Identities } from '../auth/identity.ts';
import type { Sink } from '../objects/watch.ts';
import { AgentRelay } from './agent-relay.ts';
import type { Api } from './api.ts';
import { LARGEST_BODY } from './body.ts';
import { type Answer, type Call, isRelay, isStream, type Relay, type Stream } from './call.ts';
import { impersonated } from './impersonation.ts';
import type { Metrics } from './metrics.ts';
import { decodedPath, isTunnelPath } from './paths.ts';
import { warningHeaders } from './warnings.ts';

export interface HttpServerOptions {
  readonly api: Api;
  readonly identities: Identities;
  readonly access: Access;
  readonly metrics: Metrics;
  readonly authority: KeyPair;
  readonly server: KeyPair;
  /** As whom the engine shows itself to agents. */
  readonly kubeletClient: KeyPair;
  readonly host: string;
  readonly port: number;
  readonly log: Log;
}

/** The engine's HTTPS side: turns requests into calls, and answers into bytes that clients take at their own pace. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Whose certificate a connection showed; undefined for none that counts. */
  readonly #certificates = new WeakMap<Socket, ShownIdentity | undefined>();
  readonly #agents: AgentRelay;
  /** How to end each watch and tunnel that is open. */
  readonly #streams = new Set<() => void>();

  private constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#agents = new AgentRelay(options.authority, options.kubeletClient);
    this.#server = createServer(
      {
        // Anything else that asks to speak another protocol is answered in this one.
        shouldUpgradeCallback: ({ url = '' }) => isTunnelPath(decodedPath(url.split('?', 1)[0] ?? '')),
        cert: options.server.certificate,
        key: options.server.key,
        ca: options.authority.certificate,
        requestCert: true,
        // Most people come with a token; who comes with a certificate of somebody else is nobody.
        rejectUnauthorized: false,
        minVersion: 'TLSv1.2',
        keepAlive: true,
        keepAliveInitialDelay: 30_000,
        noDelay: true,
        // A client that sends its request drop by drop is cut off; watches only ever send their head.
        headersTimeout: 20_000,
        requestTimeout: 120_000,
        keepAliveTimeout: 120_000,
        maxHeaderSize: 64 * 1024,
      },
      (request, response) => void this.#serve(request, response),
    );
    this.#server.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head));
    this.#server.on('secureConnection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    // Handshakes that fail (port scans, plain HTTP, foreign authorities) are the client's affair.
    this.#server.on('tlsClientError', () => {});
    this.#server.on('clientError', (_error, socket) => socket.destroy());
  }

  static async listen(options: HttpServerOptions): Promise<HttpServer> {
    const http = new HttpServer(options);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    http.#server.once('error', reject);
    http.#server.listen({ host: options.host, port: options.port, backlog: 1024 }, resolve);
    await promise;
    http.#server.off('error', reject);
    return http;
  }

  get url(): string {
    const { address, port } = this.#server.address() as AddressInfo;
    // Who listens everywhere is reached best where it cannot be cut off.
    const host = address === '::' || address === '0.0.0.0' ? '127.0.0.1' : address;
    return `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  }

  /** Shows other certificates from the next connections on. */
  useCertificates({ server: { certificate, key }, kubeletClient }: { server: KeyPair; kubeletClient: KeyPair }): void {
    this.#server.setSecureContext({ cert: certificate, key, ca: this.#options.authority.certificate });
    this.#agents.useIdentity(kubeletClient);
  }

  /** Takes no more requests and lets those under way finish; watches and idle connections are cut. */
  async close(graceMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeIdleConnections();
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, graceMs);
    for (const stop of this.#streams) stop();
    await promise;
    clearTimeout(timer);
    this.#agents.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client that goes in the middle of anything is no fault of ours.
    request.on('error', () => {});
    response.on('error', () => {});
    const call = callOf(request);
    const answer = await this.#answer(request, call);
    if (response.destroyed) return;
    if (isStream(answer)) await this.#stream(answer, call, response);
    else if (isRelay(answer)) await this.#relay(answer, request, call, response);
    else await send(answer, request, response);
  }

  async #answer(request: IncomingMessage, call: Call): Promise<Answer | Stream | Relay> {
    const { api, access } = this.#options;
    try {
      const user = impersonated(access, this.#userOf(request), request.headersDistinct);
      return await api.answer({ ...call, user });
    } catch (error) {
      return api.failure(error, call);
    }
  }

  async #relay({ agent }: Relay, request: IncomingMessage, call: Call, response: ServerResponse): Promise<void> {
    const cut = () => void response.destroy();
    this.#streams.add(cut);
    response.once('close', () => this.#streams.delete(cut));
    try {
      await this.#agents.answer(agent, request, response);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else await send(this.#options.api.failure(error, call), request, response);
    }
  }

  /** A client that wants to speak another protocol, which only agents do. */
  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => {});
    const call = callOf(request);
    let answer = await this.#answer(request, call);
    if (isRelay(answer)) {
      try {
        const cut = await this.#agents.tunnel(answer.agent, request, socket, head);
        this.#streams.add(cut);
        socket.once('close', () => this.#streams.delete(cut));
        return;
      } catch (error) {
        answer = this.#options.api.failure(error, call);
      }
    }
    if (socket.destroyed || isStream(answer)) {
      socket.destroy();
      return;
    }
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Socket);
    response.once('finish', () => socket.end());
    await send(answer, request, response);
  }

  #userOf({ headers: { authorization }, socket }: IncomingMessage): UserInfo {
    // Reading a certificate takes longer than anything else about a request: once for each connection is enough.
    if (!this.#certificates.has(socket)) this.#certificates.set(socket, shownIdentity(socket as TLSSocket));
    const certificate = this.#certificates.get(socket);
    if (authorization === undefined) {
      // Who wants to be somebody is not taken for nobody.
      const isBad = certificate === undefined ? showsCertificate(socket as TLSSocket) : certificate.until < Date.now();
      if (isBad) throw unauthorized();
    }
    return this.#options.identities.identify({ authorization, certificate });
  }

  async #stream(stream: Stream, call: Call, response: ServerResponse): Promise<void> {
    const { metrics, api, log } = this.#options;
    const sink: Sink<Buffer> = {
      open() {
        response.writeHead(200, {
          'Content-Type': stream.contentType,
          'Cache-Control': 'no-cache, private',
          ...warningHeaders(stream.warnings ?? []),
        });
        response.flushHeaders();
      },
      send: (frame) => void response.write(frame),
      get backlog() {
        return response.writableLength;
      },
      drained: () => drained(response),
      end: () => void response.end(),
      drop: (reason) => {
        metrics.clientDropped();
        log.warn('dropped a watcher', { path: call.path, reason });
        response.destroy();
      },
    };
    metrics.watchBegan();
    let stop = () => {};
    const cut = () => {
      stop();
      response.end();
    };
    this.#streams.add(cut);
    response.once('close', () => {
      metrics.watchEnded();
      stop();
      this.#streams.delete(cut);
    });
    try {
      stop = await stream.begin(sink);
      if (response.destroyed || response.writableEnded) stop();
    } catch (error) {
      if (response.headersSent) response.destroy();
      else await send(api.failure(error, call), undefined, response);
    }
  }
}

function callOf(request: IncomingMessage): Omit<Call, 'user'> & { user: Call['user'] } {
  const url = request.url ?? '/';
  const at = url.indexOf('?');
  const raw = at < 0 ? url : url.slice(0, at);
  return {
    method: request.method ?? 'GET',
    path: decodedPath(raw),
    query: new URLSearchParams(at < 0 ? '' : url.slice(at + 1)),
    user: { username: '', groups: [] },
    accept: request.headers.accept,
    contentType: request.headers['content-type'],
    userAgent: request.headers['user-agent'],
    ifNoneMatch: request.headers['if-none-match'],
    body: () => bodyOf(request),
  };
}

function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const refuse = (error: ApiError) => {
    // What still comes is thrown away, so that the refusal gets through.
    request.removeAllListeners('data');
    request.resume();
    reject(error);
  };
  const tooMuch = () => refuse(tooLarge(`Request entity too large: limit is ${LARGEST_BODY}`));
  if (Number(request.headers['content-length'] ?? 0) > LARGEST_BODY) {
    tooMuch();
    return promise;
  }
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    chunks.push(chunk);
    if (size > LARGEST_BODY) tooMuch();
  });
  request.once('end', () =>
    resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size)),
  );
  request.once('close', () => {
    if (!request.complete) reject(badRequest('the body of the request broke off'));
  });
  return promise;
}

const compress = promisify(gzip);
/** Below this, compressing costs more than it saves. */
const WORTH_COMPRESSING = 128 * 1024;

async function send(answer: Answer, request: IncomingMessage | undefined, response: ServerResponse): Promise<void> {
  let chunks = answer.chunks;
  let size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const headers: Record<string, string | number | string[]> = {
    'Content-Type': answer.contentType,
    'Cache-Control': 'no-cache, private',
    ...answer.headers,
    ...warningHeaders(answer.warnings ?? []),
  };
  if (size > WORTH_COMPRESSING && /\bgzip\b/.test(String(request?.headers['accept-encoding'] ?? ''))) {
    const packed = await compress(Buffer.concat(chunks, size), { level: constants.Z_BEST_SPEED });
    chunks = [packed];
    size = packed.length;
    headers['Content-Encoding'] = 'gzip';
    headers['Vary'] = 'Accept-Encoding';
  }
  if (answer.code !== 304) headers['Content-Length'] = size;
  response.writeHead(answer.code, headers);
  if (request?.method === 'HEAD') {
    response.end();
    return;
  }
  for (const piece of pieces(chunks)) {
    if (response.destroyed) return;
    if (!response.write(piece)) await drained(response);
  }
  response.end();
}

/** Joins small chunks into pieces of a sensible size: a write for every comma of a list would be slow. */
function* pieces(chunks: readonly Buffer[]): Generator<Buffer> {
  let waiting: Buffer[] = [];
  let size = 0;
  for (const chunk of chunks) {
    waiting.push(chunk);
    size += chunk.length;
    if (size < 256 * 1024) continue;
    yield Buffer.concat(waiting, size);
    waiting = [];
    size = 0;
  }
  const [only] = waiting;
  if (only !== undefined) yield waiting.length === 1 ? only : Buffer.concat(waiting, size);
}

function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed || !response.writableNeedDrain) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = () => {
    response.off('drain', done);
    response.off('close', done);
    resolve();
  };
  response.on('drain', done);
  response.on('close', done);
  return promise;
}
