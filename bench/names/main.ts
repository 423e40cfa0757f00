/** What names and Services cost, on hosts of a lab as people make them. Run by `npm run bench:names`; `-- --help` says how. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { BenchLab } from '../pods/bench-lab.ts';
import { invocationOf } from '../shared/invocation.ts';
import { runBench } from '../shared/leftovers.ts';
import { printRow } from '../shared/row.ts';
import type { Bench, Described } from './bench.ts';
import { recordWorks } from './records.ts';
import { serviceWorks } from './services.ts';

const works: Readonly<Record<string, Described>> = { ...recordWorks, ...serviceWorks };

const { quick, directory, chosen } = invocationOf({
  script: 'bench:names',
  measures: 'what names and Services cost',
  works: Object.fromEntries(Object.entries(works).map(([name, { about }]) => [name, about])),
});
const root = await mkdtemp(join(directory, 'netloom-bench-'));
let lab: Promise<BenchLab> | undefined;
const bench: Bench = {
  quick,
  folder: () => mkdtemp(join(root, 'data-')),
  lab() {
    lab ??= bench.folder().then((data) => BenchLab.up(2, data));
    return lab;
  },
};

await runBench({ root, minutes: 30 }, async () => {
  if (process.getuid?.() !== 0) throw new Error('bench:names needs root, as labs do');
  for (const name of chosen) {
    const work = works[name];
    if (work === undefined) continue;
    for await (const row of work.measure(bench)) printRow(row);
  }
});
