/** What is measured of one thing, as it is now. */
export interface Metric {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  /** What follows the name, as histograms have it: `_bucket`, `_sum` or `_count`. */
  readonly suffix?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Everything that this process measures of itself. Nothing is counted for it until somebody reads. */
export class Metrics {
  readonly #sources: (() => readonly Metric[])[] = [];

  /** Asked whenever somebody reads; a metric belongs to one source. */
  collect(source: () => readonly Metric[]): void {
    this.#sources.push(source);
  }

  read(): Metric[] {
    return this.#sources.flatMap((source) => source());
  }
}

/** What a server says the text is. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** In Prometheus' text format. */
export const metricsText = (metrics: readonly Metric[]): string => metrics.map(textOf).join('');

/** A measurement that needs no labels. */
export const single = (value: number): Sample[] => [{ labels: {}, value }];

const textOf = ({ name, type, help, samples }: Metric): string =>
  [
    `# HELP ${name} ${escaped(help)}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ suffix = '', labels, value }) => `${name}${suffix}${labelsText(labels)} ${value}`),
    '',
  ].join('\n');

function labelsText(labels: Sample['labels']): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
