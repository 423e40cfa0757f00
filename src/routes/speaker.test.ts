import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RouteClient, type RouteClientOptions } from './client.ts';
import { helloFrame, keepaliveFrame, longestFrame, subscriptionFrame, UpdateDecoder, writeUpdate } from './codec.ts';
import { FrameReader } from './frames.ts';
import { Route, routeWords } from './route.ts';
import { Speaker, type SpeakerOptions } from './speaker.ts';
import { type End, Simulation } from './testing/simulation.ts';

/** A peer that says what it is told to say, byte by byte, and writes down what it hears. */
class RawPeer {
  readonly heard: string[] = [];
  readonly end: End;
  lost: string | undefined;
  readonly #network: Simulation;

  constructor(network: Simulation, end: End) {
    this.#network = network;
    this.end = end;
    const decoder = new UpdateDecoder();
    const reader = new FrameReader({
      frame: (type, bytes, from, to) => {
        if (type !== 5) this.heard.push(names[type] ?? `type ${type}`);
        else {
          const action = decoder.decode(bytes, from, to);
          this.heard.push(`${action === 'add' ? '+' : '-'}${new Route(decoder.words)}`);
        }
      },
      foreignVersion: (version) => assert.fail(`version ${version}`),
    });
    end.handler = {
      received: (bytes) => reader.push(bytes),
      ready() {},
      closed: (reason) => {
        this.lost = reason;
      },
    };
  }

  say(...frames: Uint8Array[]): this {
    this.end.send(Buffer.concat(frames));
    this.#network.pass(10);
    return this;
  }

  take(): string[] {
    return this.heard.splice(0);
  }
}

const names: Record<number, string> = { 1: 'HELLO', 2: 'KEEPALIVE', 3: 'SUBSCRIBE', 4: 'UNSUBSCRIBE' };
const hello = ({ keepaliveSeconds = 5, isServer = false, readsAnySplit = false } = {}): Uint8Array =>
  helloFrame({ keepaliveSeconds, isServer, readsAnySplit });
const keepalive = keepaliveFrame();
const subscribe = (vni: number): Uint8Array => subscriptionFrame(true, vni);
const unsubscribe = (vni: number): Uint8Array => subscriptionFrame(false, vni);
const bytes = (hex: string): Uint8Array => Buffer.from(hex.replaceAll(' ', ''), 'hex');

function update(add: boolean, text: string): Uint8Array {
  const words = new Uint32Array(routeWords);
  Route.parse(text).copyTo(words);
  const frame = new Uint8Array(longestFrame);
  return frame.subarray(0, writeUpdate(frame, 0, add, words, 0));
}
const add = (text: string): Uint8Array => update(true, text);
const remove = (text: string): Uint8Array => update(false, text);

function server(options: Partial<SpeakerOptions> = {}) {
  const network = new Simulation();
  const speaker = new Speaker({ surroundings: network, isServer: true, ...options });
  /** An established session of a metalbond. */
  const join = (greeting = hello()): RawPeer => {
    const [near, far] = network.connect('server', 'peer');
    far.handler = speaker.accept(far);
    const peer = new RawPeer(network, near).say(greeting, keepalive);
    assert.deepEqual(peer.take(), ['HELLO', 'KEEPALIVE']);
    return peer;
  };
  return { network, speaker, join };
}

const a = '100#10.0.0.1/32#2001:db8::1';
const b = '100#10.0.0.1/32#2001:db8::2';

