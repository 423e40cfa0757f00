import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Row } from '../shared/row.ts';
import { Samples } from '../shared/samples.ts';
import { Sightings } from '../shared/watch.ts';
import { type BenchLab, PODS, run } from './bench-lab.ts';
import { PlainPath } from './plain-path.ts';

const SECONDS = 2;

/** From a pod to a pod on another host, by turns with a path of the same shape that has nothing of Netloom on it. */
export async function traffic(lab: BenchLab, rounds: number): Promise<Row> {
  const [here = '', there = ''] = lab.hosts;
  const running = await Sightings.open(lab.netloom.kubeconfig, PODS, (line) => line.includes('"phase":"Running"'));
  await lab.createPod('asks', here, ['sleep', 'infinity']);
  await lab.createPod('serves', there, ['iperf3', '--server']);
  await Promise.all(['asks', 'serves'].map((name) => running.of(name)));
  running.close();
  const [asks, serves] = await Promise.all([lab.pod('asks'), lab.pod('serves')]);
  await using plain = await PlainPath.make();
  const pods: Transfer[] = [];
  const wires: Transfer[] = [];
  const ways = [
    async () => pods.push(await transfer(`netloom-pod-${asks.uid}`, serves.ip)),
    async () => wires.push(await transfer(plain.client, plain.server)),
  ];
  for (let i = 0; i < rounds; i += 1) {
    // Whoever goes second finds the machine as the first has left it: they take turns in that, too.
    for (const measure of i % 2 === 0 ? ways : ways.toReversed()) await measure();
  }
  await lab.deletePods(['asks', 'serves']);
  const [ours, compared] = [pods, wires].map((each) => new Samples(each.map(({ rate }) => rate)));
  // By turns, so that each is beside the other one: what else the machine does is in both.
  const ratio = (of: keyof Transfer): number =>
    new Samples(pods.map((pod, i) => pod[of] / (wires[i]?.[of] ?? pod[of]))).median;
  const share = ratio('rate');
  return {
    work: 'pod to pod across two hosts against plain routed veth (iperf3)',
    goal: 'at least 95 %',
    measured: `${(share * 100).toFixed(0)} %: ${ours?.text(1)} against ${compared?.text(1)} Gbit/s`,
    holds: share >= 0.95,
    notes: [`each byte takes ${ratio('effort').toFixed(2)} times the processor time, whatever else the machine does`],
  };
}

interface Transfer {
  /** Gbit/s */
  readonly rate: number;
  /** Of both ends, and of all that the kernel does for them on the way: seconds of a processor for a gigabyte. */
  readonly effort: number;
}

/**
 * What a sender in a network namespace gets through to a server, which may still be starting. It sends as much as is taken: what some kernels are
 * set to (BBR) sends as much as it believes in, which changes from run to run and is not what is measured.
 */
async function transfer(namespace: string, server: string): Promise<Transfer> {
  const words = [
    `--net=/run/netns/${namespace}`,
    'iperf3',
    '--client',
    server,
    '--congestion',
    'reno',
    '--time',
    `${SECONDS}`,
    '--json',
  ];
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { end } = JSON.parse(await run('nsenter', words));
      const { bytes, bits_per_second: rate, seconds } = end.sum_received;
      const { host_total: here, remote_total: there } = end.cpu_utilization_percent;
      return { rate: rate / 1e9, effort: (((here + there) / 100) * seconds) / (bytes / 1e9) };
    } catch (error) {
      if (attempt === 20) throw error;
      await sleep(100);
    }
  }
}

export const gigabits = async (namespace: string, server: string): Promise<number> =>
  (await transfer(namespace, server)).rate;

/** A server in a network namespace, until its end is awaited. */
export function serve(namespace: string): AsyncDisposable {
  const child = spawn('nsenter', [`--net=/run/netns/${namespace}`, 'iperf3', '--server'], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
