import type { UserInfo } from '../api/admission.ts';
import type { JsonObject } from '../api/json.ts';
import { ApiError, type Status } from '../api/status.ts';
import { type ApiRequest, type ApiResponse, type Transport, Unreachable } from '../runtime/transport.ts';
import type { Api } from './http/api.ts';
import { type Answer, type Call, isStream } from './http/call.ts';
import { decodedPath } from './http/paths.ts';
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
    return { status: answer.code, body: bodyOf(answer), warnings: answer.warnings ?? [] };
  }

  async *stream(request: ApiRequest): AsyncIterable<JsonObject> {
    const answer = await this.#api.answer(this.#call(request));
    if (!isStream(answer)) throw ApiError.from(bodyOf(answer) as unknown as Status);
    const queue = new FrameQueue(request.signal);
    const stop = await answer.begin(queue);
    try {
      yield* queue.frames();
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
      body: () => Promise.resolve(body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body))),
    };
  }
}

function bodyOf(answer: Answer): JsonObject {
  const text = Buffer.concat(answer.chunks).toString('utf8');
  if (answer.contentType.startsWith('application/json')) return JSON.parse(text);
  // Plain text, as for paths under which nothing is served.
  const reason = answer.code === 404 ? { reason: 'NotFound' } : {};
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: text.trim(), code: answer.code, ...reason };
}

/** The frames of a watch on their way from the engine to whoever iterates over them. */
class FrameQueue implements Sink {
  #frames: Buffer[] = [];
  #isOver = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;
  #drained: (() => void)[] = [];
  backlog = 0;

  constructor(signal: AbortSignal | undefined) {
    if (signal?.aborted) this.end();
    signal?.addEventListener('abort', () => this.end(), { once: true });
  }

  open(): void {}

  send(frame: Buffer): void {
    if (this.#isOver) return;
    this.#frames.push(frame);
    this.backlog += frame.length;
    this.#wake?.();
  }

  drained(): Promise<void> {
    if (this.backlog === 0 || this.#isOver) return Promise.resolve();
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

  async *frames(): AsyncGenerator<JsonObject> {
    for (;;) {
      const frames = this.#frames;
      this.#frames = [];
      this.backlog = 0;
      this.#releaseWaiters();
      for (const frame of frames) yield JSON.parse(frame.toString('utf8'));
      if (this.#frames.length > 0) continue;
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