describe('a server', () => {
  test('passes on what a peer announces to those who are subscribed, and not back', () => {
    const { join } = server();
    const [one, two, three] = [join(), join(), join()];
    for (const peer of [one, two]) peer.say(subscribe(100));
    three.say(subscribe(7));
    one.say(add(a));
    assert.deepEqual([one.take(), two.take(), three.take()], [[], [`+${a}`], []]);
  });

  test('tells a new subscriber what is known, and everybody what a lost peer takes with it', () => {
    const { join, network } = server();
    const [one, two] = [join().say(add(a), add('100#2001:db8:1::/64#2001:db8::1#LB')), join()];
    two.say(subscribe(100));
    assert.deepEqual(two.take(), [`+${a}`, '+100#2001:db8:1::/64#2001:db8::1#LB']);
    one.end.close();
    network.pass(10);
    assert.deepEqual(two.take().sort(), [`-${a}`, '-100#2001:db8:1::/64#2001:db8::1#LB']);
  });

  test('withdraws a route when the last one who announced it has withdrawn it', () => {
    const { join } = server();
    const [one, two, reader] = [join(), join(), join().say(subscribe(100))];
    one.say(add(a));
    two.say(add(a));
    one.say(remove(a));
    assert.deepEqual(reader.take(), [`+${a}`]);
    two.say(remove(a));
    assert.deepEqual(reader.take(), [`-${a}`]);
  });

  test('keeps several next hops of a prefix apart: by address, type and ports', () => {
    const { join } = server();
    const reader = join().say(subscribe(5));
    const hops = ['2001:db8::1', '2001:db8::2', '2001:db8::1#LB', '2001:db8::1#NAT#1#2', '2001:db8::1#NAT#3#4'];
    const one = join().say(...hops.map((hop) => add(`5#10.0.0.0/8#${hop}`)));
    assert.deepEqual(
      reader.take(),
      hops.map((hop) => `+5#10.0.0.0/8#${hop}`),
    );
    one.say(remove('5#10.0.0.0/8#2001:db8::1#NAT#1#2'));
    assert.deepEqual(reader.take(), ['-5#10.0.0.0/8#2001:db8::1#NAT#1#2']);
  });

  test('takes UNSUBSCRIBE as the end of what the peer announced in that virtual network, too', () => {
    const { join } = server();
    const [one, two] = [join(), join().say(subscribe(100))];
    one.say(subscribe(100), add(a), add('7#10.0.0.0/8#2001:db8::1'));
    two.take();
    one.say(unsubscribe(100));
    assert.deepEqual(two.take(), [`-${a}`]);
    two.say(subscribe(7));
    assert.deepEqual(two.take(), ['+7#10.0.0.0/8#2001:db8::1']);
    two.say(add(b));
    assert.deepEqual(one.take(), []);
  });

  test('does not pass on between servers, which know each other by their HELLO', () => {
    const { join } = server();
    const [near, far, host] = [join(hello({ isServer: true })), join(hello({ isServer: true })), join()];
    for (const peer of [near, far, host]) peer.say(subscribe(100));
    near.say(add(a));
    host.say(add(b));
    assert.deepEqual([near.take(), far.take(), host.take()], [[`+${b}`], [`+${b}`], [`+${a}`]]);
  });

  test('has two peers from one address as two peers', () => {
    const { join, speaker } = server();
    const [one, two] = [join(), join()];
    one.say(add(a));
    two.say(add(a));
    one.end.close();
    join();
    assert.equal(speaker.accepted.size, 2);
    assert.equal(speaker.table.routeCount, 1);
  });

  test('accepts no more peers than it should', () => {
    const { network, speaker, join } = server({ maxPeers: 1 });
    join();
    const [near, far] = network.connect();
    const peer = new RawPeer(network, near);
    far.handler = speaker.accept(far);
    network.pass(10);
    assert.equal(peer.lost, 'the peer has closed the connection');
    assert.equal(speaker.peersRefused, 1);
  });
});

