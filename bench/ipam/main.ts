/**
 * What addresses cost, from the heart alone to IPSets that become Ready over HTTPS, each beside what it is compared with in the same
 * run. `npm run bench:ipam`; `-- --help` says how.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { disk } from '../shared/disk.ts';
import { invocationOf } from '../shared/invocation.ts';
import { flatRow, oneMore } from '../shared/one-more.ts';
import { printRow, type Row } from '../shared/row.ts';
import { createToReady, writes } from './create-to-ready.ts';
import { heart } from './heart.ts';
import { prepare } from './prepared.ts';
import { restart } from './restart.ts';
import { services } from './services.ts';
import { createIPSet, IPSETS, isReady } from './world.ts';

const { quick, directory, chosen } = invocationOf({
  script: 'bench:ipam',
  measures: 'what addresses cost',
  works: {
    heart: 'the heart alone, in ranges of a /8 and a /64 with holes',
    ready: 'IPSets from create to Ready visible, beside what the engine creates alone',
    writes: 'how many writes an IPSet costs',
    many: 'one more IPSet among up to 100 000, and a restart of the controllers there',
    services: 'one more Service among many',
  },
});

const root = await mkdtemp(join(directory, 'netloom-bench-'));
const folder = () => mkdtemp(join(root, 'data-'));

const works: Record<(typeof chosen)[number], () => Promise<Row[]>> = {
  heart: async () => [await heart(quick ? 200_000 : 1_000_000)],
  ready: () => createToReady(quick ? { count: 2_000, times: 1 } : { count: 10_000, times: 3 }, folder),
  writes: async () => [await writes(2_000, await folder())],
  many,
  services: async () => [
    await services(quick ? { many: 2_000, rounds: 2, each: 50 } : { many: 10_000, rounds: 5, each: 100 }, folder),
  ],
};

/** Those who ask among many share what takes long to prepare. */
async function many(): Promise<Row[]> {
  const most = quick ? 10_000 : 100_000;
  const servers = [];
  for (const existing of quick ? [100, most] : [100, 10_000, most]) {
    servers.push({ existing, directory: await folder() });
    await prepare(servers.at(-1)?.directory ?? '', existing);
  }
  const subject = { collection: IPSETS, create: createIPSet, isDone: isReady };
  const results = await oneMore(subject, servers, quick ? { rounds: 2, each: 50 } : { rounds: 5, each: 100 });
  const largest = servers.at(-1)?.directory ?? '';
  return [
    flatRow(`one more IPSet at ${servers.map(({ existing }) => existing).join(', ')} existing`, results),
    await restart(most, largest, quick ? 1 : 2),
  ];
}

const began = performance.now();
const limit = setTimeout(
  () => end('the bench took longer than it may: what is not shown was not measured'),
  15 * 60_000,
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end(`ended by ${signal}`));
try {
  console.log(await disk(root));
  for (const name of chosen) for (const row of await works[name]()) printRow(row);
} finally {
  clearTimeout(limit);
  await rm(root, { recursive: true, force: true });
}
console.log(`in ${((performance.now() - began) / 1000).toFixed(0)} s`);
process.exit();

async function end(why: string): Promise<void> {
  console.error(why);
  await rm(root, { recursive: true, force: true, maxRetries: 3 });
  process.exit(1);
}
