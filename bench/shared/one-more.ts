import { Load } from './load.ts';
import { Netloom } from './netloom.ts';
import type { Row } from './row.ts';
import { Samples } from './samples.ts';
import { Sightings } from './watch.ts';

/** What is measured among many. */
export interface Subject {
  readonly collection: string;
  create(load: Load, name: string): Promise<unknown>;
  isDone(line: string): boolean;
}

/** What one more costs. */
export interface OneMore {
  readonly existing: number;
  /** Milliseconds from the create to the sight of what comes of it, median of each round. */
  readonly latency: Samples;
  /** Milliseconds of the server, mean of each round. */
  readonly cpu: Samples;
  /** MiB. */
  readonly memory: number;
}

/**
 * One more among few and many, one after the other. The servers run side by side and take turns, so that whatever else the machine
 * does hits them alike.
 */
export async function oneMore(
  subject: Subject,
  servers: readonly { existing: number; directory: string }[],
  { rounds, each }: { rounds: number; each: number },
): Promise<OneMore[]> {
  const benches: Bench[] = [];
  for (const { existing, directory } of servers) benches.push(await Bench.open(subject, existing, directory));
  // Once for nothing: what is compiled and what is built at first use is paid for by then.
  for (const bench of benches) await bench.round('first', each);
  for (const bench of benches) bench.forget();
  for (let round = 0; round < rounds; round += 1) {
    for (const bench of benches) await bench.round(`round-${round}`, each);
  }
  const results = benches.map((bench) => bench.result);
  for (const bench of benches) await bench.close();
  return results;
}

class Bench {
  readonly #subject: Subject;
  readonly #existing: number;
  readonly #netloom: Netloom;
  readonly #load: Load;
  readonly #done: Sightings;
  #latency: number[] = [];
  #cpu: number[] = [];

  private constructor(subject: Subject, existing: number, parts: { netloom: Netloom; load: Load; done: Sightings }) {
    this.#subject = subject;
    this.#existing = existing;
    this.#netloom = parts.netloom;
    this.#load = parts.load;
    this.#done = parts.done;
  }

  static async open(subject: Subject, existing: number, directory: string): Promise<Bench> {
    const netloom = await Netloom.serve('up', directory);
    const load = await Load.open(netloom.kubeconfig, 1);
    const done = await Sightings.open(netloom.kubeconfig, subject.collection, subject.isDone);
    return new Bench(subject, existing, { netloom, load, done });
  }

  async round(name: string, each: number): Promise<void> {
    const times: number[] = [];
    const before = this.#netloom.cost.cpu;
    for (let i = 0; i < each; i += 1) {
      const began = performance.now();
      const done = this.#done.of(`${name}-${i}`);
      await this.#subject.create(this.#load, `${name}-${i}`);
      await done;
      times.push(performance.now() - began);
    }
    this.#cpu.push(((this.#netloom.cost.cpu - before) / each) * 1000);
    this.#latency.push(new Samples(times).median);
  }

  forget(): void {
    this.#latency = [];
    this.#cpu = [];
  }

  get result(): OneMore {
    const [latency, cpu] = [new Samples(this.#latency), new Samples(this.#cpu)];
    return { existing: this.#existing, latency, cpu, memory: this.#netloom.cost.memory };
  }

  async close(): Promise<void> {
    this.#done.close();
    this.#load.close();
    await this.#netloom.stop();
  }
}

/** How much more it costs among more, at most; the first is what the others are compared with. */
export function growth([few, ...more]: readonly OneMore[]): { cpu: number; latency: number } {
  const most = (of: (one: OneMore) => number) => Math.max(...more.map((one) => of(one) / (few ? of(few) : Number.NaN)));
  return { cpu: most(({ cpu }) => cpu.median), latency: most(({ latency }) => latency.median) };
}

export const notesOf = (results: readonly OneMore[]): string[] =>
  results.map(
    ({ existing, latency, cpu, memory }) =>
      `${String(existing).padStart(7)} existing: ${latency.text(1)} ms, CPU ${cpu.text(2)} ms, server has ${memory.toFixed(0)} MiB`,
  );

export function flatRow(work: string, results: readonly OneMore[]): Row {
  const { cpu, latency } = growth(results);
  return {
    work,
    goal: 'at most 1.3 times the cost',
    measured: `${cpu.toFixed(2)} times the CPU, ${latency.toFixed(2)} times the latency`,
    holds: cpu <= 1.3 && latency <= 1.3,
    notes: notesOf(results),
  };
}
