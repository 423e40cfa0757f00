// npm run simulate: the controllers of addresses in a world of people and faults that is made up from a seed. See README.md.
import { parseArgs } from 'node:util';
import { tellStories } from './addresses/stories.ts';

const HELP = `npm run simulate -- [--seed N] [--seeds COUNT] [--steps N] [--verbose]

Runs the controllers that give addresses to hosts and Services in a simulated world: people, faults, restarts, and several
processes that each believe to be the only one. The same seed gives the same run. Ends with 1 when something went wrong, and says
with which command it does again.

  --seed N         the first seed, a whole number; without it, 1000 seeds that nobody has seen yet
  --seeds COUNT    how many, or "forever"; 1 unless it says so
  --steps N        how much happens in each before all becomes quiet (12)
  --verbose        everything that happens, a line each
  --help           this`;

const options = readOptions();

/** Where seeds that nobody has seen begin: a new place each second. */
const NEW = Math.floor(Date.now() / 1_000) * 1_000;

if (options.help) {
  console.log(HELP);
} else {
  const seed = options.seed === undefined ? NEW : wholeNumber('seed', options.seed);
  const seeds = options.seeds ?? (options.seed === undefined ? '1000' : '1');
  const count = seeds === 'forever' ? Number.POSITIVE_INFINITY : wholeNumber('seeds', seeds);
  // Nobody reads where the errors came from that are part of the game.
  if (!options.verbose) Error.stackTraceLimit = 0;
  const failed = await tellStories({
    first: seed,
    count,
    steps: wholeNumber('steps', options.steps),
    verbose: options.verbose,
    write: (text) => console.log(text),
  });
  process.exitCode = failed === 0 ? 0 : 1;
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        seed: { type: 'string' },
        seeds: { type: 'string' },
        steps: { type: 'string', default: '12' },
        verbose: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    // Node.js says it in several sentences: the first is about what was written.
    const [sentence] = error instanceof Error ? error.message.split(/\.( |\n|$)|\n/, 1) : [];
    console.error(`${sentence ?? error}\n\n${HELP}`);
    process.exit(2);
  }
}

function wholeNumber(name: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  console.error(`--${name} takes a whole number, not "${text}"; --help says more`);
  process.exit(2);
}
