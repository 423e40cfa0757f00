import type { JsonObject } from '../../src/api/json.ts';
import { ApiError } from '../../src/api/status.ts';
import { type System, sleep } from '../../src/runtime/clock.ts';
import { refusal } from '../../src/runtime/refusal.ts';
import { type ApiRequest, type ApiResponse, type Transport, Unreachable } from '../../src/runtime/transport.ts';
import type { SimulatedApi } from './api.ts';
import { type Faults, happens, within } from './faults.ts';
import type { Stream } from './stream.ts';

export interface SimulatedTransportOptions {
  api: SimulatedApi;
  system: System;
  faults: Faults;
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
  readonly #streams = new Set<Stream>();
  /** May be changed while the simulation runs. */
  faults: Faults;
  #cut = false;
  #outages = 0;

  constructor({ api, system, faults }: SimulatedTransportOptions) {
    this.#api = api;
    this.#system = system;
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

  async request(request: ApiRequest): Promise<ApiResponse> {
    const { signal: _, ...content } = request;
    const sent = structuredClone(content);
    const outages = this.#outages + this.#api.outages;
    await this.#travel(request);
    this.#mayFail(request, this.faults.lostRequest, outages);
    const answer = this.#refused() ?? this.#api.handle(sent);
    await this.#travel(request);
    this.#mayFail(request, this.faults.lostAnswer, outages);
    return answer;
  }

  async *stream(request: ApiRequest): AsyncGenerator<JsonObject, void, undefined> {
    const { signal } = request;
    const outages = this.#outages + this.#api.outages;
    try {
      await this.#travel(request);
      this.#mayFail(request, this.faults.lostRequest, outages);
    } catch (error) {
      if (signal?.aborted === true) return;
      throw error;
    }
    const refused = this.#refused();
    if (refused !== undefined) throw refusal(refused.status, refused.body);
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

  async #travel({ signal }: ApiRequest): Promise<void> {
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
    const { status } = new ApiError(code, reason, 'the simulated server has no time');
    return { status: code, body: structuredClone({ ...status }) as unknown as JsonObject, warnings: [] };
  }
}
