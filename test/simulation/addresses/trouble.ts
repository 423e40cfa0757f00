import type { World } from '../world.ts';
import type { Dice } from './dice.ts';
import { type Plot, quiet, weathers } from './plot.ts';
import { Process, type Sabotage } from './process.ts';
import type { Trace } from './trace.ts';

/** What befalls the processes, the server and the network between them. */
export class Trouble {
  readonly #world: World;
  readonly #dice: Dice;
  readonly #trace: Trace;
  readonly #plot: Plot;
  readonly #sabotage: Sabotage | undefined;
  readonly #processes = new Set<Process>();
  #started = 0;
  #isOver = false;

  constructor(options: { world: World; dice: Dice; trace: Trace; plot: Plot; sabotage: Sabotage | undefined }) {
    this.#world = options.world;
    this.#dice = options.dice;
    this.#trace = options.trace;
    this.#plot = options.plot;
    this.#sabotage = options.sabotage;
  }

  begin(): void {
    for (let i = 0; i < this.#plot.leaders; i += 1) this.#start();
  }

  strike(): void {
    this.#dice.weighted<() => void>([
      [4, () => this.#killAtWrite()],
      [2, () => this.#kill()],
      [2, () => this.#stop()],
      [2, () => this.#outage(this.#dice.below(3_000))],
      [1, () => this.#outage(600_000)],
      [2, () => this.#outage(0, true)],
      [2, () => this.#cut()],
      [3, () => this.#world.api.collectGarbage()],
    ])();
  }

  /** The storm is over, and whoever is there stays. */
  async end(): Promise<void> {
    const { api, clock } = this.#world;
    await clock.until(() => api.up);
    this.#isOver = true;
    for (const { transport } of this.#processes) {
      transport.faults = quiet;
      transport.spare();
      if (this.#plot.mended) transport.mend();
    }
    while (this.#processes.size < this.#plot.leaders) this.#start();
    const [first, ...others] = this.#processes;
    if (this.#plot.ending !== 'as it is') for (const other of others) await clock.run(this.#end(other));
    if (this.#plot.ending === 'another one' && first !== undefined) {
      await clock.run(this.#end(first));
      this.#start();
    }
  }

  killAll(): void {
    for (const process of this.#processes) process.kill();
  }

  #start(): void {
    this.#started += 1;
    const name = `leader-${this.#started}`;
    this.#trace.note(name, 'starts');
    const { coolDown, skew, weather, poolsOf } = this.#plot;
    const faults = this.#isOver ? quiet : weathers[weather];
    // One is behind, the next one right, the one after that ahead.
    const ahead = ((this.#started % 3) - 1) * skew;
    this.#processes.add(
      new Process({ world: this.#world, name, faults, coolDown, ahead, poolsOf, sabotage: this.#sabotage }),
    );
  }

  /** Whoever is gone is replaced after a while. */
  #startLater(): void {
    this.#world.clock.timer(this.#dice.below(20_000), () => {
      if (!this.#isOver && this.#processes.size < this.#plot.leaders) this.#start();
    });
  }

  #killAtWrite(): void {
    const process = this.#any();
    process?.killAtWrite(this.#dice.below(6), () => {
      this.#trace.note(process.name, 'dies with a write under way');
      this.#processes.delete(process);
      this.#startLater();
    });
  }

  #kill(): void {
    const process = this.#any();
    if (process === undefined) return;
    this.#trace.note(process.name, 'is killed');
    this.#processes.delete(process);
    process.kill();
    this.#startLater();
  }

  #stop(): void {
    const process = this.#any();
    if (process !== undefined) void this.#end(process).then(() => this.#startLater());
  }

  #end(process: Process): Promise<void> {
    this.#trace.note(process.name, 'is told to end');
    this.#processes.delete(process);
    return process.stop();
  }

  #outage(ms: number, forget = this.#dice.oneIn(2)): void {
    const { api, clock } = this.#world;
    if (!api.up) return;
    this.#trace.note('server', ms === 0 ? 'breaks all connections' : `goes away for ${ms} ms`);
    api.stop();
    const back = (): void => {
      this.#trace.note('server', forget ? 'is back, and has forgotten what happened before' : 'is back');
      api.start({ forget });
    };
    if (ms === 0) back();
    else clock.timer(ms, back);
  }

  #cut(): void {
    const process = this.#any();
    if (process === undefined) return;
    this.#trace.note(process.name, 'is cut off');
    process.transport.cut();
    this.#world.clock.timer(this.#dice.below(60_000), () => {
      this.#trace.note(process.name, 'is heard again');
      process.transport.mend();
    });
  }

  #any(): Process | undefined {
    return this.#dice.pick([...this.#processes]);
  }
}
