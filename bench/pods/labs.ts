import type { Row } from '../shared/row.ts';
import { Samples } from '../shared/samples.ts';
import { BenchLab } from './bench-lab.ts';

/** A lab made and taken down again, each time on an engine of its own. */
export async function labs(hosts: number, rounds: number, folder: () => Promise<string>): Promise<Row> {
  const [up, down]: [number[], number[]] = [[], []];
  for (let i = 0; i < rounds; i += 1) {
    const lab = await BenchLab.up(hosts, await folder());
    up.push(lab.upIn / 1000);
    down.push((await lab.down()) / 1000);
  }
  const [made, gone] = [new Samples(up), new Samples(down)];
  return {
    work: `lab of ${hosts} hosts up and down`,
    goal: 'under 8 s and 3 s',
    measured: `${made.text(1)} s and ${gone.text(1)} s`,
    holds: made.median < 8 && gone.median < 3,
  };
}
