import { Load } from '../shared/load.ts';
import { Netloom } from '../shared/netloom.ts';
import type { Row } from '../shared/row.ts';
import { Samples } from '../shared/samples.ts';
import { Sightings, Watch } from '../shared/watch.ts';
import { createIPSet, IPSETS, isReady, NETCONFIGS, revision } from './world.ts';

interface Restart {
  /** Seconds from the start of the process until an IPSet that was created meanwhile is Ready. */
  readonly serving: number;
  readonly writes: number;
  readonly memory: number;
}

/** Controllers that start among many IPSets: beside the engine in one process, and by themselves over HTTPS. */
export async function restart(existing: number, directory: string, times: number): Promise<Row> {
  const together: Restart[] = [];
  const alone: Restart[] = [];
  for (let i = 0; i < times; i += 1) {
    const began = performance.now();
    const up = await Netloom.serve('up', directory);
    together.push(await result(up, up, `together-${i}`, began));
    await up.stop();
    const engine = await Netloom.serve('engine', directory);
    const start = performance.now();
    const controllers = await Netloom.controllers(engine.kubeconfig);
    alone.push(await result(engine, controllers, `alone-${i}`, start));
    await controllers.stop();
    await engine.stop();
  }
  const serving = (restarts: readonly Restart[]) => new Samples(restarts.map((one) => one.serving));
  const written = Math.max(...[...together, ...alone].map(({ writes }) => writes));
  return {
    work: `controllers restart with ${existing} IPSets`,
    goal: 'no write, serving within 5 s',
    measured: `${written} writes; a new IPSet is Ready ${serving(alone).text(1)} s after controllers were started, ${serving(together).text(1)} s after \`netloom up\` with its engine was`,
    holds: written === 0 && serving(alone).median <= 5 && serving(together).median <= 5,
    notes: [
      `memory: controllers ${new Samples(alone.map(({ memory }) => memory)).text()} MiB, all in one process ${new Samples(together.map(({ memory }) => memory)).text()} MiB`,
    ],
  };
}

async function result(server: Netloom, controllers: Netloom, name: string, began: number): Promise<Restart> {
  const load = await Load.open(server.kubeconfig, 1);
  const ready = await Sightings.open(server.kubeconfig, IPSETS, isReady);
  let counts = 0;
  const counted = await Watch.open(server.kubeconfig, NETCONFIGS, () => {
    counts += 1;
  });
  const before = await revision(load);
  await createIPSet(load, name);
  await ready.of(name);
  const serving = (performance.now() - began) / 1000;
  // Whatever they have to say about the others they say now.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const total = (await revision(load)) - before - counts;
  const { memory } = controllers.cost;
  counted.close();
  ready.close();
  load.close();
  return { serving, writes: Math.max(0, total - WRITES_OF_ONE), memory };
}

/** The IPSet, five AddressBlocks, the Reservation and the status. How full the networks are now is told once a second, so perhaps twice. */
const WRITES_OF_ONE = 8;
