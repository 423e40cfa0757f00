// Our server and client with those of metalbond, either way round.
import assert from 'node:assert/strict';
import { afterEach, before, describe, test } from 'node:test';
import { RouteClient } from '../../src/routes/client.ts';
import { Route } from '../../src/routes/route.ts';
import { RouteServer } from '../../src/routes/server.ts';
import {
  buildMetalbond,
  type Metalbond,
  MetalbondProcess,
  metalbondIsMissing,
  startMetalbondServer,
} from './metalbond.ts';

let programs: Metalbond;
const skip = metalbondIsMissing();
const running: { stop(): void | Promise<void> }[] = [];

before(async () => {
  if (skip === false) programs = await buildMetalbond();
});

afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

const add = <T extends { stop(): void | Promise<void> }>(one: T): T => {
  running.push(one);
  return one;
};

async function until(what: string, holds: () => boolean): Promise<void> {
  const end = Date.now() + 100_000;
  while (!holds()) {
    assert.ok(Date.now() < end, `not within 100 seconds: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function startHost(server: string, ...options: string[]): MetalbondProcess {
  return add(new MetalbondProcess(programs.host, ['-servers', server, ...options]));
}

/** A host of metalbond whose session is there. */
async function host(server: string, ...options: string[]): Promise<MetalbondProcess> {
  const process = startHost(server, ...options);
  await until('the host is established', () => process.lines.includes(`state ${server} ESTABLISHED`));
  return process;
}

function client(...servers: string[]): { client: RouteClient; log: string[] } {
  const log: string[] = [];
  const listener = { added: (route: Route) => log.push(`+${route}`), removed: (route: Route) => log.push(`-${route}`) };
  return { client: add(new RouteClient({ servers, listener })), log };
}

/** The same routes as we write them, and as a host of metalbond reports them. */
const kinds = [
  ['100#10.0.0.1/32#2001:db8::1', '100#10.0.0.1/32#2001:db8::1#STANDARD#0#0'],
  ['100#10.0.0.5/24#2001:db8::2', '100#10.0.0.5/24#2001:db8::2#STANDARD#0#0'],
  ['100#2001:db8:1::/64#2001:db8::1#LB', '100#2001:db8:1::/64#2001:db8::1#LOADBALANCER_TARGET#0#0'],
  ['100#192.0.2.1/32#2001:db8::1#NAT#1024#40000', '100#192.0.2.1/32#2001:db8::1#NAT#1024#40000'],
  ['100#192.0.2.1/32#2001:db8::1#NAT#40001#65535', '100#192.0.2.1/32#2001:db8::1#NAT#40001#65535'],
  ['100#0.0.0.0/0#192.0.2.9', '100#0.0.0.0/0#192.0.2.9#STANDARD#0#0'],
] as const;
const ours = kinds.map(([text]) => text);
const [first = '', second = ''] = ours;
const theirs = kinds.map(([, text]) => text).sort();

describe('our server with hosts of metalbond', { skip }, () => {
  test('passes every kind of route from one to another, and withdraws it', async () => {
    const server = add(await RouteServer.start({ listen: '[::1]:0' }));
    const [one, two] = [await host(server.address), await host(server.address, '-subscribe', '100')];
    for (const route of ours) one.tell(`announce ${route}`);
    await until('all have arrived', () => two.routes.length === theirs.length);
    assert.deepEqual(two.routes, theirs);
    for (const route of ours) one.tell(`withdraw ${route}`);
    await until('all are gone', () => two.routes.length === 0);
    assert.deepEqual(server.speaker.traffic.ignored.toJSON(), {});
  });

  test('withdraws what a host had announced when the host is killed', async () => {
    const server = add(await RouteServer.start({ listen: '[::1]:0' }));
    const [one, two] = [await host(server.address), await host(server.address, '-subscribe', '100')];
    one.tell(`announce ${first}`);
    await until('it has arrived', () => two.routes.length === 1);
    await one.stop();
    await until('it is gone', () => two.routes.length === 0);
  });

  test('outlives their KEEPALIVE timeout, which it and they agree on', async () => {
    const server = add(await RouteServer.start({ listen: '[::1]:0' }));
    const one = await host(server.address, '-keepalive', '1');
    await new Promise((resolve) => setTimeout(resolve, 3500));
    assert.deepEqual(one.lines.filter((line) => line.startsWith('state')).slice(-1), [
      `state ${server.address} ESTABLISHED`,
    ]);
    assert.equal([...server.speaker.accepted][0]?.session.keepaliveSeconds, 1);
  });

  test('takes a burst of 20 000 routes of theirs, with which a server of metalbond does not converge', async () => {
    const server = add(await RouteServer.start({ listen: '[::1]:0' }));
    const one = await host(server.address);
    const { client: reader } = client(server.address);
    reader.subscribe(100);
    one.tell('burst 100 20000 0');
    await until('our client knows all', () => reader.routeCount === 20_000);
    const two = await host(server.address, '-subscribe', '100', '-quiet');
    await until('their host knows all, at its pace', () => two.count === 20_000);
    assert.equal(server.speaker.sessionsEnded, 0);
  });

  test('takes subscriptions and their end at any time', async () => {
    const server = add(await RouteServer.start({ listen: '[::1]:0' }));
    const [one, two] = [await host(server.address), await host(server.address)];
    one.tell(`announce ${first}`);
    two.tell('subscribe 100');
    await until('it has arrived', () => two.routes.length === 1);
    two.tell('unsubscribe 100');
    await until('the subscription has ended', () => [...server.speaker.interests()].length === 0);
    two.tell('subscribe 100');
    await until(
      'it has arrived again',
      () => two.lines.filter((line) => line.startsWith('+100#10.0.0.1/32')).length === 2,
    );
  });
});

describe('our client with a server of metalbond', { skip }, () => {
  test('announces and learns every kind of route, and withdraws it', async () => {
    const server = await startMetalbondServer(programs);
    add(server.process);
    const [one, two] = [client(server.address), client(server.address)];
    const theirHost = await host(server.address, '-subscribe', '100');
    two.client.subscribe(100);
    for (const route of ours) one.client.announce(Route.parse(route));
    await until('all have arrived here', () => two.client.routeCount === ours.length);
    await until('all have arrived there', () => theirHost.routes.length === ours.length);
    assert.deepEqual([...two.client.routes()].map(String).sort(), [...ours].sort());
    assert.deepEqual(theirHost.routes, theirs);
    for (const route of ours) one.client.withdraw(Route.parse(route));
    await until('all are gone', () => two.client.routeCount === 0 && theirHost.routes.length === 0);
    assert.deepEqual(
      two.log.slice().sort(),
      [...ours.map((route) => `+${route}`), ...ours.map((route) => `-${route}`)].sort(),
    );
  });

  test('announces 20 000 routes without being dropped', async () => {
    const server = await startMetalbondServer(programs);
    add(server.process);
    const [one, two] = [client(server.address), client(server.address)];
    two.client.subscribe(100);
    await until('both are there', () =>
      [one, two].every(({ client }) => client.servers.get(server.address) === 'ESTABLISHED'),
    );
    for (let i = 0; i < 20_000; i += 1)
      one.client.announce(Route.parse(`100#10.0.${i >> 8}.${i & 255}/32#2001:db8::1`));
    await until('all have arrived', () => two.client.routeCount === 20_000);
    assert.equal(one.client.speaker.sessionsEnded, 0);
  });

  test('is there again after a restart of the server, and has lost nothing', async () => {
    const { address, process: server } = await startMetalbondServer(programs);
    const [one, two] = [client(address), client(address)];
    two.client.subscribe(100);
    for (const route of ours) one.client.announce(Route.parse(route));
    await until('all have arrived', () => two.client.routeCount === ours.length);
    await server.stop();
    await until('the sessions are lost', () =>
      [one, two].every(({ client }) => client.servers.get(address) !== 'ESTABLISHED'),
    );
    const second = add(new MetalbondProcess(programs.server, ['server', '--listen', address]));
    const stale = (): number =>
      [...two.client.speaker.upstreams].reduce((sum, { participant }) => sum + participant.staleCount, 0);
    await until('all have been repeated', () => stale() === 0 && two.client.servers.get(address) === 'ESTABLISHED');
    assert.equal(two.log.length, ours.length, second.errors.join('\n'));
  });

  test('leaves and enters a virtual network, and announces again what the server has dropped with it', async () => {
    const server = await startMetalbondServer(programs);
    add(server.process);
    const [one, two] = [client(server.address), client(server.address)];
    one.client.subscribe(100);
    two.client.subscribe(100);
    one.client.announce(Route.parse(first));
    two.client.announce(Route.parse(second));
    // Theirs takes subscriptions, their end and routes from queues of their own: only who was served is surely subscribed.
    await until('both have arrived', () => [one, two].every(({ client }) => client.routeCount === 1));
    one.client.unsubscribe(100);
    // Whoever hears of the end and of the new beginning in one breath reports neither, so the server is asked.
    const heard = (what: RegExp): number => server.process.errors.filter((line) => what.test(line)).length;
    await until('the server has dropped it', () => heard(/Removed Received Route: VNI 100, Prefix: 10\.0\.0\.1/) === 1);
    await until('it is there again', () => heard(/"Received Route: VNI 100, Prefix: 10\.0\.0\.1/) === 2);
    await until('the other one has it', () => two.client.routeCount === 1);
  });
});

test('hosts of both kinds that know a server of both kinds know each other', { skip }, async () => {
  const ourServer = add(await RouteServer.start({ listen: '[::1]:0' }));
  const theirServer = await startMetalbondServer(programs);
  add(theirServer.process);
  const both = [ourServer.address, theirServer.address];
  const { client: ourHost, log } = client(...both);
  const theirHost = startHost(both.join(','), '-subscribe', '100');
  await until('their host is established twice', () =>
    both.every((server) => theirHost.lines.includes(`state ${server} ESTABLISHED`)),
  );
  ourHost.subscribe(100);
  ourHost.announce(Route.parse('100#10.0.0.1/32#2001:db8::1'));
  theirHost.tell('announce 100#10.0.0.2/32#2001:db8::2');
  await until('we know theirs', () => ourHost.routeCount === 1);
  await until(
    'they know ours, from both',
    () => theirHost.lines.filter((line) => line.startsWith('+100#10.0.0.1/32')).length === 2,
  );
  await ourServer.stop();
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.deepEqual(log, ['+100#10.0.0.2/32#2001:db8::2'], 'told once, and not withdrawn while one server has it');
});
