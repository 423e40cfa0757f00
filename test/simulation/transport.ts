import type { JsonObject } from '../../src/api/json.ts';
import { ApiError } from '../../src/api/status.ts';
import { type System, sleep } from '../../src/runtime/clock.ts';
import { refusal } from '../../src/runtime/refusal.ts';
import { type ApiRequest, type ApiResponse, type Transport, Unreachable } from '../../src/runtime/transport.ts';
import type { SimulatedApi } from './api.ts';
import { asSent } from './as-sent.ts';
import { type Faults, happens, within } from './faults.ts';
import type { Stream } from './stream.ts';

export interface SimulatedTransportOptions {
  api: SimulatedApi;
  system: System;
  faults: Faults;
  /** Who speaks, for those who read what happened. */
  name: string;
}

const REFUSALS = [
  [429, 'TooManyRequests'],
  [500, 'InternalError'],
  [503, 'ServiceUnavailable'],
] as const;

/** The network between one client and the simulated server. */
export class SimulatedTransport implements Transport {
  readonly #api: SimulatedApi;
  readonly #system: System;
  readonly #name: string;
  readonly #streams = new Set<Stream>();
  /** May be changed while the simulation runs. */
  faults: Faults;
  /** One for each: whoever waits for it would be kept for as long as it is. */
  readonly #never = new Promise<never>(() => {});
  #cut = false;
  #dead = false;
  #outages = 0;
  #fate: { writesBefore: number; died: () => void } | undefined;

  constructor({ api, system, faults, name }: SimulatedTransportOptions) {
    this.#api = api;
    this.#system = system;
    this.#name = name;
    this.faults = faults;
  }

  /** Nothing gets through any more, in either direction; nobody is told. */
  cut(): void {
    this.#cut = true;
    this.#outages += 1;
  }

  /** The network is whole again; what was open before stays dead. */
  mend(): void {
    this.#cut = false;
    for (const stream of this.#streams) stream.break(new Unreachable('the connection was lost'));
  }

  /** Whoever speaks is no more. What was sent before still arrives; no answer reaches anybody, and nothing more is said. */
  kill(): void {
    this.#dead = true;
    for (const stream of this.#streams) stream.close();
  }

  /** Whoever speaks dies with a write under way, after so many others. `died` is told of it. */
  killAtWrite(writesBefore: number, died: () => void): void {
    this.#fate = { writesBefore, died };
  }

  spare(): void {
    this.#fate = undefined;
  }

  request({ signal, ...request }: ApiRequest): Promise<ApiResponse> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    // Who gives up waiting does not call back a write that is on its way.
    const follow = request.method === 'GET' ? signal : undefined;
    if (this.#dead) return orAborted(this.#never, signal);
    const answer = orAborted(this.#exchange(request, follow), signal);
    if (request.method !== 'GET') this.#countWrite();
    return answer;
  }

  async *stream(request: ApiRequest): AsyncGenerator<JsonObject, void, undefined> {
    const { signal } = request;
    if (this.#dead) await orAborted(this.#never, signal).catch(() => {});
    const outages = this.#outages + this.#api.outages;
    try {
      await this.#travel(signal);
      this.#mayFail(request, this.faults.lostRequest, outages);
    } catch (error) {
      if (signal?.aborted === true) return;
      throw error;
    }
    const refused = this.#refused();
    if (refused !== undefined) throw refusal(refused.status, refused.body);
    if (this.#dead) return;
    const { stream } = this.#api.watch(request, () => this.faults);
    const close = (): void => stream.close();
    signal?.addEventListener('abort', close);
    this.#streams.add(stream);
    try {
      for await (const line of stream) {
        // What arrives while the network is cut does not arrive.
        if (!this.#cut) yield line;
      }
    } finally {
      this.#streams.delete(stream);
      signal?.removeEventListener('abort', close);
    }
  }

  async #exchange({ body, ...request }: ApiRequest, signal: AbortSignal | undefined): Promise<ApiResponse> {
    const sent = body === undefined ? request : { ...request, body: asSent(body as object) };
    const outages = this.#outages + this.#api.outages;
    await this.#travel(signal);
    if (happens(this.#system, this.faults.lateRequest))
      await sleep(this.#system, this.#system.random() * LATEST, signal);
    this.#mayFail(request, this.faults.lostRequest, outages);
    const answer = this.#refused() ?? (await this.#api.answer(sent, this.#name));
    await this.#travel(signal);
    if (this.#dead) return this.#never;
    this.#mayFail(request, this.faults.lostAnswer, outages);
    return this.#doubted(request) ?? answer;
  }

  #countWrite(): void {
    if (this.#fate === undefined) return;
    const { writesBefore, died } = this.#fate;
    if (writesBefore > 0) {
      this.#fate = { writesBefore: writesBefore - 1, died };
      return;
    }
    this.#fate = undefined;
    this.kill();
    died();
  }

  async #travel(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const delay = within(this.#system, this.faults.delay);
    if (delay > 0) await sleep(this.#system, delay, signal);
    signal?.throwIfAborted();
  }

  #mayFail({ method, path }: ApiRequest, chance: number, outages: number): void {
    const lost =
      !this.#api.up || this.#cut || this.#outages + this.#api.outages !== outages || happens(this.#system, chance);
    if (lost) throw new Unreachable(`${method} ${path}: the connection broke`);
  }

  #refused(): ApiResponse | undefined {
    if (!happens(this.#system, this.faults.refused)) return undefined;
    const [code, reason] = REFUSALS[Math.floor(this.#system.random() * REFUSALS.length)] ?? REFUSALS[0];
    return refusing(new ApiError(code, reason, 'the simulated server has no time'));
  }

  #doubted({ method }: ApiRequest): ApiResponse | undefined {
    if (method === 'GET' || !happens(this.#system, this.faults.doubtfulAnswer)) return undefined;
    return refusing(new ApiError(504, 'Timeout', 'the simulated server did not answer in time'));
  }
}

/** The longest that a request is under way, in milliseconds. */
const LATEST = 60_000;

const refusing = ({ code, status }: ApiError): ApiResponse => ({
  status: code,
  body: asSent({ ...status }),
  warnings: [],
});

/** What comes of the promise; or, from the moment on in which nobody wants to know any more, that. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    const over = (): void => signal.removeEventListener('abort', abort);
    promise.then(resolve, reject).finally(over);
  });
}
