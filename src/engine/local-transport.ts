import type { UserInfo } from '../api/admission.ts';
import { cloneJson, type JsonObject } from '../api/json.ts';
import { ApiError, type Status } from '../api/status.ts';
import { type ApiRequest, type ApiResponse, type Transport, Unreachable } from '../runtime/transport.ts';
import type { Api } from './http/api.ts';
import { type Answer, type Call, isRelay, isStream } from './http/call.ts';
import { decodedPath } from './http/paths.ts';
import { shared } from './objects/encoding.ts';
import type { Sink } from './objects/watch.ts';

/** Reaches the engine without leaving the process: same paths, same answers, no TLS and no sockets. */
export class LocalTransport implements Transport {
  readonly #api: Api;
  readonly #user: UserInfo;
  readonly #userAgent: string;

  constructor(api: Api, options: { user: UserInfo; userAgent: string }) {
    this.#api = api;
    this.#user = options.user;
    this.#userAgent = options.userAgent;
  }

  async request(request: ApiRequest): Promise<ApiResponse> {
    const answer = await this.#api.answer(this.#call(request));
    if (isStream(answer)) throw new Unreachable('a watch was asked for where one answer was expected');
    if (isRelay(answer)) throw new Unreachable('what an agent answers is only handed on over HTTPS');
    return { status: answer.code, body: bodyOf(answer), warnings: answer.warnings ?? [] };
  }

  async *stream(request: ApiRequest): AsyncIterable<JsonObject> {
    const answer = await this.#api.answer(this.#call(request));
    if (isRelay(answer)) throw new Unreachable('what an agent answers is only handed on over HTTPS');
    if (!isStream(answer)) throw ApiError.from(bodyOf(answer) as unknown as Status);
    const queue = new EventQueue(request.signal);
    const stop = await answer.beginObjects(queue);
    try {
      yield* queue.events();
    } finally {
      stop();
    }
  }

  #call({ method, path, body, contentType, accept }: ApiRequest): Call {
    const [raw = '', query = ''] = path.split('?', 2);
    return {
      method,
      path: decodedPath(raw),
      query: new URLSearchParams(query),
      user: this.#user,
      userAgent: this.#userAgent,
      accept,
      contentType: contentType ?? (body === undefined ? undefined : 'application/json'),
      // The engine changes what it is given: the caller's own stays as it is.
      value: () => (body === undefined ? undefined : cloneJson(body)),
      body: () => Promise.resolve(body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body))),
    };
  }
}

function bodyOf(answer: Answer): JsonObject {
  const [only, ...more] = answer.chunks;
  const known = only === undefined || more.length > 0 ? undefined : shared.find(only);
  if (known !== undefined) return known;
  const text = Buffer.concat(answer.chunks).toString('utf8');
  if (answer.contentType.startsWith('application/json')) return JSON.parse(text);
  // Plain text, as for paths under which nothing is served.
  const reason = answer.code === 404 ? { reason: 'NotFound' } : {};
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: text.trim(), code: answer.code, ...reason };
}

/** The events of a watch on their way from the engine to whoever iterates over them. */
class EventQueue implements Sink<JsonObject> {
  #events: JsonObject[] = [];
  #isOver = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;
  #drained: (() => void)[] = [];

  constructor(signal: AbortSignal | undefined) {
    if (signal?.aborted) this.end();
    signal?.addEventListener('abort', () => this.end(), { once: true });
  }

  /** Nobody has counted the bytes; a kilobyte is a fair guess. */
  get backlog(): number {
    return this.#events.length * 1024;
  }

  open(): void {}

  send(event: JsonObject): void {
    if (this.#isOver) return;
    this.#events.push(event);
    this.#wake?.();
  }

  drained(): Promise<void> {
    if (this.#events.length === 0 || this.#isOver) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#drained.push(resolve);
    return promise;
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
    this.#releaseWaiters();
  }

  drop(reason: string): void {
    this.#failure = new Unreachable(reason);
    this.end();
  }

  async *events(): AsyncGenerator<JsonObject> {
    for (;;) {
      const events = this.#events;
      this.#events = [];
      this.#releaseWaiters();
      yield* events;
      if (this.#events.length > 0) continue;
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isOver) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = undefined;
    }
  }

  #releaseWaiters(): void {
    const waiters = this.#drained;
    this.#drained = [];
    for (const waiter of waiters) waiter();
  }
}
