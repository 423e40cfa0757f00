import { ipamControllers } from '../../../src/ipam/index.ts';
import type { Cancel, Clock, System } from '../../../src/runtime/clock.ts';
import { Manager } from '../../../src/runtime/manager.ts';
import { skewed } from '../../../src/runtime/simulated-clock.ts';
import type { Transport } from '../../../src/runtime/transport.ts';
import { vipsControllers } from '../../../src/vips/index.ts';
import type { SimulatedApi } from '../api.ts';
import type { Faults } from '../faults.ts';
import type { SimulatedTransport } from '../transport.ts';
import type { World } from '../world.ts';
import type { Plot } from './plot.ts';

export interface ProcessOptions {
  readonly world: World;
  readonly name: string;
  readonly faults: Faults;
  readonly coolDown: number;
  /** By how many milliseconds its clock is ahead. */
  readonly ahead: number;
  readonly poolsOf: Plot['poolsOf'];
  readonly sabotage: Sabotage | undefined;
}

/** Spoils what the controllers send: for tests of whether anybody notices. */
export type Sabotage = (transport: Transport, api: SimulatedApi) => Transport;

/** The controllers of addresses in a process of their own, which can be killed at any moment. */
export class Process {
  readonly name: string;
  readonly transport: SimulatedTransport;
  readonly #manager: Manager;
  readonly #life: Life;
  readonly #died = Promise.withResolvers<void>();

  constructor({ world: { api, clock, log }, name, faults, coolDown, ahead, poolsOf, sabotage }: ProcessOptions) {
    this.name = name;
    this.transport = api.transport(faults, name);
    this.#life = new Life(skewed(clock, { ahead }));
    this.#manager = new Manager({
      transport: sabotage?.(this.transport, api) ?? this.transport,
      controllers: [...ipamControllers({ coolDown }), ...vipsControllers({ poolsOf })],
      system: this.#life.system,
      log,
      fieldManager: 'netloom',
      instance: name,
      freeze: true,
    });
    this.#manager.start();
  }

  kill(): void {
    this.transport.kill();
    this.#end();
  }

  /** It dies with a write on its way, and never learns what became of it. */
  killAtWrite(after: number, died: () => void): void {
    this.transport.killAtWrite(after, () => {
      this.#end();
      died();
    });
  }

  /** As a signal ends it, which lets it finish what it is at. */
  async stop(): Promise<void> {
    // It may be killed while it does that.
    await Promise.race([this.#manager.stop({ within: 2_000 }), this.#died.promise]);
    this.#end();
  }

  #end(): void {
    this.#life.end();
    this.#died.resolve();
  }
}

/** Time, for as long as somebody lives: after that none of his timers rings. */
class Life {
  readonly system: System;
  readonly #clock: System;
  readonly #timers = new Set<Cancel>();
  #over = false;

  constructor(clock: System) {
    this.#clock = clock;
    const time: Clock = {
      now: () => clock.now(),
      uptime: () => clock.uptime(),
      timer: (ms, ring) => this.#timer(ms, ring),
    };
    this.system = { ...time, random: () => clock.random(), uuid: () => clock.uuid() };
  }

  end(): void {
    this.#over = true;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }

  #timer(ms: number, ring: () => void): Cancel {
    if (this.#over) return () => {};
    const cancel = this.#clock.timer(ms, () => {
      this.#timers.delete(cancel);
      ring();
    });
    this.#timers.add(cancel);
    return () => {
      this.#timers.delete(cancel);
      cancel();
    };
  }
}