describe('harmless', () => {
  /** Everything that does not end the session: afterwards the peer can go on as if nothing had happened. */
  const harmless: [string, Uint8Array[]][] = [
    ['an UPDATE without a next hop', [bytes('01 000c 05 1064 1a08 1204 0a000001 1820')]],
    ['an empty UPDATE', [bytes('01 0000 05')]],
    ['the same subscription twice', [subscribe(7), subscribe(7)]],
    ['UNSUBSCRIBE without a subscription', [unsubscribe(9)]],
    ['the same route twice', [add('7#10.0.0.0/8#2001:db8::1'), add('7#10.0.0.0/8#2001:db8::1')]],
    ['withdrawing what was never announced', [remove('7#10.0.0.0/8#2001:db8::7')]],
    ['an unknown type', [bytes('01 0003 63 010203')]],
    ['an unknown type of length 0', [bytes('01 0000 00')]],
    ['an unknown type of length 65535', [bytes('01 ffff 63'), new Uint8Array(65_535).fill(0xff)]],
    ['a KEEPALIVE that is not empty', [bytes('01 0002 02 0801')]],
    [
      'an UPDATE of length 65535 that is one long unknown field',
      [bytes('01 ffff 05 7a fbff03'), new Uint8Array(65_531)],
    ],
    [
      '10 000 routes in one write',
      Array.from({ length: 10_000 }, (_, i) => add(`7#10.1.${i >> 8}.${i & 255}/32#2001:db8::1`)),
    ],
  ];
  for (const [name, frames] of harmless) {
    test(name, () => {
      const { join } = server();
      const [peer, reader] = [join(), join().say(subscribe(100))];
      peer.say(...frames).say(add(a), keepalive);
      assert.deepEqual(peer.take(), name.startsWith('a KEEPALIVE') ? ['KEEPALIVE', 'KEEPALIVE'] : ['KEEPALIVE']);
      assert.equal(peer.lost, undefined);
      assert.deepEqual(reader.take(), [`+${a}`]);
    });
  }

  /** What ends the session, and nothing else. */
  const fatal: [string, Uint8Array][] = [
    ['another version', bytes('02 0000 02')],
    ['garbage', bytes('de ad be ef de ad be ef')],
    ['an UPDATE that is not protobuf', bytes('01 0003 05 ffffff')],
    [
      'an UPDATE of 65535 bytes that is not protobuf',
      Buffer.concat([bytes('01 ffff 05'), new Uint8Array(65_535).fill(0xff)]),
    ],
    ['a second HELLO', hello()],
    ['a HELLO that is not protobuf', bytes('01 0001 01 08')],
  ];
  for (const [name, frame] of fatal) {
    test(`${name} ends this session only, with all that it had announced`, () => {
      const { join, speaker } = server();
      const [peer, other] = [join().say(subscribe(100), add(a)), join().say(subscribe(100))];
      assert.deepEqual(other.take(), [`+${a}`]);
      peer.say(frame);
      assert.equal(peer.lost, 'the peer has closed the connection');
      assert.deepEqual(other.take(), [`-${a}`]);
      assert.equal(other.lost, undefined);
      assert.equal(speaker.table.routes.size, 0);
    });
  }

  test('frames that are split at every byte', () => {
    const { join, network } = server();
    const [peer, reader] = [join(), join().say(subscribe(100))];
    for (const byte of Buffer.concat([add(a), remove(a), add(b)])) peer.say(Uint8Array.of(byte));
    network.pass(10);
    assert.deepEqual(reader.take(), [`+${a}`, `-${a}`, `+${b}`]);
  });

  test('thousands of frames of all kinds in one write', () => {
    const { join } = server();
    const peer = join();
    const frames = Array.from({ length: 5000 }, (_, i) => [
      add(a),
      subscribe(i % 50),
      remove(a),
      unsubscribe(i % 50),
      keepalive,
    ]);
    peer.say(...frames.flat());
    assert.ok(peer.take().includes('KEEPALIVE'));
    assert.equal(peer.lost, undefined);
  });

  test('a peer that connects and says nothing is let go after two and a half intervals', () => {
    const { network, speaker } = server();
    const [near, far] = network.connect();
    const peer = new RawPeer(network, near);
    far.handler = speaker.accept(far);
    network.pass(12_400);
    assert.equal(peer.lost, undefined);
    network.pass(200);
    assert.equal(peer.lost, 'the peer has closed the connection');
  });

  test('a half-open peer is let go, and its routes with it', () => {
    const { network, join } = server();
    const [peer, reader] = [join(), join(hello({ keepaliveSeconds: 60 })).say(subscribe(100))];
    peer.say(add(a));
    assert.deepEqual(reader.take(), [`+${a}`]);
    for (let i = 0; i < 2; i += 1) {
      network.pass(6000);
      reader.say(keepalive);
    }
    network.pass(600);
    assert.equal(peer.lost, 'the peer has closed the connection');
    assert.deepEqual(
      reader.take().filter((line) => line !== 'KEEPALIVE'),
      [`-${a}`],
    );
  });

  test('a peer that never reads holds up nobody and costs no memory, however often it asks for an answer', () => {
    const { speaker, join } = server();
    const [deaf, reader] = [
      join(hello({ readsAnySplit: true })),
      join(hello({ readsAnySplit: true })).say(subscribe(100)),
    ];
    const writer = join();
    deaf.say(subscribe(100));
    deaf.end.deaf = true;
    for (let i = 0; i < 200; i += 1) {
      const routes = Array.from({ length: 50 }, (_, j) => `100#10.${i}.${j}.0/24#2001:db8::1`);
      writer.say(...routes.map(add));
      writer.say(...routes.map(remove));
      deaf.say(...Array.from({ length: 100 }, () => keepalive));
    }
    assert.equal(reader.take().length, 200 * 50 * 2);
    assert.equal(deaf.lost, undefined);
    assert.ok((deaf.end.other?.waiting ?? 0) < 10_000);
    assert.ok(speaker.table.routes.size <= 100, 'only routes that it was told and cannot be told of are remembered');
  });

  test('a peer that comes and goes without end leaves nothing behind', () => {
    const { network, speaker, join } = server();
    for (let i = 0; i < 500; i += 1) {
      join().say(subscribe(i), add(a)).end.close();
      network.pass(5);
    }
    assert.deepEqual([speaker.accepted.size, speaker.table.routes.size, speaker.table.networks.size], [0, 0, 0]);
    assert.equal(network.planned, 0);
  });
});

