/**
 * Reads Prometheus' text format as strictly as Prometheus does, and more: every sample is of the metric described right
 * above it, and no series occurs twice.
 *
 * @returns series as it is written, name and labels → value
 */
export function readMetrics(text: string): Map<string, number> {
  const series = new Map<string, number>();
  const described = new Set<string>();
  let current: { name: string; type: string } | undefined;
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  for (const line of text.slice(0, -1).split('\n')) {
    const help = /^# HELP ([a-zA-Z_:][\w:]*) (?:[^\\]|\\[\\n])*$/.exec(line);
    const type = /^# TYPE (\S+) (gauge|counter|histogram)$/.exec(line);
    const sample = SAMPLE.exec(line);
    if (help?.[1] !== undefined) {
      if (described.has(help[1])) throw new Error(`${help[1]} is described twice`);
      described.add(help[1]);
      current = { name: help[1], type: '' };
    } else if (type?.[1] !== undefined && type[2] !== undefined) {
      if (current?.name !== type[1]) throw new Error(`${line}: stands below the help of ${current?.name}`);
      current = { name: type[1], type: type[2] };
      if (type[2] === 'counter' && !type[1].endsWith('_total')) throw new Error(`${type[1]} counts, but not by name`);
    } else if (sample?.[1] !== undefined) {
      const [, name, labels = '', value] = sample;
      const suffixes = current?.type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      if (!suffixes.some((suffix) => name === `${current?.name}${suffix}`))
        throw new Error(`${line}: stands below ${current?.name}`);
      if (series.has(name + labels)) throw new Error(`${name}${labels} occurs twice`);
      series.set(name + labels, Number(value));
    } else {
      throw new Error(`"${line}" is nothing that Prometheus reads`);
    }
  }
  return series;
}

const LABEL = String.raw`[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*"`;
const SAMPLE = new RegExp(
  String.raw`^([a-zA-Z_:][\w:]*)(\{${LABEL}(?:,${LABEL})*\})? (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|NaN|[+-]Inf)$`,
);
