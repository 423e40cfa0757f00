// A process of the bench: one or many hosts of ours, told over IPC what to do. Started by bench/routes/index.ts.
import { RouteClient } from '../../src/routes/client.ts';
import { Route } from '../../src/routes/route.ts';

export type Order =
  | { order: 'connect'; server: string; hosts: number; subscribe: readonly number[] }
  /** Host i announces `count` routes in VNI `firstVni + i`; with `perMillisecond`, so many and then a pause. */
  | { order: 'announce'; firstVni: number; count: number; perMillisecond?: number }
  /** Answers when every host knows so many routes of others, or however many, and nothing is stale. */
  | { order: 'await'; routes: number | undefined }
  | { order: 'await loss' }
  | { order: 'report' };

/** `at` is in milliseconds since 1970, with fractions. */
export interface Answer {
  readonly at: number;
  readonly removed: number;
  readonly sessionsLost: number;
}

const hosts: RouteClient[] = [];
let removed = 0;

process.on('message', async (order: Order) => {
  const answer = await obey(order);
  process.send?.({
    ...answer,
    removed,
    sessionsLost: hosts.reduce((sum, { speaker }) => sum + speaker.sessionsEnded, 0),
  });
});

async function obey(order: Order): Promise<{ at: number }> {
  if (order.order === 'announce') return { at: await announce(order) };
  if (order.order === 'connect') await connect(order);
  else if (order.order === 'await') await until(() => hosts.every((host) => isComplete(host, order.routes)));
  else if (order.order === 'await loss') await until(() => hosts.every((host) => !isEstablished(host)));
  return { at: now() };
}

const now = (): number => performance.timeOrigin + performance.now();

async function connect({ server, hosts: count, subscribe }: Extract<Order, { order: 'connect' }>): Promise<void> {
  const listener = {
    added() {},
    removed() {
      removed += 1;
    },
  };
  for (let i = 0; i < count; i += 1) {
    // A listener makes an object of every route; with a hundred hosts in one process only their tables are wanted.
    const host = new RouteClient({
      servers: [server],
      ...(count === 1 ? { listener } : {}),
    });
    for (const vni of subscribe) host.subscribe(vni);
    hosts.push(host);
  }
  await until(() => hosts.every(isEstablished));
}

const isEstablished = (host: RouteClient): boolean =>
  [...host.servers.values()].every((state) => state === 'ESTABLISHED');

const isComplete = (host: RouteClient, routes: number | undefined): boolean =>
  isEstablished(host) && stale(host) === 0 && (routes === undefined || host.routeCount === routes);

const stale = (host: RouteClient): number =>
  [...host.speaker.upstreams].reduce((sum, { participant }) => sum + participant.staleCount, 0);

/** Returns when the first route was announced. */
async function announce({ firstVni, count, perMillisecond }: Extract<Order, { order: 'announce' }>): Promise<number> {
  const routes = hosts.map((_, i) =>
    Array.from({ length: count }, (_, j) =>
      Route.parse(`${firstVni + i}#10.${j >> 16}.${(j >> 8) & 255}.${j & 255}/32#2001:db8::${i + 1}`),
    ),
  );
  const begin = now();
  for (const [i, host] of hosts.entries()) {
    for (const [j, route] of (routes[i] ?? []).entries()) {
      host.announce(route);
      if (perMillisecond !== undefined && j % perMillisecond === perMillisecond - 1) await pause(1);
    }
  }
  return begin;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(5);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
