/**
 * What pods and labs cost, on hosts of a lab as people make them. `npm run bench:pods`; `-- --quick` for a short form; names of works to run
 * only those; `--directory` for another disk.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printRow, type Row } from '../shared/row.ts';
import { BenchLab } from './bench-lab.ts';
import { labs } from './labs.ts';
import { memoryOf, memoryRow } from './memory.ts';
import { manyAtOnce, oneByOne } from './start.ts';
import { traffic } from './traffic.ts';

const { values: options, positionals: chosen } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, directory: { type: 'string', default: tmpdir() } },
  allowPositionals: true,
});
const { quick } = options;
const root = await mkdtemp(join(options.directory, 'netloom-bench-'));
const folder = () => mkdtemp(join(root, 'data-'));

type Work = (lab: BenchLab) => AsyncGenerator<Row>;
const works: Record<string, Work> = {
  async *start(lab) {
    yield await oneByOne(lab, quick ? 10 : 50);
  },
  async *many(lab) {
    yield memoryRow('idle', 100, memoryOf(lab));
    const { row, names } = await manyAtOnce(lab, quick ? 20 : 100);
    yield row;
    yield memoryRow(`${names.length} pods`, 150, memoryOf(lab));
    await lab.deletePods(names);
  },
  async *traffic(lab) {
    yield await traffic(lab, quick ? 1 : 5);
  },
};

const isChosen = (name: string): boolean => chosen.length === 0 || chosen.includes(name);
const began = performance.now();
let lab: BenchLab | undefined;
let code = 0;
const limit = setTimeout(() => void end('the bench took longer than it may'), 15 * 60_000);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(`ended by ${signal}`));
try {
  if (process.getuid?.() !== 0) throw new Error('bench:pods needs root, as labs do');
  if (isChosen('labs')) printRow(await labs(10, quick ? 1 : 3, folder));
  for (const [name, work] of Object.entries(works)) {
    if (!isChosen(name)) continue;
    lab ??= await BenchLab.up(2, await folder());
    for await (const row of work(lab)) printRow(row);
  }
} catch (error) {
  console.error(error);
  code = 1;
}
await end(`in ${((performance.now() - began) / 1000).toFixed(0)} s`);

async function end(why: string): Promise<never> {
  clearTimeout(limit);
  console.log(why);
  await lab?.down().catch((error: unknown) => console.error(error));
  await rm(root, { recursive: true, force: true, maxRetries: 3 });
  process.exit(code);
}
