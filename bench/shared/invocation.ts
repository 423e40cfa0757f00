import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';

/** How somebody wants a bench to run. */
export interface Invocation<Work extends string> {
  /** For looking twice at a change. */
  readonly quick: boolean;
  /** Where data goes meanwhile. */
  readonly directory: string;
  readonly chosen: readonly Work[];
}

/** Reads the command line of a bench; says how to use it, and ends, when asked to or when it cannot be understood. */
export function invocationOf<Work extends string>(bench: {
  /** As it is run: `bench:ipam`. */
  readonly script: string;
  /** What it measures: `what addresses cost`. */
  readonly measures: string;
  /** Name of a work → what it measures. */
  readonly works: Readonly<Record<Work, string>>;
}): Invocation<Work> {
  const usage = usageOf(bench);
  try {
    const { values, positionals } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        directory: { type: 'string', default: tmpdir() },
        help: { type: 'boolean', short: 'h', default: false },
      },
      allowPositionals: true,
    });
    if (values.help) {
      console.log(usage);
      process.exit();
    }
    const isWork = (name: string): name is Work => Object.hasOwn(bench.works, name);
    const unknown = positionals.filter((name) => !isWork(name));
    if (unknown.length > 0) throw new Error(`there is no work ${unknown.join(', ')}`);
    const { quick, directory } = values;
    const names = positionals.length > 0 ? positionals : Object.keys(bench.works);
    return { quick, directory, chosen: names.filter(isWork) };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(2);
  }
}

function usageOf(bench: { script: string; measures: string; works: Readonly<Record<string, string>> }): string {
  const works = Object.entries(bench.works);
  const width = Math.max('--directory DIR'.length, ...works.map(([name]) => name.length));
  const lines = works.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`);
  return `npm run ${bench.script} -- [--quick] [--directory DIR] [WORK…]

Measures ${bench.measures}, and says of every goal whether it holds.

  ${'--quick'.padEnd(width)}  a short form
  ${'--directory DIR'.padEnd(width)}  where data goes meanwhile (default: the system's folder for temporary files)

Works; without any, all of them:
${lines.join('\n')}`;
}