describe('towards a metalbond', () => {
  const routes = Array.from({ length: 5000 }, (_, i) => `100#10.0.${i >> 8}.${i & 255}/32#2001:db8::1`);

  const wholeFrames = (piece: Uint8Array): boolean => {
    let place = 0;
    while (place + 4 <= piece.length) place += 4 + ((piece[place + 1] ?? 0) << 8) + (piece[place + 2] ?? 0);
    return place === piece.length;
  };

  test('that has dialled, a server sends small pieces of whole frames at a steady pace', () => {
    const { network, join } = server();
    const reader = join();
    const serverEnd = reader.end.other;
    assert.ok(serverEnd);
    serverEnd.recordsSent = true;
    join(hello({ readsAnySplit: true })).say(...routes.map(add));
    reader.say(subscribe(100));
    network.pass(190);
    const early = serverEnd.sent.reduce((sum, piece) => sum + piece.length, 0);
    assert.ok(early < 65_536, `${early} bytes in the first 200 ms`);
    for (let i = 0; i < 8; i += 1) {
      network.pass(4000);
      reader.say(keepalive);
    }
    assert.equal(reader.take().filter((line) => line.startsWith('+')).length, routes.length);
    assert.ok(serverEnd.sent.every((piece) => piece.length <= 1192 && wholeFrames(piece)));
  });

  test('that was dialled, a client has never more than 32 KiB under way that was not read', () => {
    const network = new Simulation();
    let unread = 0;
    let most = 0;
    const pieces: Uint8Array[] = [];
    let received = 0;
    network.listen('server', (wire) => {
      const reader = new FrameReader({
        frame(type) {
          if (type === 1) wire.send(hello({ isServer: true }));
          if (type === 2) wire.send(keepalive);
          if (type === 5) received += 1;
        },
        foreignVersion: () => assert.fail(),
      });
      return {
        // It is slow: what comes is looked at only now and then.
        received(piece) {
          unread += piece.length;
          most = Math.max(most, unread);
          network.timer(20, () => {
            unread -= piece.length;
            reader.push(piece);
          });
        },
        ready() {},
        closed() {},
      };
    });
    const client = new RouteClient({ surroundings: network });
    client.connect('server', ({ opened, failed }) =>
      network.dialer('server')({
        failed,
        opened(wire) {
          return opened({
            ...wire,
            remote: wire.remote,
            names: [],
            close: () => wire.close(),
            send: (data) => {
              pieces.push(data);
              return wire.send(data);
            },
          });
        },
      }),
    );
    for (const route of routes) client.announce(Route.parse(route));
    network.pass(60_000);
    assert.equal(received, routes.length);
    assert.ok(most > 1000 && most <= 32_768, `${most} bytes were not read`);
    assert.ok(pieces.every((piece) => piece.length <= 1192 && wholeFrames(piece)));
  });
});

