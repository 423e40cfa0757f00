import type { Context } from '../objects/context.ts';

/** What the engine counts of itself, in Prometheus' text format. */
export class Metrics {
  /** method and code → how many, and for how long in all. */
  readonly #requests = new Map<string, { method: string; code: number; count: number; seconds: number }>();
  readonly #extra: () => string;
  #watches = 0;
  #dropped = 0;

  /** `extra`: what others measure, as whole lines of the same format. */
  constructor(extra: () => string = () => '') {
    this.#extra = extra;
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

  text({ store, catalog }: Context): string {
    const requests = [...this.#requests.values()];
    const labels = ({ method, code }: { method: string; code: number }) => `{method="${method}",code="${code}"}`;
    return [
      ...metric(
        'netloom_engine_requests_total',
        'counter',
        'Requests answered.',
        requests.map((each) => [labels(each), each.count]),
      ),
      ...metric(
        'netloom_engine_request_seconds_total',
        'counter',
        'Time spent on answering requests.',
        requests.map((each) => [labels(each), each.seconds]),
      ),
      ...metric('netloom_engine_watches', 'gauge', 'Watches that are open.', [['', this.#watches]]),
      ...metric('netloom_engine_dropped_clients_total', 'counter', 'Watchers cut off because they were too slow.', [
        ['', this.#dropped],
      ]),
      ...metric('netloom_engine_revision', 'gauge', 'Newest revision on disk.', [['', store.revision]]),
      ...metric(
        'netloom_engine_objects',
        'gauge',
        'Objects stored.',
        catalog.resources.map((resource) => [`{resource="${resource.id}"}`, store.count(resource.id)]),
      ),
      this.#extra(),
    ].join('\n');
  }
}

const metric = (
  name: string,
  type: string,
  help: string,
  samples: readonly (readonly [string, number])[],
): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
  ...samples.map(([labels, value]) => `${name}${labels} ${value}`),
];
