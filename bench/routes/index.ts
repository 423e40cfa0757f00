/**
 * What routes cost, over loopback, from the first announcement to the last delivery: our server and hosts, and those of
 * metalbond beside them in the same run. Run by `npm run bench:routes`, with the names of some works to run only those.
 */
import { type BenchServer, cost, Hosts, patience, startOurServer, startTheirServer, theirHost } from './processes.ts';

const works: Record<string, () => Promise<void>> = { burst, million, hundred, paced, restart };

// Once before: Node.js then has compiled the program, as on every host after the first start.
await (await startOurServer()).end();

const hundredVnis = Array.from({ length: 100 }, (_, i) => 100 + i);
const chosen = process.argv.slice(2);
for (const [name, work] of Object.entries(works)) if (chosen.length === 0 || chosen.includes(name)) await work();
process.exit();

interface Result {
  readonly seconds: number;
  /** Of the server. */
  readonly cpu: number;
  readonly memory: number;
  readonly sessionsLost: number;
}

function show(name: string, { seconds, cpu, memory, sessionsLost }: Result, goal?: boolean): void {
  const time = Number.isFinite(seconds) ? `${seconds.toFixed(2)} s` : 'not converged';
  const verdict = goal === undefined ? '' : goal ? '  goal met' : '  GOAL MISSED';
  console.log(
    `  ${name.padEnd(46)} ${time.padStart(14)}  server ${cpu.toFixed(2)} s CPU ${memory.toFixed(0).padStart(4)} MB  ${sessionsLost} sessions lost${verdict}`,
  );
}

async function burst(): Promise<void> {
  console.log('burst: 100 000 routes at once, 1 announcer, 1 subscriber; goal: every time, under 1.5 s');
  for (let run = 1; run <= 5; run += 1) {
    const result = await oneToOne({ count: 100_000 });
    show(`ours, run ${run}`, result, result.seconds < 1.5);
  }
  const theirs = await theirOneToOne(await startTheirServer(), {
    count: 10_000,
    perMillisecond: 0,
    patienceSeconds: 20,
  });
  show('metalbond, a tenth of that, within 20 s', theirs);
}

async function million(): Promise<void> {
  console.log('million: 1 000 000 routes at once, 1 announcer, 1 subscriber; goal: converges, server under 1024 MB');
  const result = await oneToOne({ count: 1_000_000 });
  show('ours', result, result.memory < 1024);
}

async function hundred(): Promise<void> {
  console.log(
    'hundred: 100 hosts (in one process), 1000 routes of each in a VNI of its own, each wants all; goal: under 20 s, no session lost',
  );
  const server = await startOurServer();
  const hosts = new Hosts();
  await hosts.tell({ order: 'connect', server: server.address, hosts: 100, subscribe: hundredVnis });
  const begin = await hosts.tell({ order: 'announce', firstVni: 100, count: 1000 });
  const { at, sessionsLost } = await hosts.tell({ order: 'await', routes: 99_000 });
  const result = { seconds: (at - begin.at) / 1000, ...cost(server.pid), sessionsLost };
  show('ours, 9 900 000 deliveries', result, result.seconds < 20 && sessionsLost === 0);
  await stop(hosts, server);
}

async function paced(): Promise<void> {
  console.log(
    'paced: 100 000 routes, 20 and then a pause of 1 ms; goal: not more CPU and at most half the memory of their server',
  );
  const ours = await oneToOne({ count: 100_000, perMillisecond: 20 });
  const mixed = await theirAnnouncer({ count: 100_000, perMillisecond: 20 });
  const spared = await theirOneToOne(await startOurServer(), {
    count: 100_000,
    perMillisecond: 20,
    patienceSeconds: 120,
  });
  const theirs = await theirOneToOne(await startTheirServer(), {
    count: 100_000,
    perMillisecond: 20,
    patienceSeconds: 120,
  });
  const meets = ({ cpu, memory }: Result): boolean => cpu <= theirs.cpu && memory * 2 <= theirs.memory;
  show('their server, their hosts', theirs);
  show('our server, our hosts', ours, meets(ours));
  show('our server, their announcer, our subscriber', mixed, meets(mixed));
  show('our server, their hosts, at the pace they stand', spared, meets(spared));
  console.log(
    `  ratio of our server to theirs: CPU ${(ours.cpu / theirs.cpu).toFixed(2)}, memory ${(ours.memory / theirs.memory).toFixed(2)}`,
  );
}

async function restart(): Promise<void> {
  console.log(
    'restart: the server is killed and started again, 100 hosts, 100 000 routes; goal: complete in 5 s, nothing withdrawn',
  );
  await restartOf('99 hosts want one VNI, one wants all', { ofMany: [100] });
  // Ten million routes to repeat, and both cores of a small machine busy with it: no goal, to know where it ends.
  await restartOf('all 100 hosts want all', { ofMany: hundredVnis, hasGoal: false });
}

