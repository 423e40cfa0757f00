import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RouteClient } from './client.ts';
import type { PeerKind } from './link.ts';
import { Route } from './route.ts';
import { Speaker } from './speaker.ts';
import { Simulation } from './testing/simulation.ts';

const seeds = process.env['NETLOOM_SOAK'] === '1' ? 20_000 : 700;

const patience = { keepLostSeconds: 20, settleSeconds: 5 };

const universe = [1, 2].flatMap((vni) =>
  ['10.0.0.1/32', '10.0.0.2/32', '2001:db8:1::/48'].flatMap((prefix) =>
    ['2001:db8::1', '2001:db8::2', '2001:db8::2#NAT#1024#2047'].map((hop) => Route.parse(`${vni}#${prefix}#${hop}`)),
  ),
);

/** A host: what it wants and says is written down beside what its client makes of it. */
class Host {
  readonly client: RouteClient;
  readonly says = new Set<string>();
  readonly wants = new Set<number>();
  /** What the listener was told. */
  readonly mirror = new Set<string>();
  readonly #pick: (bound: number) => number;

  constructor(network: Simulation, servers: string[], kind: PeerKind) {
    this.#pick = (bound) => network.pick(bound);
    this.client = new RouteClient({
      surroundings: network,
      kind,
      keepaliveSeconds: 1 + network.pick(5),
      patience,
      listener: {
        added: (route) => {
          assert.ok(!this.mirror.has(String(route)), `added twice: ${route}`);
          this.mirror.add(String(route));
        },
        removed: (route) => assert.ok(this.mirror.delete(String(route)), `removed, but it was not there: ${route}`),
      },
    });
    for (const server of servers) this.client.connect(server, network.dialer(server));
  }

  act(): void {
    const route = universe[this.#pick(universe.length)] ?? Route.parse('1#::/0#::1');
    const vni = 1 + this.#pick(2);
    const text = String(route);
    const action = this.#pick(10);
    if (action < 4) {
      assert.equal(this.client.announce(route), !this.says.has(text));
      this.says.add(text);
    } else if (action < 7) assert.equal(this.client.withdraw(route), this.says.delete(text));
    else if (action < 9) {
      assert.equal(this.client.subscribe(vni), !this.wants.has(vni));
      this.wants.add(vni);
    } else assert.equal(this.client.unsubscribe(vni), this.wants.delete(vni));
  }

  expected(all: readonly Host[]): string[] {
    const routes = new Set(all.filter((host) => host !== this).flatMap((host) => [...host.says]));
    return [...routes].filter((route) => this.wants.has(Number.parseInt(route, 10)) && !this.says.has(route)).sort();
  }
}

/** One to three servers, all of which dial all others, and some hosts. */
class World {
  readonly network: Simulation;
  readonly addresses: string[];
  readonly servers = new Map<string, Speaker>();
  hosts: Host[];

  constructor(seed: number) {
    this.network = new Simulation(seed);
    const { network } = this;
    this.addresses = ['s1', 's2', 's3'].slice(0, 1 + network.pick(3));
    for (const address of this.addresses) this.startServer(address);
    this.hosts = Array.from({ length: 2 + network.pick(3) }, () => this.#newHost());
  }

  startServer(address: string): void {
    const { network } = this;
    const speaker = new Speaker({
      surroundings: network,
      isServer: true,
      patience,
    });
    network.listen(address, (wire) => speaker.accept(wire));
    for (const other of this.addresses) if (other !== address) speaker.connect(other, network.dialer(other));
    this.servers.set(address, speaker);
  }

  stopServer(address: string): void {
    this.network.unlisten(address);
    this.servers.get(address)?.stop();
    this.servers.delete(address);
  }

  #newHost(): Host {
    const { network, addresses } = this;
    const some = addresses.filter(() => network.pick(3) > 0);
    const kind: PeerKind = network.pick(3) === 0 ? 'metalbond' : 'auto';
    return new Host(network, some.length > 0 ? some : addresses, kind);
  }

  step(): void {
    const { network } = this;
    const action = network.pick(60);
    const address = this.addresses[network.pick(this.addresses.length)] ?? 's1';
    if (action === 0) network.breakOne();
    else if (action === 1) this.stopServer(address);
    else if (action <= 3 && !this.servers.has(address)) this.startServer(address);
    else if (action === 4) this.#replaceHost();
    else if (action === 5) network.pass(network.pick(10_000));
    else if (action < 20) network.pass(network.pick(30));
    else this.hosts[network.pick(this.hosts.length)]?.act();
  }

  #replaceHost(): void {
    const leaving = this.network.pick(this.hosts.length);
    this.hosts[leaving]?.client.stop();
    this.hosts[leaving] = this.#newHost();
  }

  /** All servers are there again, and everybody has the time that it takes. */
  settle(): void {
    for (const address of this.addresses) if (!this.servers.has(address)) this.startServer(address);
    this.network.pass(60_000);
  }

  stop(): void {
    for (const host of this.hosts) host.client.stop();
    for (const address of this.addresses) this.stopServer(address);
    this.network.pass(100);
  }
}

describe('hosts and servers that come, go, break and talk in any order', () => {
  test(`know in the end what was announced and nothing else (${seeds} seeds)`, () => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const world = new World(seed);
      for (let i = 0; i < 80; i += 1) world.step();
      world.settle();
      for (const [i, host] of world.hosts.entries()) {
        const known = [...host.client.routes()].map(String).sort();
        assert.deepEqual(known, host.expected(world.hosts), `seed ${seed}, host ${i}`);
        assert.deepEqual([...host.mirror].sort(), known, `seed ${seed}, listener of host ${i}`);
      }
      world.stop();
      assert.equal(world.network.planned, 0, `seed ${seed}: a timer is left`);
    }
  });
});
