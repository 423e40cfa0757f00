/** What pods and labs cost, on hosts of a lab as people make them. Run by `npm run bench:pods`; `-- --help` says how. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { invocationOf } from '../shared/invocation.ts';
import { runBench } from '../shared/leftovers.ts';
import { printRow, type Row } from '../shared/row.ts';
import { BenchLab } from './bench-lab.ts';
import { labs } from './labs.ts';
import { memoryOf, memoryRow } from './memory.ts';
import { manyAtOnce, oneByOne } from './start.ts';
import { traffic } from './traffic.ts';

const { quick, directory, chosen } = invocationOf({
  script: 'bench:pods',
  measures: 'what pods and labs cost',
  works: {
    labs: 'a lab of ten hosts up and down',
    start: 'pods from create to Running, one after the other',
    many: 'a hundred pods at once, and the memory of an agent before and after',
    traffic: 'from pod to pod on two hosts, beside a plain path of the same shape; needs iperf3',
  },
});
const root = await mkdtemp(join(directory, 'netloom-bench-'));
const folder = () => mkdtemp(join(root, 'data-'));

type Work = (lab: BenchLab) => AsyncGenerator<Row>;
const works: Record<Exclude<(typeof chosen)[number], 'labs'>, Work> = {
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
    yield await traffic(lab, quick ? 4 : 12);
  },
};

await runBench({ root, minutes: 15 }, async () => {
  if (process.getuid?.() !== 0) throw new Error('bench:pods needs root, as labs do');
  let lab: BenchLab | undefined;
  for (const name of chosen) {
    if (name === 'labs') {
      printRow(await labs(10, quick ? 1 : 3, folder));
      continue;
    }
    lab ??= await BenchLab.up(2, await folder());
    for await (const row of works[name](lab)) printRow(row);
  }
});
