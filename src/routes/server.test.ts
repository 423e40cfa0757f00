import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, describe, test } from 'node:test';
import { RouteClient, type RouteClientOptions } from './client.ts';
import { helloFrame, keepaliveFrame, subscriptionFrame } from './codec.ts';
import { Route } from './route.ts';
import { RuleBook } from './rules.ts';
import { RouteServer, type RouteServerOptions } from './server.ts';
import { dialer, formatEndpoint, parseEndpoint } from './sockets.ts';
import { TestAuthority } from './testing/certificates.ts';

const running: { stop(): void | Promise<void> }[] = [];
after(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

async function serve(options: Partial<RouteServerOptions> = {}): Promise<RouteServer> {
  const server = await RouteServer.start({ listen: '[::1]:0', ...options });
  running.push(server);
  return server;
}

function client(options: RouteClientOptions): RouteClient {
  const own = new RouteClient(options);
  running.push(own);
  return own;
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const end = Date.now() + 30_000;
  while (!holds()) {
    assert.ok(Date.now() < end, `not within 30 seconds: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const many = (count: number, vni = 100): Route[] =>
  Array.from({ length: count }, (_, i) =>
    Route.parse(`${vni}#10.${i >> 16}.${(i >> 8) & 255}.${i & 255}/32#2001:db8::1`),
  );

test('a burst of 50 000 routes reaches every subscriber, and no session is lost', async () => {
  const server = await serve();
  const readers = [1, 2, 3].map(() => client({ servers: [server.address] }));
  for (const reader of readers) reader.subscribe(100);
  const host = client({ servers: [server.address] });
  for (const route of many(50_000)) host.announce(route);
  await until('all know all routes', () => readers.every(({ routeCount }) => routeCount === 50_000));
  assert.equal(server.speaker.sessionsEnded, 0);
});

test('a peer that never reads holds up nobody, and the socket holds no more than one piece for it', async () => {
  const server = await serve();
  const socket: Socket = connect(server.endpoint.port, '::1');
  socket.pause();
  socket.write(
    Buffer.concat([helloFrame({ keepaliveSeconds: 60, isServer: false, readsAnySplit: true }), keepaliveFrame()]),
  );
  socket.write(subscriptionFrame(true, 100));
  running.push({ stop: () => void socket.destroy() });
  const [host, reader] = [client({ servers: [server.address] }), client({ servers: [server.address] })];
  reader.subscribe(100);
  const routes = many(100_000);
  for (const route of routes) host.announce(route);
  await until('the reader knows all', () => reader.routeCount === routes.length);
  for (const route of routes) host.withdraw(route);
  await until('the reader has forgotten all', () => reader.routeCount === 0);
  const deaf = [...server.speaker.accepted].find(({ participant }) => participant?.pending.size === 1);
  assert.ok((deaf?.traffic.bytesSent ?? 0) < 8e6, 'what it was sent is in the buffers of the kernel');
});

test('clients keep their routes when the server is restarted, and have them all again', async () => {
  const first = await serve({ listen: '[::1]:0' });
  const address = first.address;
  const removed: string[] = [];
  const listener = { added() {}, removed: (route: Route) => removed.push(String(route)) };
  const [host, reader] = [client({ servers: [address] }), client({ servers: [address], listener })];
  reader.subscribe(100);
  for (const route of many(1000)) host.announce(route);
  await until('the reader knows all', () => reader.routeCount === 1000);
  await first.stop();
  await until('the session is lost', () => reader.servers.get(address) !== 'ESTABLISHED');
  const second = await serve({ listen: address });
  const stale = (): number =>
    [...reader.speaker.upstreams].reduce((sum, { participant }) => sum + participant.staleCount, 0);
  await until('all are confirmed', () => second.speaker.table.routeCount === 1000 && stale() === 0);
  assert.deepEqual([reader.routeCount, removed], [1000, []]);
});

test('several servers that dial each other serve hosts that know one of them', async () => {
  const one = await serve();
  const two = await serve({ servers: [one.address] });
  const three = await serve({ servers: [one.address, two.address] });
  const hosts = [one, two, three].map((server) => client({ servers: [server.address] }));
  for (const [i, host] of hosts.entries()) {
    host.subscribe(100);
    host.announce(Route.parse(`100#10.0.0.${i}/32#2001:db8::${i + 1}`));
  }
  await until('each host knows the two others', () => hosts.every(({ routeCount }) => routeCount === 2));
});

describe('with certificates', () => {
  test('only who shows one of the same authority is served, and rules go by its name', async () => {
    const authority = await TestAuthority.create();
    const rules = RuleBook.parse({
      peers: [{ name: 'host-a.example.com', vnis: [100], maxRoutes: 2 }, { name: 'host-b' }],
    });
    const server = await serve({ tls: await authority.sign('server'), rules });
    const servers = [server.address];
    const a = client({ servers, tls: await authority.sign('host-a') });
    const b = client({ servers, tls: await authority.sign('host-b') });
    const c = client({ servers, tls: await authority.sign('host-c') });
    const stranger = client({ servers, tls: await (await TestAuthority.create()).sign('host-b') });
    const plain = client({ servers });
    b.subscribe(100);
    b.subscribe(200);
    for (const text of ['100#10.0.0.1/32#::1', '200#10.0.0.1/32#::1', '100#10.0.0.2/32#::1', '100#10.0.0.3/32#::1']) {
      a.announce(Route.parse(text));
    }
    await until('what is allowed has arrived', () => b.routeCount === 2);
    const [ofA] = [...server.speaker.accepted].filter(({ wire }) => wire.names.includes('host-a'));
    await until('what is not has been counted', () => ofA?.traffic.ignored.get('too many routes') === 1);
    assert.equal(ofA?.traffic.ignored.get('VNI not allowed'), 1);
    await until('who may not connect was refused', () => server.speaker.peersRefused >= 1);
    for (const refused of [c, stranger, plain]) assert.notEqual(refused.servers.get(server.address), 'ESTABLISHED');
    assert.equal(server.speaker.accepted.size, 2);
  });
});

test('a server stops at once, whatever its connections are doing', async () => {
  const authority = await TestAuthority.create();
  const server = await RouteServer.start({ listen: '[::1]:0', tls: await authority.sign('server') });
  const silent = connect(server.endpoint.port, '::1');
  await once(silent, 'connect');
  const begin = performance.now();
  await server.stop();
  silent.destroy();
  assert.ok(performance.now() - begin < 5000, 'it does not wait for a greeting of TLS that never comes');
});

describe('addresses of servers', () => {
  const cases: [string, string | undefined][] = [
    ['[::]:4711', '[::]:4711'],
    ['[::1]:0', '[::1]:0'],
    ['127.0.0.1:4711', '127.0.0.1:4711'],
    ['routes.example.com:4711', 'routes.example.com:4711'],
    [':4711', ':4711'],
    ['::1:4711', undefined],
    ['host', undefined],
    ['host:70000', undefined],
  ];
  for (const [text, expected] of cases) {
    test(`${text}: ${expected ?? 'refused'}`, () => {
      if (expected === undefined) assert.throws(() => parseEndpoint(text), /is not an address with a port/);
      else assert.equal(formatEndpoint(parseEndpoint(text)), expected);
    });
  }

  test('a server that is not there is reported as such', async () => {
    const gone = await serve();
    const { endpoint } = gone;
    await gone.stop();
    const reason = await new Promise<string>((failed) =>
      dialer(endpoint)({ failed, opened: () => assert.fail('nobody is there') }),
    );
    assert.match(reason, /cannot be reached: .*ECONNREFUSED/);
  });
});
