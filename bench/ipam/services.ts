import { Load } from '../shared/load.ts';
import { Netloom } from '../shared/netloom.ts';
import { growth, notesOf, oneMore, type Subject } from '../shared/one-more.ts';
import type { Row } from '../shared/row.ts';
import { Sightings } from '../shared/watch.ts';
import { createPool, createService, isServed, SERVICES } from './world.ts';

const subject: Subject = { collection: SERVICES, create: createService, isDone: isServed };

/** One more Service among few and many, all with addresses from one pool. */
export async function services(
  { many, rounds, each }: { many: number; rounds: number; each: number },
  folder: () => Promise<string>,
): Promise<Row> {
  const servers = [];
  for (const existing of [100, many]) servers.push({ existing, directory: await filled(existing, await folder()) });
  const results = await oneMore(subject, servers, { rounds, each });
  const { cpu, latency } = growth(results);
  const last = results.at(-1)?.latency.median ?? Number.NaN;
  return {
    work: `${many} Services, one more`,
    goal: 'flat, under 5 ms',
    measured: `${last.toFixed(1)} ms from create to its address; ${cpu.toFixed(2)} times the CPU, ${latency.toFixed(2)} times the latency of one among 100`,
    holds: cpu <= 1.3 && latency <= 1.3 && last < 5,
    notes: notesOf(results),
  };
}

async function filled(count: number, directory: string): Promise<string> {
  const up = await Netloom.serve('up', directory);
  const load = await Load.open(up.kubeconfig, 16);
  await createPool(load);
  const served = await Sightings.open(up.kubeconfig, SERVICES, isServed);
  const names = Array.from({ length: count }, (_, i) => `service-${i}`);
  const all = Promise.all(names.map((name) => served.of(name)));
  await load.rate(count, (i) => createService(load, names[i] ?? ''));
  await all;
  served.close();
  load.close();
  await up.stop();
  return directory;
}