describe('a client', () => {
  function client(network: Simulation, servers: string[], options: RouteClientOptions = {}) {
    const log: string[] = [];
    const own = new RouteClient({
      surroundings: network,
      listener: { added: (route) => log.push(`+${route}`), removed: (route) => log.push(`-${route}`) },
      ...options,
    });
    for (const address of servers) own.connect(address, network.dialer(address));
    return { client: own, take: () => log.splice(0) };
  }

  function serve(network: Simulation, address: string, others: string[] = []): Speaker {
    const speaker = new Speaker({ surroundings: network, isServer: true });
    network.listen(address, (wire) => speaker.accept(wire));
    for (const other of others) speaker.connect(other, network.dialer(other));
    return speaker;
  }

  test('is told routes of others once, however many servers know them, until the last has withdrawn them', () => {
    const network = new Simulation();
    const [s1] = [serve(network, 's1'), serve(network, 's2')];
    const host = client(network, ['s1', 's2']);
    const reader = client(network, ['s1', 's2']);
    reader.client.subscribe(100);
    host.client.announce(Route.parse(a));
    network.pass(1000);
    assert.deepEqual(reader.take(), [`+${a}`]);
    network.unlisten('s1');
    s1.stop();
    network.pass(200_000);
    assert.deepEqual(reader.take(), []);
    host.client.withdraw(Route.parse(a));
    network.pass(1000);
    assert.deepEqual(reader.take(), [`-${a}`]);
  });

  test('announces and subscribes when the server is there, whenever that is', () => {
    const network = new Simulation();
    const host = client(network, ['s1']);
    const reader = client(network, ['s1']);
    assert.equal(host.client.announce(Route.parse(a)), true);
    assert.equal(host.client.announce(Route.parse(a)), false);
    assert.equal(reader.client.subscribe(100), true);
    assert.equal(reader.client.subscribe(100), false);
    network.pass(60_000);
    assert.equal(reader.client.servers.get('s1'), 'RETRY');
    serve(network, 's1');
    network.pass(10_000);
    assert.equal(reader.client.servers.get('s1'), 'ESTABLISHED');
    assert.deepEqual(reader.take(), [`+${a}`]);
    assert.equal(host.client.withdraw(Route.parse(a)), true);
    assert.equal(host.client.withdraw(Route.parse(a)), false);
    network.pass(1000);
    assert.deepEqual(reader.take(), [`-${a}`]);
  });

  test('keeps routes over a restart of the server, and withdraws only those that did not come back', () => {
    const network = new Simulation();
    const first = serve(network, 's1');
    const [host, other, reader] = [client(network, ['s1']), client(network, ['s1']), client(network, ['s1'])];
    reader.client.subscribe(100);
    host.client.announce(Route.parse(a));
    other.client.announce(Route.parse(b));
    network.pass(20_000);
    assert.deepEqual(reader.take(), [`+${a}`, `+${b}`]);
    network.unlisten('s1');
    first.stop();
    other.client.stop();
    network.pass(3000);
    serve(network, 's1');
    network.pass(5000);
    assert.deepEqual(reader.take(), []);
    assert.equal(reader.client.routeCount, 2);
    network.pass(30_000);
    assert.deepEqual(reader.take(), [`-${b}`]);
  });

  test('withdraws everything when the server stays away too long', () => {
    const network = new Simulation();
    const first = serve(network, 's1');
    const [host, reader] = [client(network, ['s1']), client(network, ['s1'], { patience: { keepLostSeconds: 60 } })];
    reader.client.subscribe(100);
    host.client.announce(Route.parse(a));
    network.pass(1000);
    reader.take();
    network.unlisten('s1');
    first.stop();
    network.pass(59_000);
    assert.deepEqual(reader.take(), []);
    network.pass(2000);
    assert.deepEqual(reader.take(), [`-${a}`]);
  });

  test('waits longer from attempt to attempt, but never more than nine seconds', () => {
    const network = new Simulation();
    const attempts: number[] = [];
    const lonely = new RouteClient({ surroundings: network });
    lonely.connect('nobody', ({ failed }) => {
      attempts.push(network.uptime());
      return network.timer(0, () => failed('nobody is there'));
    });
    network.pass(60_000);
    const gaps = attempts.slice(1).map((time, i) => time - (attempts[i] ?? 0));
    assert.ok((gaps[0] ?? 0) <= 500, 'the first one comes soon');
    assert.ok(gaps.every((gap) => gap <= 9000) && gaps.slice(6).every((gap) => gap >= 4500), gaps.join());
    assert.ok(new Set(gaps).size > gaps.length / 2, 'and not all at the same pace');
  });

  test('does not hurry because a server ends every session at once', () => {
    const network = new Simulation();
    let sessions = 0;
    network.listen('s1', (wire) => {
      sessions += 1;
      const speaker = new Speaker({ surroundings: network, isServer: true });
      network.timer(500, () => speaker.stop());
      return speaker.accept(wire);
    });
    client(network, ['s1']);
    network.pass(60_000);
    assert.ok(sessions > 3 && sessions < 20, `${sessions} sessions`);
  });

  test('forgets a virtual network that it leaves, and what is still under way for it', () => {
    const network = new Simulation();
    serve(network, 's1');
    const [host, reader] = [client(network, ['s1']), client(network, ['s1'])];
    reader.client.subscribe(100);
    host.client.announce(Route.parse(a));
    network.pass(1000);
    reader.take();
    host.client.withdraw(Route.parse(a));
    host.client.announce(Route.parse(b));
    reader.client.unsubscribe(100);
    reader.client.subscribe(100);
    network.pass(1000);
    assert.deepEqual(reader.take(), [`-${a}`, `+${b}`]);
    assert.deepEqual([...reader.client.routes(100)].map(String), [b]);
  });

  test('announces again what the server has dropped because of an UNSUBSCRIBE', () => {
    const network = new Simulation();
    serve(network, 's1');
    const [host, reader] = [client(network, ['s1']), client(network, ['s1'])];
    host.client.subscribe(100);
    host.client.announce(Route.parse(a));
    reader.client.subscribe(100);
    network.pass(1000);
    host.client.unsubscribe(100);
    network.pass(1000);
    assert.deepEqual([...reader.client.routes()].map(String), [a]);
  });

  test('says nothing about a virtual network between leaving it and the answer that confirms it', () => {
    const network = new Simulation();
    const heard: string[] = [];
    let answers = true;
    let owed = 0;
    let answer = (): void => {};
    network.listen('s1', (wire) => {
      answer = () => wire.send(keepalive);
      const reader = new FrameReader({
        frame(type) {
          heard.push(names[type] ?? 'UPDATE');
          if (type === 1) wire.send(hello({ isServer: true, readsAnySplit: true }));
          else if (type === 2 && answers) answer();
          else if (type === 2) owed += 1;
        },
        foreignVersion: () => assert.fail(),
      });
      return { received: (piece) => reader.push(piece), ready() {}, closed() {} };
    });
    const host = client(network, ['s1']);
    host.client.subscribe(100);
    host.client.announce(Route.parse(a));
    network.pass(1000);
    assert.deepEqual(heard.splice(0), ['HELLO', 'KEEPALIVE', 'SUBSCRIBE', 'UPDATE']);
    answers = false;
    host.client.unsubscribe(100);
    network.pass(20);
    host.client.announce(Route.parse(b));
    network.pass(20);
    assert.deepEqual([heard.splice(0), owed], [['UNSUBSCRIBE', 'KEEPALIVE'], 1]);
    answer();
    network.pass(20);
    assert.deepEqual(heard, ['UPDATE', 'UPDATE'], 'both routes, of which the server has dropped the first');
  });

  test('is told a route of others for a prefix that it announces itself', () => {
    const network = new Simulation();
    serve(network, 's1');
    const [host, other] = [client(network, ['s1']), client(network, ['s1'])];
    host.client.subscribe(100);
    host.client.announce(Route.parse(a));
    other.client.announce(Route.parse(b));
    network.pass(1000);
    assert.deepEqual(host.take(), [`+${b}`]);
  });

  test('leaves nothing behind when it is stopped', () => {
    const network = new Simulation();
    const speaker = serve(network, 's1');
    const host = client(network, ['s1', 'nowhere']);
    host.client.subscribe(100);
    host.client.announce(Route.parse(a));
    network.pass(1000);
    host.client.stop();
    network.pass(100);
    assert.equal(network.planned, 0);
    assert.deepEqual([speaker.table.routes.size, speaker.accepted.size], [0, 0]);
  });
});
