import type { Row } from '../shared/row.ts';
import { Samples } from '../shared/samples.ts';
import { Sightings } from '../shared/watch.ts';
import { type BenchLab, PODS } from './bench-lab.ts';
import { quickest } from './quickest.ts';

export const STAY = ['sleep', 'infinity'];

const isRunning = (line: string): boolean => line.includes('"phase":"Running"');

/** One pod after the other on a host where nothing else happens, from create to Running as a watcher sees it. */
export async function oneByOne(lab: BenchLab, count: number): Promise<Row> {
  const [host = ''] = lab.hosts;
  const running = await Sightings.open(lab.netloom.kubeconfig, PODS, isRunning);
  const took: number[] = [];
  const bare: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const name = `one-${i}`;
    const began = performance.now();
    await lab.createPod(name, host, STAY);
    await running.of(name);
    took.push(performance.now() - began);
    await lab.deletePods([name]);
    bare.push(await quickest());
  }
  running.close();
  const [samples, compared] = [new Samples(took), new Samples(bare)];
  return {
    work: `pod create to Running, one host, ${count} one after the other`,
    goal: 'p50 under 250 ms',
    measured: `p50 ${samples.text()} ms`,
    holds: samples.median < 250,
    notes: [
      `${(samples.median / compared.median).toFixed(1)} times as long as unshare(1) takes for a process in namespaces of its own: ${compared.text()} ms`,
    ],
  };
}

/** Many at once. They stay. */
export async function manyAtOnce(lab: BenchLab, count: number): Promise<{ row: Row; names: string[] }> {
  const [host = ''] = lab.hosts;
  const running = await Sightings.open(lab.netloom.kubeconfig, PODS, isRunning);
  const names = Array.from({ length: count }, (_, i) => `many-${i}`);
  const began = performance.now();
  await Promise.all(names.map((name) => lab.createPod(name, host, STAY)));
  await Promise.all(names.map((name) => running.of(name)));
  const seconds = (performance.now() - began) / 1000;
  running.close();
  const row = {
    work: `${count} pods at once on one host`,
    goal: 'under 10 s',
    measured: `${seconds.toFixed(1)} s, ${((seconds * 1000) / count).toFixed(0)} ms a pod`,
    holds: seconds < 10,
  };
  return { row, names };
}
