/** What is measured of one thing, as it is now. */
export interface Metric {
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
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

  /** In Prometheus' text format. */
  text(): string {
    return this.#sources
      .flatMap((source) => source())
      .map(textOf)
      .join('');
  }
}

const textOf = ({ name, type, help, samples }: Metric): string =>
  [
    `# HELP ${name} ${escaped(help)}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ labels, value }) => `${name}${labelsText(labels)} ${value}`),
    '',
  ].join('\n');

function labelsText(labels: Sample['labels']): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
