import { type Metric, metricsText, type Sample, single } from '../../runtime/metrics.ts';
import type { Context } from '../objects/context.ts';

/** What the engine counts of itself. */
export class Metrics {
  /** method and code → how many, and for how long in all. */
  readonly #requests = new Map<string, { method: string; code: number; count: number; seconds: number }>();
  readonly #others: () => readonly Metric[];
  #watches = 0;
  #dropped = 0;

  /** `others`: what else is measured in this process. */
  constructor(others: () => readonly Metric[] = () => []) {
    this.#others = others;
  }

  answered(method: string, code: number, milliseconds: number): void {
    const key = `${method} ${code}`;
    const entry = this.#requests.get(key) ?? { method, code, count: 0, seconds: 0 };
    this.#requests.set(key, entry);
    entry.count++;
    entry.seconds += milliseconds / 1000;
  }

  watchBegan(): void {
    this.#watches++;
  }

  watchEnded(): void {
    this.#watches--;
  }

  clientDropped(): void {
    this.#dropped++;
  }

  text(context: Context): string {
    return metricsText([...this.#own(context), ...this.#others()]);
  }

  #own({ store, catalog }: Context): Metric[] {
    const requests = [...this.#requests.values()].map(({ method, code, count, seconds }) => ({
      labels: { method, code: String(code) },
      count,
      seconds,
    }));
    return [
      counter(
        'requests_total',
        'Requests answered.',
        requests.map(({ labels, count }) => ({ labels, value: count })),
      ),
      counter(
        'request_seconds_total',
        'Time spent on answering requests.',
        requests.map(({ labels, seconds }) => ({ labels, value: seconds })),
      ),
      gauge('watches', 'Watches that are open.', single(this.#watches)),
      counter('dropped_clients_total', 'Watchers cut off because they were too slow.', single(this.#dropped)),
      gauge('revision', 'Newest revision on disk.', single(store.revision)),
      gauge(
        'objects',
        'Objects stored.',
        catalog.resources.map(({ id }) => ({ labels: { resource: id }, value: store.count(id) })),
      ),
    ];
  }
}

const gauge = (name: string, help: string, samples: readonly Sample[]): Metric => ({
  name: `netloom_engine_${name}`,
  type: 'gauge',
  help,
  samples,
});
const counter = (name: string, help: string, samples: readonly Sample[]): Metric => ({
  ...gauge(name, help, samples),
  type: 'counter',
});
