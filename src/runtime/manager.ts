import { Client } from './client.ts';
import { type System, sleep } from './clock.ts';
import type { Controller } from './controller.ts';
import type { ControllerState, RunningController } from './controller-run.ts';
import { EventRecorder } from './events.ts';
import type { InformerCounters } from './informer.ts';
import { Informers } from './informers.ts';
import type { Log } from './log.ts';
import type { Transport } from './transport.ts';

export interface ManagerOptions {
  transport: Transport;
  controllers: readonly Controller[];
  system: System;
  log: Log;
  /** In whose name fields are set. */
  fieldManager: string;
  /** Which process or host speaks in events. */
  instance: string;
  /** See Informer. */
  freeze?: boolean;
}

const MOST_WARNINGS = 1_000;

/** Runs controllers over shared informers, from `start` to `stop`, once. */
export class Manager {
  readonly #controllers: readonly Controller[];
  readonly #system: System;
  readonly #log: Log;
  readonly #client: Client;
  readonly #informers: Informers;
  readonly #instance: string;
  readonly #cut = new AbortController();
  readonly #recorders: EventRecorder[] = [];
  readonly #warnings = new Set<string>();
  #running: readonly RunningController[] = [];

  constructor({ transport, controllers, system, log, fieldManager, instance, freeze = false }: ManagerOptions) {
    this.#controllers = controllers;
    this.#system = system;
    this.#log = log;
    this.#instance = instance;
    this.#client = new Client({
      transport,
      fieldManager,
      signal: this.#cut.signal,
      warned: (warning, request) => this.#warned(warning, request),
    });
    this.#informers = new Informers({ client: this.#client, system, log, freeze });
  }

  start(): void {
    const host = {
      client: this.#client,
      informers: this.#informers,
      events: (component: string) => this.#recorder(component),
      system: this.#system,
      log: this.#log,
      signal: this.#cut.signal,
    };
    this.#running = this.#controllers.map((controller) => controller.start(host));
  }

  /** Once: a kind that is going out of use is warned of with every answer. */
  #warned(warning: string, request: string): void {
    if (this.#warnings.has(warning) || this.#warnings.size >= MOST_WARNINGS) return;
    this.#warnings.add(warning);
    // What is said about a read is about the kind, and nobody here can put it right.
    this.#log[request.startsWith('GET ') ? 'debug' : 'warn']('the server warns', { warning, request });
  }

  /** Whether every controller has begun. */
  get ready(): boolean {
    return this.#running.length > 0 && this.report().controllers.every(({ begun }) => begun);
  }

  report(): ManagerReport {
    return {
      controllers: this.#running.map((running) => running.state()),
      informers: this.#informers.counters(),
      droppedEvents: this.#recorders.reduce((sum, { dropped }) => sum + dropped, 0),
    };
  }

  /** Lets passes end that are under way, for at most `within` milliseconds; after that nothing reaches the server. */
  async stop({ within }: { within: number }): Promise<void> {
    const ended = new AbortController();
    const orderly = Promise.all(this.#running.map((running) => running.stop()))
      .then(() => Promise.all(this.#recorders.map((recorder) => recorder.flushed())))
      .then(() => ended.abort());
    await Promise.race([orderly, sleep(this.#system, within, ended.signal)]);
    if (!ended.signal.aborted) {
      const busy = this.report().controllers.filter(({ queue }) => queue.running > 0);
      this.#log.warn('stopped before everything had ended', { busy: busy.map(({ name }) => name).join(',') });
    }
    ended.abort();
    this.#cut.abort();
    await Promise.all([this.#informers.stop(), ...this.#recorders.map((recorder) => recorder.stop())]);
  }

  #recorder(component: string): EventRecorder {
    const instance = this.#instance;
    const recorder = new EventRecorder({
      client: this.#client,
      system: this.#system,
      log: this.#log,
      component,
      instance,
    });
    this.#recorders.push(recorder);
    return recorder;
  }
}

export interface ManagerReport {
  controllers: ControllerState[];
  informers: (InformerCounters & { kind: string })[];
  /** Not written for being too many, or because the server would not have them. */
  droppedEvents: number;
}
