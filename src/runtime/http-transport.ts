import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import { isJsonObject, type JsonObject } from '../api/json.ts';
import type { Clock, System } from './clock.ts';
import { sleep } from './clock.ts';
import { Credentials } from './credentials.ts';
import type { Connection } from './kubeconfig.ts';
import { lines } from './lines.ts';
import { refusal, statusFromText, statusOf } from './refusal.ts';
import { type ApiRequest, type ApiResponse, type Transport, Unreachable } from './transport.ts';
import { warningTexts } from './warning-header.ts';

export interface HttpTransportOptions {
  connection: Connection;
  system: System;
  /** Who asks; servers write the part before the first slash into managedFields. */
  userAgent?: string;
  limits?: Partial<HttpLimits>;
}

export interface HttpLimits {
  /** To reach the server and agree on TLS, in milliseconds. */
  connect: number;
  /** Until the first byte of an answer, and from one to the next. Not within a watch, which is quiet for minutes. */
  answer: number;
  /** How often a request is sent again that the server put off with 429. */
  putOff: number;
}

/** A connection that speaks HTTP no more. */
export interface Upgraded {
  /** Of the answer. */
  readonly headers: http.IncomingHttpHeaders;
  readonly socket: Duplex;
  /** What came after the answer and was read with it. */
  readonly head: Buffer;
}

const USUAL: HttpLimits = { connect: 10_000, answer: 70_000, putOff: 10 };

/** An API server over HTTP/1.1: connections are kept, watches have connections of their own. */
export class HttpTransport implements Transport {
  readonly #server: URL;
  readonly #system: System;
  readonly #limits: HttpLimits;
  readonly #userAgent: string;
  readonly #credentials: Credentials;
  readonly #send: typeof https.request;
  #connection: Connection;
  #agents: { requests: http.Agent; streams: http.Agent };
  readonly #upgraded = new WeakMap<http.IncomingMessage, { socket: Duplex; head: Buffer }>();
  /** Those of certificates that are not shown any more, with what was under way. */
  readonly #retired: http.Agent[] = [];
  #closed = false;

  constructor({ connection, system, userAgent = 'netloom', limits = {} }: HttpTransportOptions) {
    this.#server = new URL(connection.server);
    this.#system = system;
    this.#userAgent = userAgent;
    this.#limits = { ...USUAL, ...limits };
    this.#credentials = new Credentials(connection, system);
    this.#connection = connection;
    this.#send = this.#isSecure ? https.request : http.request;
    this.#agents = this.#newAgents();
  }

  /** Shows another certificate from the next connection on; what is under way goes on as it is. */
  useCertificate(identity: { clientCert: string; clientKey: string }): void {
    this.#connection = { ...this.#connection, ...identity };
    const { requests, streams } = this.#agents;
    this.#retired.push(requests, streams);
    this.#agents = this.#newAgents();
    // Connections with an answer under way end with it, idle ones now.
    requests.maxFreeSockets = 0;
    for (const sockets of Object.values(requests.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }

  get #isSecure(): boolean {
    return this.#server.protocol === 'https:';
  }

  #newAgents(): { requests: http.Agent; streams: http.Agent } {
    const { ca, clientCert, clientKey, serverName, insecure } = this.#connection;
    const options: https.AgentOptions = {
      keepAlive: true,
      ...(ca === undefined ? {} : { ca }),
      ...(clientCert === undefined ? {} : { cert: clientCert }),
      ...(clientKey === undefined ? {} : { key: clientKey }),
      ...(serverName === undefined ? {} : { servername: serverName }),
      rejectUnauthorized: !insecure,
    };
    const agent = (extra: https.AgentOptions): http.Agent =>
      this.#isSecure ? new https.Agent({ ...options, ...extra }) : new http.Agent({ ...options, ...extra });
    return { requests: agent({ maxSockets: 64, scheduling: 'lifo' }), streams: agent({ keepAlive: false }) };
  }

