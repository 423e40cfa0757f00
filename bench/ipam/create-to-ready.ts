import { Load } from '../shared/load.ts';
import { Netloom } from '../shared/netloom.ts';
import type { Row } from '../shared/row.ts';
import { Samples } from '../shared/samples.ts';
import { Sightings, Watch } from '../shared/watch.ts';
import {
  BLOCKS,
  createIPSet,
  createNetConfig,
  defineKinds,
  IPSETS,
  isReady,
  NETWORKS,
  RESERVATIONS,
  revision,
} from './world.ts';

export const CONNECTIONS = 16;

/** How fast IPSets become Ready, beside how fast the engine alone takes them in, by turns. */
export async function createToReady(
  { count, times }: { count: number; times: number },
  folder: () => Promise<string>,
): Promise<Row[]> {
  const alone: Rate[] = [];
  const whole: Rate[] = [];
  for (let i = 0; i < times; i += 1) {
    alone.push(await engineAlone(count, await folder()));
    whole.push(await withControllers(count, await folder()));
  }
  const ready = new Samples(whole.map(({ rate }) => rate));
  const created = new Samples(alone.map(({ rate }) => rate));
  const ratio = new Samples(whole.map(({ rate }, i) => rate / (alone[i]?.rate ?? Number.NaN)));
  const cpu = (rates: readonly Rate[]) => new Samples(rates.map((rate) => rate.cpu)).text();
  const work = `${count} IPSets of ${NETWORKS.length} networks, from create (HTTPS, ${CONNECTIONS} connections) to Ready in a watch`;
  return [
    {
      work,
      goal: "at least a quarter of the engine's own create rate in the same run",
      measured: `${ratio.text(2)} of it: ${ready.text()}/s Ready beside ${created.text()}/s created`,
      holds: ratio.median >= 0.25,
      notes: [
        `CPU of the server for each: engine alone ${cpu(alone)} µs, with controllers ${cpu(whole)} µs`,
        `memory of the server at the end: ${new Samples(whole.map(({ memory }) => memory)).text()} MiB`,
      ],
    },
    { work, goal: '2000 a second', measured: `${ready.text()}/s`, holds: ready.median >= 2000 },
  ];
}

interface Rate {
  /** A second. */
  readonly rate: number;
  /** Microseconds for each. */
  readonly cpu: number;
  /** MiB. */
  readonly memory: number;
}

/** With the kinds and their checks, and nobody who acts on them. */
async function engineAlone(count: number, directory: string): Promise<Rate> {
  const engine = await Netloom.serve('engine', directory);
  const load = await Load.open(engine.kubeconfig, CONNECTIONS);
  await defineKinds(load);
  await createNetConfig(load);
  await load.rate(WARM_UP, (i) => createIPSet(load, `first-${i}`));
  const before = engine.cost.cpu;
  const rate = await load.rate(count, (i) => createIPSet(load, `host-${i}`));
  const { cpu, memory } = engine.cost;
  load.close();
  await engine.stop();
  return { rate, cpu: ((cpu - before) / count) * 1e6, memory };
}

async function withControllers(count: number, directory: string): Promise<Rate> {
  const { up, load, ready } = await warmed(directory);
  const before = up.cost.cpu;
  const began = performance.now();
  await createAll(load, ready, count, 'host');
  const seconds = (performance.now() - began) / 1000;
  const { cpu, memory } = up.cost;
  ready.close();
  load.close();
  await up.stop();
  return { rate: count / seconds, cpu: ((cpu - before) / count) * 1e6, memory };
}

/** A server that has run for a moment, which is what people have. */
async function warmed(directory: string): Promise<{ up: Netloom; load: Load; ready: Sightings }> {
  const up = await Netloom.serve('up', directory);
  const load = await Load.open(up.kubeconfig, CONNECTIONS);
  await createNetConfig(load);
  const ready = await Sightings.open(up.kubeconfig, IPSETS, isReady);
  await createAll(load, ready, WARM_UP, 'first');
  return { up, load, ready };
}

const WARM_UP = 500;

/** Resolves when they are all seen Ready. */
async function createAll(load: Load, ready: Sightings, count: number, prefix: string): Promise<void> {
  const names = Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
  const all = Promise.all(names.map((name) => ready.of(name)));
  await load.rate(count, (i) => createIPSet(load, names[i] ?? ''));
  await all;
}

/** What is written at the server for an IPSet, told by watches and, in all, by the revision. */
export async function writes(count: number, directory: string): Promise<Row> {
  const { up, load, ready } = await warmed(directory);
  const seen = { ipSets: 0, reservations: 0, blocks: 0 };
  const watches = await Promise.all([
    Watch.open(up.kubeconfig, IPSETS, () => (seen.ipSets += 1)),
    Watch.open(up.kubeconfig, RESERVATIONS, () => (seen.reservations += 1)),
    Watch.open(up.kubeconfig, BLOCKS, () => (seen.blocks += 1)),
  ]);
  const before = await revision(load);
  await createAll(load, ready, count, 'host');
  const total = ((await revision(load)) - before) / count;
  for (const watch of [...watches, ready]) watch.close();
  load.close();
  await up.stop();
  // The create itself is not ours.
  const status = seen.ipSets / count - 1;
  const reservations = seen.reservations / count;
  const blocks = seen.blocks / count;
  const rest = total - 1 - status - reservations - blocks;
  const figures = `Reservation ${reservations.toFixed(2)}, IPSet after its create ${status.toFixed(2)}, AddressBlocks ${blocks.toFixed(3)}`;
  return {
    work: `writes per IPSet of ${NETWORKS.length} networks, ${CONNECTIONS} in flight`,
    goal: 'Reservation, status, at most 0.2 AddressBlocks; the finalizer comes with the create',
    measured: `${figures}, others ${rest.toFixed(3)}`,
    holds: reservations < 1.01 && status < 1.01 && blocks <= 0.2 && rest < 0.05,
  };
}
