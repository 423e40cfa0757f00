import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchLab, PODS } from '../pods/bench-lab.ts';
import { gigabits } from '../pods/traffic.ts';
import type { Row } from '../shared/row.ts';
import { Samples } from '../shared/samples.ts';
import { Sightings } from '../shared/watch.ts';
import type { Bench, Described } from './bench.ts';
import { KernelWatch } from './kernel-watch.ts';
import { nowhere, ServiceByHand } from './service-by-hand.ts';

/** What Services cost, by the name under which a work is chosen. */
export const serviceWorks: Readonly<Record<string, Described>> = {
  endpoints: { about: 'one of 1 000 endpoints of a Service comes and goes', measure: one(endpoints) },
  throughput: { about: 'traffic through a ClusterIP against the same traffic without one', measure: one(throughput) },
  'more-services': { about: 'one Service more, beside 10 and beside 1 000 others', measure: one(oneMore) },
};

type Measure = (lab: BenchLab, bench: Pick<Bench, 'quick'>) => Promise<Row>;

function one(measure: Measure): Described['measure'] {
  return async function* (bench) {
    yield await measure(await bench.lab(), bench);
  };
}

async function endpoints(lab: BenchLab, { quick }: Pick<Bench, 'quick'>): Promise<Row> {
  const rounds = quick ? 6 : 40;
  const few = await changes(lab, 10, rounds);
  const many = await changes(lab, 1_000, rounds);
  return {
    work: 'Service with 1 000 endpoints, one changes: from the request to the kernel of a host',
    goal: 'under 20 ms, constant kernel operations',
    measured: `p50 ${many.took.text(1)} ms, ${many.operations} operations at most`,
    holds: many.took.median < 20 && many.operations <= few.operations,
    notes: [`with 10 endpoints: p50 ${few.took.text(1)} ms, ${few.operations} operations at most`],
  };
}

/** One endpoint goes and comes back, again and again. */
async function changes(lab: BenchLab, count: number, rounds: number): Promise<Changes> {
  const addresses = nowhere(count);
  await using service = await ServiceByHand.prepare(lab, { name: `bench-${count}`, port: 80, addresses });
  await service.create();
  await sleep(1_000);
  return await measureChanges(lab, rounds, async (i, seen) => {
    const address = addresses[Math.floor(i / 2) % count] ?? '';
    const told = seen(`: ${address} .`);
    const began = performance.now();
    await Promise.all([service.turn(address), told]);
    return performance.now() - began;
  });
}

interface Changes {
  readonly took: Samples;
  /** That the kernel was told of for one change, at most. */
  readonly operations: number;
}

/** @param change does one thing and says how long it took until the kernel of the first host was told of it */
async function measureChanges(
  lab: BenchLab,
  rounds: number,
  change: (round: number, seen: (text: string) => Promise<void>) => Promise<number>,
): Promise<Changes> {
  const took: number[] = [];
  let operations = 0;
  for (let i = 0; i < rounds; i += 1) {
    await using kernel = await KernelWatch.open(lab.hosts[0] ?? '');
    took.push(await change(i, (text) => kernel.line(text)));
    // What belongs to a change comes in one go with it.
    await sleep(100);
    operations = Math.max(operations, kernel.changes);
  }
  return { took: new Samples(took), operations };
}

/** From a pod to a pod on another host, by turns through a ClusterIP and straight. */
async function throughput(lab: BenchLab, { quick }: Pick<Bench, 'quick'>): Promise<Row> {
  const [here = '', there = ''] = lab.hosts;
  const running = await Sightings.open(lab.netloom.kubeconfig, PODS, (line) => line.includes('"phase":"Running"'));
  await lab.createPod('asks', here, ['sleep', 'infinity']);
  await lab.createPod('serves', there, ['iperf3', '--server']);
  await Promise.all(['asks', 'serves'].map((name) => running.of(name)));
  running.close();
  const [asks, serves] = await Promise.all([lab.pod('asks'), lab.pod('serves')]);
  await using service = await ServiceByHand.prepare(lab, { name: 'bench-iperf', port: 5201, addresses: [serves.ip] });
  const clusterIP = await service.create();
  const [through, direct]: [number[], number[]] = [[], []];
  for (let i = 0; i < (quick ? 2 : 8); i += 1) {
    // Whoever goes second finds the machine as the first has left it: they take turns in that, too.
    for (const way of i % 2 === 0 ? [clusterIP, serves.ip] : [serves.ip, clusterIP]) {
      (way === clusterIP ? through : direct).push(await gigabits(`netloom-pod-${asks.uid}`, way));
    }
  }
  await lab.deletePods(['asks', 'serves']);
  const [ours, compared] = [new Samples(through), new Samples(direct)];
  const share = ours.median / compared.median;
  return {
    work: 'throughput through a ClusterIP against direct, pod to pod across two hosts (iperf3)',
    goal: 'at least 95 %',
    measured: `${(share * 100).toFixed(0)} %: ${ours.text(1)} against ${compared.text(1)} Gbit/s`,
    holds: share >= 0.95,
  };
}

/** Flat is what nobody would notice: it takes less than so many times as long. */
const FLAT = 1.5;

async function oneMore(lab: BenchLab, { quick }: Pick<Bench, 'quick'>): Promise<Row> {
  await using others = new AsyncDisposableStack();
  const rounds = quick ? 6 : 40;
  const fill = async (from: number, to: number): Promise<void> => {
    await lab.load.rate(to - from, async (i) => {
      const service = await ServiceByHand.prepare(lab, { name: `other-${from + i}`, port: 80, addresses: nowhere(3) });
      others.use(service);
      await service.create();
    });
    await sleep(2_000);
  };
  await fill(0, 10);
  const few = await additions(lab, rounds);
  await fill(10, 1_000);
  const many = await additions(lab, rounds);
  const ratio = many.took.median / few.took.median;
  return {
    work: '1 000 Services, one more: from the request to the kernel of a host',
    goal: `flat: at most ${FLAT} times as long as beside 10, with as many kernel operations`,
    measured: `${ratio.toFixed(2)} times: p50 ${many.took.text(1)} ms, ${many.operations} operations at most`,
    holds: ratio <= FLAT && many.operations <= few.operations,
    notes: [`beside 10: p50 ${few.took.text(1)} ms, ${few.operations} operations at most`],
  };
}

/** Services with three endpoints come, one after the other. They stay until the end: what goes would be told of, too. */
async function additions(lab: BenchLab, rounds: number): Promise<Changes> {
  await using added = new AsyncDisposableStack();
  return await measureChanges(lab, rounds, async (i, seen) => {
    const port = 4711 + i;
    const service = added.use(await ServiceByHand.prepare(lab, { name: `more-${i}`, port, addresses: nowhere(3) }));
    const told = seen(`. tcp . ${port} :`);
    const began = performance.now();
    await Promise.all([service.create(), told]);
    return performance.now() - began;
  });
}