  async request(request: ApiRequest): Promise<ApiResponse> {
    for (let putOff = 0; ; putOff += 1) {
      const answer = await this.#answer(request);
      if (answer.status !== 429 || putOff >= this.#limits.putOff) return answer;
      await this.#waitOut(answer, request.signal);
    }
  }

  async *stream(request: ApiRequest): AsyncGenerator<JsonObject, void, undefined> {
    const message = await this.#openStream(request);
    try {
      for await (const line of lines(message)) yield parsed(line, request);
    } catch (error) {
      if (request.signal?.aborted !== true) throw unreachable(request, error);
    } finally {
      message.destroy();
    }
  }

  /** The body of an answer, as it comes. Rejects as `stream` does. */
  async *bytes(request: ApiRequest): AsyncGenerator<Buffer, void, undefined> {
    const message = await this.#openStream(request);
    try {
      yield* message;
    } catch (error) {
      if (request.signal?.aborted !== true) throw unreachable(request, error);
    } finally {
      message.destroy();
    }
  }

  /**
   * Asks to speak another protocol from then on, on a connection that is the caller's when the server agrees. Rejects with an
   * ApiError when it refuses.
   */
  async upgrade(request: ApiRequest, headers: Readonly<Record<string, string>>): Promise<Upgraded> {
    const message = await this.#exchange(request, this.#agents.streams, headers);
    const upgraded = this.#upgraded.get(message);
    if (upgraded !== undefined) return { ...upgraded, headers: message.headers };
    throw refusal(message.statusCode ?? 0, await this.#body(request, message));
  }

  /**
   * Gives up every connection: what is under way fails as Unreachable, what is asked later has new ones. For whoever knows that
   * the way was interrupted: the kernel sends anew what went nowhere only after about as long again as nothing was heard.
   */
  reconnect(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  /** Ends every connection; whatever is under way or asked later fails as Unreachable. */
  close(): void {
    this.#closed = true;
    for (const agent of [...Object.values(this.#agents), ...this.#retired]) agent.destroy();
  }

  async #openStream(request: ApiRequest): Promise<http.IncomingMessage> {
    for (let putOff = 0; ; putOff += 1) {
      const message = await this.#exchange(request, this.#agents.streams);
      const status = message.statusCode ?? 0;
      if (status === 200) {
        // A peer that vanished without a word is found within a minute, by probes of the kernel.
        message.socket.setKeepAlive(true, 30_000);
        return message;
      }
      const body = await this.#body(request, message);
      if (status !== 429 || putOff >= this.#limits.putOff) throw refusal(status, body);
      await this.#waitOut({ body, retryAfter: message.headers['retry-after'] }, request.signal);
    }
  }

  async #answer(request: ApiRequest): Promise<ApiResponse & { retryAfter: string | undefined }> {
    const message = await this.#exchange(request, this.#agents.requests);
    const body = await this.#body(request, message);
    return {
      status: message.statusCode ?? 0,
      body,
      warnings: warningTexts(message.headersDistinct['warning'] ?? []),
      retryAfter: message.headers['retry-after'],
    };
  }

  /** Up to the head of the answer. */
  async #exchange(
    request: ApiRequest,
    agent: http.Agent,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<http.IncomingMessage> {
    for (let attempt = 1; ; attempt += 1) {
      const token = await this.#credentials.token();
      request.signal?.throwIfAborted();
      if (this.#closed) throw unreachable(request, new Error('the transport is closed'));
      const outcome = await this.#once(request, agent, token, headers);
      if (outcome instanceof http.IncomingMessage) {
        if (outcome.statusCode !== 401 || attempt > 1 || !(await this.#credentials.renewed(token))) return outcome;
        outcome.resume();
        continue;
      }
      request.signal?.throwIfAborted();
      // The server may close an idle connection in the moment in which we reuse it. A read is simply asked again;
      // a write may have been received, which only the caller can find out.
      if (!(outcome.reused && request.method === 'GET' && attempt <= 3)) throw unreachable(request, outcome.error);
    }
  }

  #once(
    request: ApiRequest,
    agent: http.Agent,
    token: string | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<http.IncomingMessage | { error: unknown; reused: boolean }> {
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
    const { clock, limits } = { clock: this.#system, limits: this.#limits };
    return new Promise((resolve) => {
      const outgoing = this.#send({
        agent,
        protocol: this.#server.protocol,
        hostname: this.#server.hostname.replace(/^\[|\]$/g, ''),
        port: this.#server.port,
        method: request.method,
        path: this.#server.pathname.replace(/\/$/, '') + request.path,
        headers: {
          ...headers,
          accept: request.accept ?? 'application/json',
          'user-agent': this.#userAgent,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined
            ? {}
            : { 'content-type': request.contentType ?? 'application/json', 'content-length': body.length }),
        },
        ...(request.signal === undefined ? {} : { signal: request.signal }),
      });
      const limit = (ms: number, what: string) =>
        clock.timer(ms, () => outgoing.destroy(new Error(`${what} took longer than ${ms} ms`)));
      let cancel = limit(limits.connect + limits.answer, 'waiting for a connection');
      const nowWaitFor = (ms: number, what: string): void => {
        cancel();
        cancel = limit(ms, what);
      };
      outgoing.once('socket', (socket) => {
        if (outgoing.reusedSocket || !socket.connecting) return nowWaitFor(limits.answer, 'the answer');
        nowWaitFor(limits.connect, 'connecting');
        socket.once(this.#isSecure ? 'secureConnect' : 'connect', () => nowWaitFor(limits.answer, 'the answer'));
      });
      outgoing.once('response', (message) => {
        cancel();
        resolve(message);
      });
      outgoing.once('upgrade', (message, socket, head) => {
        cancel();
        this.#upgraded.set(message, { socket, head });
        resolve(message);
      });
      outgoing.on('error', (error) => {
        cancel();
        resolve({ error, reused: outgoing.reusedSocket });
      });
      outgoing.end(body);
    });
  }

  async #body(request: ApiRequest, message: http.IncomingMessage): Promise<JsonObject> {
    const text = await this.#read(request, message);
    const status = message.statusCode ?? 0;
    if (status >= 400 && !isJson(message)) return statusFromText(status, text);
    return parsed(text, request);
  }

  async #read(request: ApiRequest, message: http.IncomingMessage): Promise<string> {
    const silence = new Silence(this.#system, this.#limits.answer, () =>
      message.destroy(new Error(`the rest of the answer took longer than ${this.#limits.answer} ms`)),
    );
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of message) {
        silence.broken();
        chunks.push(chunk);
      }
      return Buffer.concat(chunks).toString('utf8');
    } catch (error) {
      request.signal?.throwIfAborted();
      throw unreachable(request, error);
    } finally {
      silence.end();
    }
  }

  async #waitOut(
    { body, retryAfter }: { body: JsonObject; retryAfter: string | undefined },
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const header = Number(retryAfter);
    const asked = header > 0 ? header : (statusOf(body).details?.retryAfterSeconds ?? 0);
    const seconds = Math.min(Math.max(asked, 1), 60);
    await sleep(this.#system, seconds * 1000 * (1 + this.#system.random() / 4), signal);
    signal?.throwIfAborted();
  }
}

/** Rings when nothing was heard for a while. One timer, however many chunks arrive. */
class Silence {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #ring: () => void;
  #last: number;
  #cancel: () => void;

  constructor(clock: Clock, limit: number, ring: () => void) {
    this.#clock = clock;
    this.#limit = limit;
    this.#ring = ring;
    this.#last = clock.uptime();
    this.#cancel = clock.timer(limit, () => this.#look());
  }

  broken(): void {
    this.#last = this.#clock.uptime();
  }

  end(): void {
    this.#cancel();
  }

  #look(): void {
    const left = this.#last + this.#limit - this.#clock.uptime();
    if (left <= 0) this.#ring();
    else this.#cancel = this.#clock.timer(left, () => this.#look());
  }
}

const isJson = (message: http.IncomingMessage): boolean =>
  (message.headers['content-type'] ?? '').startsWith('application/json');

function parsed(text: string, request: ApiRequest): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreachable(request, error);
  }
  if (!isJsonObject(value)) throw unreachable(request, new Error('the answer is not a JSON object'));
  return value;
}

function unreachable(request: ApiRequest, error: unknown): Unreachable {
  if (error instanceof Unreachable) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new Unreachable(`${request.method} ${request.path}: ${why}`, { cause: error });
}