async function restartOf(
  name: string,
  { ofMany, hasGoal = true }: { ofMany: readonly number[]; hasGoal?: boolean },
): Promise<void> {
  const first = await startOurServer();
  const [many, one] = [new Hosts(), new Hosts()];
  await one.tell({ order: 'connect', server: first.address, hosts: 1, subscribe: hundredVnis });
  await many.tell({ order: 'connect', server: first.address, hosts: 99, subscribe: ofMany });
  await many.tell({ order: 'announce', firstVni: 100, count: 1000 });
  await one.tell({ order: 'announce', firstVni: 199, count: 1000 });
  const complete = async () => {
    const all = [
      one.tell({ order: 'await', routes: 99_000 }),
      many.tell({ order: 'await', routes: ofMany.length === 1 ? undefined : 99_000 }),
    ];
    return Promise.all(all);
  };
  await complete();
  await first.stop();
  await Promise.all([one.tell({ order: 'await loss' }), many.tell({ order: 'await loss' })]);
  const second = await startOurServer(first.address);
  const begin = performance.timeOrigin + performance.now();
  const answers = await complete();
  const seconds = (Math.max(...answers.map(({ at }) => at)) - begin) / 1000;
  const removed = answers.reduce((sum, answer) => sum + answer.removed, 0);
  const result = { seconds, ...cost(second.pid), sessionsLost: 0 };
  show(`${name}; ${removed} withdrawn`, result, hasGoal ? seconds < 5 && removed === 0 : undefined);
  await stop(many, one, second);
}

interface Load {
  readonly count: number;
  readonly perMillisecond?: number;
}

async function oneToOne({ count, perMillisecond }: Load): Promise<Result> {
  const server = await startOurServer();
  const [announcer, subscriber] = [new Hosts(), new Hosts()];
  await announcer.tell({ order: 'connect', server: server.address, hosts: 1, subscribe: [] });
  await subscriber.tell({ order: 'connect', server: server.address, hosts: 1, subscribe: [100] });
  const idle = cost(server.pid);
  const end = subscriber.tell({ order: 'await', routes: count });
  const begin = await announcer.tell({
    order: 'announce',
    firstVni: 100,
    count,
    ...(perMillisecond === undefined ? {} : { perMillisecond }),
  });
  const { at, sessionsLost } = await end;
  const { cpu, memory } = cost(server.pid);
  await stop(announcer, subscriber, server);
  return { seconds: (at - begin.at) / 1000, cpu: cpu - idle.cpu, memory, sessionsLost };
}

async function theirAnnouncer({ count, perMillisecond = 0 }: Load): Promise<Result> {
  const server = await startOurServer();
  const subscriber = new Hosts();
  await subscriber.tell({ order: 'connect', server: server.address, hosts: 1, subscribe: [100] });
  const announcer = await theirHost(server.address);
  const idle = cost(server.pid);
  const begin = performance.timeOrigin + performance.now();
  announcer.tell(`burst 100 ${count} ${perMillisecond}`);
  const { at, sessionsLost } = await subscriber.tell({ order: 'await', routes: count });
  const { cpu, memory } = cost(server.pid);
  await stop(announcer, subscriber, server);
  return { seconds: (at - begin) / 1000, cpu: cpu - idle.cpu, memory, sessionsLost };
}

/** An announcer and a subscriber of metalbond at either server. */
async function theirOneToOne(
  server: BenchServer,
  { count, perMillisecond = 0, patienceSeconds }: Load & { patienceSeconds: number },
): Promise<Result> {
  const [announcer, subscriber] = [
    await theirHost(server.address),
    await theirHost(server.address, '-subscribe', '100'),
  ];
  const idle = cost(server.pid);
  const begin = performance.now();
  announcer.tell(`burst 100 ${count} ${perMillisecond}`);
  const converged = await patience(() => subscriber.count === count, patienceSeconds * 1000);
  const seconds = converged ? (performance.now() - begin) / 1000 : Number.POSITIVE_INFINITY;
  const { cpu, memory } = cost(server.pid);
  const isLoss = (line: string): boolean => line.startsWith('state') && !line.endsWith('ESTABLISHED');
  const established = (line: string): boolean => line.endsWith('ESTABLISHED');
  const lost = [announcer, subscriber].map(({ lines }) => lines.slice(lines.findIndex(established)).some(isLoss));
  await stop(announcer, subscriber, server);
  return { seconds, cpu: cpu - idle.cpu, memory, sessionsLost: lost.filter(Boolean).length };
}

async function stop(...all: readonly { stop(): Promise<void> }[]): Promise<void> {
  for (const one of all) await one.stop();
}
