import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { Script } from 'node:vm';
import { parse } from 'yaml';
import { readMetrics } from '../runtime/metrics.fixture.ts';
import { RouteClient } from './client.ts';
import { RouteView } from './http.ts';
import { Route } from './route.ts';
import { RouteServer } from './server.ts';

let server: RouteServer;
let view: RouteView;
let host: RouteClient;
let reader: RouteClient;

const get = async (path: string): Promise<string> => (await fetch(view.url + path)).text();
const json = async (path: string) => JSON.parse(await get(path));

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 20_000;
  while (!(await holds())) {
    assert.ok(Date.now() < end, `not within 20 seconds: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

before(async () => {
  server = await RouteServer.start({ listen: '[::1]:0' });
  view = await RouteView.start(server.speaker, { host: '::1', port: 0 });
  host = new RouteClient({ servers: [server.address] });
  reader = new RouteClient({ servers: [server.address] });
  reader.subscribe(100);
  for (const text of [
    '100#10.0.0.10/32#2001:db8::2',
    '100#10.0.0.9/32#2001:db8::1',
    '100#10.0.0.9/32#2001:db8::2#NAT#1024#2047',
  ]) {
    host.announce(Route.parse(text));
  }
  host.announce(Route.parse('7#2001:db8:1::/64#2001:db8::1#LB'));
  await until('the reader knows three routes', () => reader.routeCount === 3);
});

after(async () => {
  host.stop();
  reader.stop();
  await view.stop();
  await server.stop();
});

describe('/routes.json', () => {
  test('has the shape of metalbond, sorted, and says in addition who announced what', async () => {
    const { vnet, date, metalbondVersion } = await json('routes.json');
    assert.match(date, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    assert.equal(typeof metalbondVersion, 'string');
    assert.deepEqual(Object.keys(vnet), ['7', '100']);
    const keys = Object.keys(vnet['100']);
    assert.deepEqual(keys, ['{"IPVersion":4,"Prefix":"10.0.0.9/32"}', '{"IPVersion":4,"Prefix":"10.0.0.10/32"}']);
    const [standard, nat] = vnet['100'][keys[0] ?? ''];
    const [announcer] = standard.AnnouncedBy;
    assert.match(announcer, /^\[::1\]:\d+$/);
    const common = { TargetVNI: 0, AnnouncedBy: [announcer] };
    assert.deepEqual(standard, {
      TargetAddress: '2001:db8::1',
      Type: 0,
      NATPortRangeFrom: 0,
      NATPortRangeTo: 0,
      ...common,
    });
    assert.deepEqual(nat, {
      TargetAddress: '2001:db8::2',
      Type: 1,
      NATPortRangeFrom: 1024,
      NATPortRangeTo: 2047,
      ...common,
    });
  });

  test('can be asked for one virtual network, a prefix, and a number of destinations', async () => {
    assert.deepEqual(Object.keys((await json('routes.json?vni=7')).vnet), ['7']);
    assert.deepEqual((await json('routes.json?vni=8')).vnet, {});
    const found = async (query: string) =>
      Object.keys((await json(`routes.json?vni=100&${query}`)).vnet['100']).map((key) => JSON.parse(key).Prefix);
    assert.deepEqual(await found('prefix=10.0.0.1'), ['10.0.0.10/32']);
    assert.deepEqual(await found('limit=1'), ['10.0.0.9/32']);
    assert.equal((await fetch(`${view.url}routes.json?vni=x`)).status, 400);
  });
});

test('/routes.yaml has the same content with the names in lower case', async () => {
  const { vnet } = parse(await get('routes.yaml?vni=7'));
  const [hop] = vnet[7]['{"IPVersion":6,"Prefix":"2001:db8:1::/64"}'];
  assert.deepEqual([hop.targetaddress, hop.type, hop.natportrangefrom], ['2001:db8::1', 2, 0]);
  assert.deepEqual(parse(await get('routes.yaml?vni=8')).vnet, {});
});

test('/peers.json says who is there, what it has announced, and what it was told', async () => {
  const { peers } = await json('peers.json');
  assert.equal(peers.length, 2);
  const [one, two] = peers;
  assert.deepEqual(
    [one.state, one.direction, one.routesAnnounced, one.connection.kind],
    ['ESTABLISHED', 'incoming', 4, 'netloom'],
  );
  assert.deepEqual([two.subscriptions, two.routesTold, two.upToDate], [[100], 3, true]);
});

test('/metrics is what Prometheus reads', async () => {
  const text = await get('metrics');
  for (const line of [
    'netloom_routes_peers{direction="incoming",state="ESTABLISHED"} 2',
    'netloom_routes_routes{vni="100"} 3',
    'netloom_routes_updates_received_total{action="add"} 4',
    'netloom_routes_updates_sent_total{action="add"} 3',
    'netloom_routes_networks_changing 0',
  ]) {
    assert.ok(text.split('\n').includes(line), `${line}\n${text}`);
  }
  assert.match(text, /netloom_routes_convergence_seconds_bucket\{le="\+Inf"\} [1-9]/);
  assert.ok(readMetrics(text).size > 20);
});

test('/events tells of every change', async () => {
  const abort = new AbortController();
  const response = await fetch(`${view.url}events`, { signal: abort.signal });
  const seen: string[] = [];
  const reading = (async () => {
    for await (const piece of response.body ?? []) seen.push(Buffer.from(piece).toString());
  })().catch(() => {});
  await until('a first event', () => seen.join('').includes('"routes":4'));
  const extra = Route.parse('100#10.9.9.9/32#2001:db8::1');
  host.announce(extra);
  await until('an event about the new route', () => seen.join('').includes('"routes":5'));
  host.withdraw(extra);
  await until(
    'an event about its end',
    () => seen.join('').lastIndexOf('"routes":4') > seen.join('').lastIndexOf('"routes":5'),
  );
  abort.abort();
  await reading;
});

test('the page may run nothing but what it brings along', async () => {
  const response = await fetch(view.url);
  assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  const text = await response.text();
  assert.match(text, /<title>Netloom routes<\/title>/);
  const script = /<script>([\s\S]*)<\/script>/.exec(text)?.[1] ?? '';
  assert.ok(
    response.headers.get('content-security-policy')?.includes(createHash('sha256').update(script).digest('base64')),
  );
  assert.doesNotThrow(() => new Script(script));
});

test('nothing can be changed, and other paths are not there', async () => {
  assert.equal((await fetch(`${view.url}routes.json`, { method: 'POST' })).status, 405);
  assert.equal((await fetch(`${view.url}../etc/passwd`)).status, 404);
});
