import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { RouteClient } from './client.ts';
import { helloFrame, keepaliveFrame, longestFrame, subscriptionFrame, writeUpdate } from './codec.ts';
import { writeHeader } from './frames.ts';
import { Route, routeWords } from './route.ts';
import { PeerRules, RuleBook } from './rules.ts';
import { Speaker } from './speaker.ts';
import { Simulation } from './testing/simulation.ts';

const seeds = process.env['NETLOOM_SOAK'] === '1' ? 50_000 : 1000;

/** Says anything: valid frames, valid frames with wrong bytes, frames of noise, noise. */
class Babbler {
  readonly #chance: Simulation;

  constructor(chance: Simulation) {
    this.#chance = chance;
  }

  speech(): Uint8Array {
    const sentences = [
      helloFrame({ keepaliveSeconds: 5, isServer: this.#one(4), readsAnySplit: this.#one(2) }),
      keepaliveFrame(),
    ];
    for (let i = this.#chance.pick(60); i > 0; i -= 1) sentences.push(this.#sentence());
    if (this.#one(10)) sentences.splice(this.#chance.pick(2), 1);
    return Buffer.concat(sentences);
  }

  #sentence(): Uint8Array {
    const kind = this.#chance.pick(40);
    if (kind === 0) return this.#noise(300);
    if (kind < 5) return this.#frame(this.#chance.pick(256), this.#noise(200));
    if (kind < 10) return this.#spoiled(this.#valid());
    return this.#valid();
  }

  #valid(): Uint8Array {
    const vni = this.#chance.pick(5);
    const kind = this.#chance.pick(10);
    if (kind === 0) return keepaliveFrame();
    if (kind < 4) return subscriptionFrame(this.#one(2), vni);
    const words = new Uint32Array(routeWords);
    Route.parse(`${vni}#10.0.0.${this.#chance.pick(20)}/32#2001:db8::${this.#chance.pick(9)}`).copyTo(words);
    const frame = new Uint8Array(longestFrame);
    return frame.subarray(0, writeUpdate(frame, 0, kind < 8, words, 0));
  }

  /** Some bytes changed, or the length of the payload, with or without the payload. */
  #spoiled(frame: Uint8Array): Uint8Array {
    const copy = frame.slice();
    for (let i = this.#chance.pick(4); i >= 0; i -= 1) copy[this.#chance.pick(copy.length)] = this.#chance.pick(256);
    copy[0] = 1;
    return copy;
  }

  #frame(type: number, payload: Uint8Array): Uint8Array {
    const header = new Uint8Array(4);
    writeHeader(header, 0, type, payload.length);
    return Buffer.concat([header, payload]);
  }

  #noise(longest: number): Uint8Array {
    return Uint8Array.from({ length: this.#chance.pick(longest) }, () => this.#chance.pick(256));
  }

  #one(inHowMany: number): boolean {
    return this.#chance.pick(inHowMany) === 0;
  }
}

describe('a server among peers that say anything', () => {
  test(`goes on serving the others, and nothing is left when they have gone (${seeds} seeds)`, () => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const network = new Simulation(seed);
      const speaker = new Speaker({ surroundings: network, isServer: true });
      network.listen('server', (wire) => speaker.accept(wire));
      const [host, reader] = [new RouteClient({ surroundings: network }), new RouteClient({ surroundings: network })];
      for (const client of [host, reader]) client.connect('server', network.dialer('server'));
      reader.subscribe(1);
      const babblers = Array.from({ length: 1 + network.pick(3) }, () => {
        const [near, far] = network.connect();
        far.handler = speaker.accept(far);
        near.send(new Babbler(network).speech());
        network.pass(network.pick(20));
        near.send(new Babbler(network).speech());
        return near;
      });
      network.pass(1000);
      for (const babbler of babblers) babbler.close();
      const route = Route.parse('1#192.0.2.0/24#2001:db8:ffff::1');
      host.announce(route);
      network.pass(1000);
      assert.deepEqual([...reader.routes()].map(String), [String(route)], `seed ${seed}`);
      assert.equal(speaker.table.routes.size, 1, `seed ${seed}`);
      assert.equal(speaker.accepted.size, 2, `seed ${seed}`);
    }
  });

  test('a client survives a server that says anything', () => {
    for (let seed = 1; seed <= seeds / 4; seed += 1) {
      const network = new Simulation(seed);
      network.listen('server', (wire) => {
        wire.send(new Babbler(network).speech());
        return { received: () => wire.send(new Babbler(network).speech()), ready() {}, closed() {} };
      });
      const client = new RouteClient({ surroundings: network });
      client.subscribe(1);
      client.announce(Route.parse('1#192.0.2.0/24#2001:db8:ffff::1'));
      client.connect('server', network.dialer('server'));
      network.pass(5000);
      client.stop();
      network.pass(100);
      assert.equal(client.speaker.table.routes.size, 1, `seed ${seed}: only what it announces itself`);
    }
  });
});

test('what one peer can make the server remember is bounded, whatever it sends and however much', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const rules = new RuleBook([{ rules: new PeerRules({ maxRoutes: 10_000 }) }]);
  const speaker = new Speaker({ surroundings: new Simulation(), isServer: true, rules });
  const wire = { remote: 'peer', names: [], send: () => false, close: () => assert.fail('the session goes on') };
  const peer = speaker.accept(wire);
  peer.received(helloFrame({ keepaliveSeconds: 5, isServer: false, readsAnySplit: true }));
  const words = new Uint32Array(routeWords);
  Route.parse('0#10.0.0.0/8#2001:db8::1').copyTo(words);
  const flood = (from: number): void => {
    const piece = new Uint8Array(400_000);
    let end = 0;
    for (let i = from; end < piece.length - longestFrame; i += 1) {
      words[0] = i % 7 === 0 ? i : 1;
      words[2] = i;
      end = writeUpdate(piece, end, i % 3 !== 0, words, 0);
      for (const frame of [keepaliveFrame(), subscriptionFrame(i % 5 !== 0, i)]) {
        piece.set(frame, end);
        end += frame.length;
      }
    }
    peer.received(piece.subarray(0, end));
  };
  for (let i = 0; i < 20; i += 1) flood(i * 10_000);
  const before = used();
  for (let i = 20; i < 60; i += 1) flood(i * 10_000);
  assert.ok(used() - before < 12e6, `${used() - before} bytes more after another 16 MB`);
  assert.ok(speaker.table.routes.size <= 10_000);
});
