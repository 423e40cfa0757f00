import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Words } from './address.ts';
import type { Participant, Role } from './participant.ts';
import { Route, routeWords, wordOf } from './route.ts';
import { RouteTable } from './table.ts';

const wordsOf = (text: string): Words => {
  const words: Words = new Uint32Array(routeWords);
  Route.parse(text).copyTo(words);
  return words;
};

const quiet = { pending() {}, interest() {}, settled() {} };

function table(events: Partial<ConstructorParameters<typeof RouteTable>[0]['events']> = {}): RouteTable {
  return new RouteTable({ seed: 1, uptime: () => 0, events: { ...quiet, ...events } });
}

/** A participant and what it believes, from what it was told. */
class Listener {
  readonly routes = new Set<string>();
  readonly log: string[] = [];
  readonly participant: Participant;
  readonly #table: RouteTable;

  constructor(table: RouteTable, role: Role = 'client', hearsAll = false) {
    this.#table = table;
    this.participant = table.join(role, { hearsAll });
    table.attach(this.participant);
  }

  /** Takes at most `limit` changes. */
  listen(limit = Number.POSITIVE_INFINITY): string[] {
    this.log.length = 0;
    let taken = 0;
    this.#table.drain(this.participant, (add, slot) => {
      if (taken >= limit) return false;
      taken += 1;
      const text = new Route(this.#table.routes.words, slot * routeWords).toString();
      assert.equal(this.routes.has(text), !add, `${add ? 'told twice' : 'told to forget what it never knew'}: ${text}`);
      if (add) this.routes.add(text);
      else this.routes.delete(text);
      this.log.push(`${add ? '+' : '-'}${text}`);
      return true;
    });
    return [...this.log];
  }
}

const a = '100#10.0.0.1/32#2001:db8::1';
const b = '100#10.0.0.1/32#2001:db8::2';

describe('who is told', () => {
  test('a subscriber is told what others say, before and after it subscribed', () => {
    const t = table();
    const host = new Listener(t);
    const other = new Listener(t);
    t.claim(host.participant, wordsOf(a));
    t.subscribe(other.participant, 100);
    assert.deepEqual(other.listen(), [`+${a}`]);
    t.claim(host.participant, wordsOf(b));
    assert.deepEqual(other.listen(), [`+${b}`]);
  });

  test('nobody is told what only it says itself, whether it subscribed before or after', () => {
    const t = table();
    const before = new Listener(t);
    t.subscribe(before.participant, 100);
    t.claim(before.participant, wordsOf(a));
    assert.deepEqual(before.listen(), []);
    const after = new Listener(t);
    t.claim(after.participant, wordsOf(b));
    t.subscribe(after.participant, 100);
    assert.deepEqual(after.listen(), [`+${a}`]);
  });

  test('a host that announces a prefix is told other next hops of the same prefix', () => {
    const t = table();
    const host = new Listener(t);
    const other = new Listener(t);
    t.subscribe(host.participant, 100);
    t.claim(host.participant, wordsOf(a));
    t.claim(other.participant, wordsOf(b));
    assert.deepEqual(host.listen(), [`+${b}`]);
  });

  test('a second one who says the same is no news, and neither is that one of them stops', () => {
    const t = table();
    const [first, second, reader] = [new Listener(t), new Listener(t), new Listener(t)];
    t.subscribe(reader.participant, 100);
    t.claim(first.participant, wordsOf(a));
    t.claim(second.participant, wordsOf(a));
    assert.deepEqual(reader.listen(), [`+${a}`]);
    t.withdraw(first.participant, wordsOf(a));
    assert.deepEqual(reader.listen(), []);
    t.withdraw(second.participant, wordsOf(a));
    assert.deepEqual(reader.listen(), [`-${a}`]);
  });

  test('all that a peer said is withdrawn when it leaves', () => {
    const t = table();
    const [host, reader] = [new Listener(t), new Listener(t)];
    t.subscribe(reader.participant, 100);
    t.claim(host.participant, wordsOf(a));
    t.claim(host.participant, wordsOf('7#::/0#2001:db8::1'));
    reader.listen();
    t.leave(host.participant);
    assert.deepEqual(reader.listen(), [`-${a}`]);
    assert.equal(t.routeCount, 0);
  });

  test('a route that came and went before it could be told is not told', () => {
    const t = table();
    const [host, reader] = [new Listener(t), new Listener(t)];
    t.subscribe(reader.participant, 100);
    for (let i = 0; i < 1000; i += 1) {
      t.claim(host.participant, wordsOf(a));
      t.withdraw(host.participant, wordsOf(a));
    }
    assert.deepEqual(reader.listen(), []);
    assert.equal(t.routes.size, 0);
  });

  test('a route that went and came back before it could be told is not withdrawn', () => {
    const t = table();
    const [host, reader] = [new Listener(t), new Listener(t)];
    t.subscribe(reader.participant, 100);
    t.claim(host.participant, wordsOf(a));
    reader.listen();
    t.leave(host.participant);
    t.claim(new Listener(t).participant, wordsOf(a));
    assert.deepEqual(reader.listen(), []);
  });

  test('one server does not pass to another what it heard from a server', () => {
    const t = table();
    const [near, far] = [new Listener(t, 'server'), new Listener(t, 'server', true)];
    const host = new Listener(t);
    t.subscribe(host.participant, 100);
    t.claim(near.participant, wordsOf(a));
    t.claim(host.participant, wordsOf(b));
    assert.deepEqual(far.listen(), [`+${b}`]);
    assert.deepEqual(host.listen(), [`+${a}`]);
  });

  test('the program itself is not told what it announces, even if others announce the same', () => {
    const t = table();
    const self = new Listener(t, 'self');
    const server = new Listener(t, 'server', true);
    t.subscribe(self.participant, 100);
    t.claim(server.participant, wordsOf(a));
    t.claim(self.participant, wordsOf(a));
    assert.deepEqual(self.listen(), []);
    t.withdraw(self.participant, wordsOf(a));
    assert.deepEqual(self.listen(), [`+${a}`]);
  });

  test('unsubscribing ends the telling, and subscribing again starts from the first route', () => {
    const t = table();
    const [host, reader] = [new Listener(t), new Listener(t)];
    t.claim(host.participant, wordsOf(a));
    t.subscribe(reader.participant, 100);
    reader.listen();
    assert.equal(t.unsubscribe(reader.participant, 100), true);
    assert.equal(t.unsubscribe(reader.participant, 100), false);
    t.claim(host.participant, wordsOf(b));
    assert.deepEqual(reader.listen(), []);
    reader.routes.clear();
    assert.equal(t.subscribe(reader.participant, 100), true);
    assert.equal(t.subscribe(reader.participant, 100), false);
    assert.deepEqual(reader.listen(), [`+${a}`, `+${b}`]);
  });
});

test('somebody who is muted in a virtual network has to be told all of it again, but not before it is unmuted', () => {
  const t = table();
  const [host, reader] = [new Listener(t), new Listener(t)];
  t.subscribe(reader.participant, 100);
  t.claim(host.participant, wordsOf(a));
  reader.listen();
  t.mute(reader.participant, 100);
  reader.routes.clear();
  t.withdraw(host.participant, wordsOf(a));
  t.claim(host.participant, wordsOf(b));
  assert.deepEqual(reader.listen(), []);
  t.unmute(reader.participant, 100);
  assert.deepEqual(reader.listen(), [`+${b}`]);
});

describe('a session that comes back', () => {
  test('what is repeated is kept without a word, and only the rest is withdrawn', () => {
    const t = table();
    const upstream = new Listener(t, 'server');
    const self = new Listener(t, 'self');
    t.subscribe(self.participant, 100);
    t.claim(upstream.participant, wordsOf(a));
    t.claim(upstream.participant, wordsOf(b));
    self.listen();
    t.detach(upstream.participant);
    t.attach(upstream.participant);
    assert.equal(upstream.participant.staleCount, 2);
    assert.equal(t.claim(upstream.participant, wordsOf(a)), 'confirmed');
    assert.equal(t.claim(upstream.participant, wordsOf(a)), 'known');
    assert.deepEqual(self.listen(), []);
    assert.equal(t.withdrawStale(upstream.participant), 1);
    assert.deepEqual(self.listen(), [`-${b}`]);
  });

  test('everything is told to it again', () => {
    const t = table();
    const upstream = new Listener(t, 'server', true);
    const self = new Listener(t, 'self');
    t.claim(self.participant, wordsOf(a));
    assert.deepEqual(upstream.listen(), [`+${a}`]);
    t.detach(upstream.participant);
    t.claim(self.participant, wordsOf(b));
    assert.deepEqual(upstream.listen(), []);
    upstream.routes.clear();
    t.attach(upstream.participant);
    assert.deepEqual(upstream.listen(), [`+${a}`, `+${b}`]);
  });
});

describe('what the table reports', () => {
  test('interest in a virtual network begins with the first host and ends with the last; servers do not count', () => {
    const heard: string[] = [];
    const t = table({ interest: (vni, wanted) => heard.push(`${vni} ${wanted}`) });
    const [one, two, server] = [new Listener(t), new Listener(t), new Listener(t, 'server')];
    t.subscribe(server.participant, 5);
    t.subscribe(one.participant, 5);
    t.subscribe(two.participant, 5);
    t.unsubscribe(one.participant, 5);
    assert.deepEqual(heard, ['5 true']);
    t.leave(two.participant);
    assert.deepEqual(heard, ['5 true', '5 false']);
  });

  test('a change is settled when the last subscriber has been told', () => {
    let now = 0;
    const waits: number[] = [];
    const t = new RouteTable({ seed: 1, uptime: () => now, events: { ...quiet, settled: (ms) => waits.push(ms) } });
    const [host, one, two] = [new Listener(t), new Listener(t), new Listener(t)];
    t.subscribe(one.participant, 100);
    t.subscribe(two.participant, 100);
    t.claim(host.participant, wordsOf(a));
    now = 3;
    one.listen();
    assert.deepEqual(waits, []);
    now = 10;
    two.listen();
    assert.deepEqual(waits, [10]);
  });
});

describe('what it costs', () => {
  test('a subscriber that never takes anything keeps no routes alive', () => {
    const t = table();
    const [host, reader] = [new Listener(t), new Listener(t)];
    t.subscribe(reader.participant, 100);
    const words = wordsOf(a);
    for (let i = 0; i < 100_000; i += 1) {
      words[wordOf.prefix] = i;
      t.claim(host.participant, words);
      t.withdraw(host.participant, words);
    }
    assert.equal(t.routes.size, 0);
    assert.ok((t.networks.get(100)?.length ?? 0) < 100);
  });

  test('a table that was large and is empty takes routes again', () => {
    const t = table();
    const [host, reader] = [new Listener(t), new Listener(t)];
    t.subscribe(reader.participant, 100);
    const texts = Array.from({ length: 300 }, (_, i) => `100#10.0.${i >> 8}.${i & 255}/32#2001:db8::1`);
    for (let round = 0; round < 3; round += 1) {
      for (const text of texts) t.claim(host.participant, wordsOf(text));
      assert.equal(reader.listen().length, 300);
      for (const text of texts) t.withdraw(host.participant, wordsOf(text));
      assert.equal(reader.listen().length, 300);
    }
  });

  test('nothing is left of anybody when all have left', () => {
    const t = table();
    const listeners = [new Listener(t), new Listener(t), new Listener(t, 'server', true)];
    for (const { participant } of listeners) {
      for (let vni = 0; vni < 10; vni += 1) {
        t.subscribe(participant, vni);
        t.claim(participant, wordsOf(`${vni}#10.0.0.0/8#2001:db8::${participant.index}`));
      }
    }
    for (const listener of listeners) listener.listen(5);
    for (const { participant } of listeners) t.leave(participant);
    assert.equal(t.routes.size, 0);
    assert.equal(t.networks.size, 0);
  });
});

/** The rules of `RouteTable`, the slow way. */
class Reference {
  readonly says = new Map<Listener, Set<string>>();
  readonly wants = new Map<Listener, Set<number>>();

  expected(listener: Listener): Set<string> {
    const { participant } = listener;
    const told = new Set<string>();
    for (const [speaker, routes] of this.says) {
      if (speaker === listener) continue;
      if (speaker.participant.role === 'server' && participant.role === 'server') continue;
      for (const route of routes) {
        if (participant.role === 'self' && this.says.get(listener)?.has(route) === true) continue;
        if (participant.hearsAll || this.wants.get(listener)?.has(Number.parseInt(route, 10)) === true) told.add(route);
      }
    }
    return told;
  }
}

const routeTexts = [1, 2, 3].flatMap((vni) =>
  ['10.0.0.1/32', '10.0.0.0/24', '2001:db8:1::/48'].flatMap((prefix) =>
    ['2001:db8::1', '2001:db8::2#LB', '2001:db8::2#NAT#1024#2047'].map((hop) =>
      Route.parse(`${vni}#${prefix}#${hop}`).toString(),
    ),
  ),
);

type Step =
  | { do: 'join'; role: Role; hearsAll: boolean }
  | { do: 'leave' | 'detach' | 'attach' | 'sweep'; who: number }
  | { do: 'claim' | 'withdraw'; who: number; route: number }
  | { do: 'subscribe' | 'unsubscribe' | 'withdrawNetwork' | 'mute' | 'unmute'; who: number; vni: number }
  | { do: 'listen'; who: number; limit: number };

const who = fc.nat(5);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('join' as const),
      role: fc.constantFrom('self', 'client', 'server'),
      hearsAll: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('leave', 'detach', 'attach', 'sweep'), who }) },
  {
    weight: 12,
    arbitrary: fc.record({ do: fc.constantFrom('claim', 'withdraw'), who, route: fc.nat(routeTexts.length - 1) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('subscribe', 'unsubscribe', 'withdrawNetwork', 'mute', 'unmute'),
      who,
      vni: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('listen' as const), who, limit: fc.nat(6) }) },
);

class Run {
  readonly table = table();
  readonly reference = new Reference();
  readonly listeners: Listener[] = [];
  readonly stale = new Map<Listener, Set<string>>();

  take(step: Step): void {
    const listener = this.listeners['who' in step ? step.who % Math.max(1, this.listeners.length) : 0];
    if (step.do === 'join') this.#join(step.role, step.hearsAll);
    else if (listener === undefined) return;
    else if ('vni' in step) this.#choose(listener, step.do, step.vni);
    else if ('route' in step) this.#say(listener, step.do, routeTexts[step.route] ?? '');
    else if ('limit' in step) listener.listen(step.limit);
    else if (step.do === 'leave') this.#leave(listener);
    else if (step.do === 'detach') this.#detach(listener);
    else if (step.do === 'attach') this.#attach(listener);
    else this.#sweep(listener);
  }

  #join(role: Role, hearsAll: boolean): void {
    if (this.listeners.length >= 6) return;
    const listener = new Listener(this.table, role, hearsAll);
    this.listeners.push(listener);
    this.reference.says.set(listener, new Set());
    this.reference.wants.set(listener, new Set());
  }

  #leave(listener: Listener): void {
    this.table.leave(listener.participant);
    this.listeners.splice(this.listeners.indexOf(listener), 1);
    this.reference.says.delete(listener);
    this.reference.wants.delete(listener);
    this.stale.delete(listener);
  }

  #detach(listener: Listener): void {
    this.table.detach(listener.participant);
    listener.routes.clear();
    this.stale.set(listener, new Set(this.reference.says.get(listener)));
  }

  #attach(listener: Listener): void {
    if (!listener.participant.attached) this.table.attach(listener.participant);
  }

  #sweep(listener: Listener): void {
    this.table.withdrawStale(listener.participant);
    for (const route of this.stale.get(listener) ?? []) this.reference.says.get(listener)?.delete(route);
    this.stale.delete(listener);
  }

  #say(listener: Listener, what: 'claim' | 'withdraw', route: string): void {
    const says = this.reference.says.get(listener);
    const stale = this.stale.get(listener)?.delete(route) === true;
    if (what === 'claim') {
      const expected = says?.has(route) !== true ? 'new' : stale ? 'confirmed' : 'known';
      assert.equal(this.table.claim(listener.participant, wordsOf(route)), expected);
      says?.add(route);
    } else assert.equal(this.table.withdraw(listener.participant, wordsOf(route)), says?.delete(route));
  }

  #choose(
    listener: Listener,
    what: 'subscribe' | 'unsubscribe' | 'withdrawNetwork' | 'mute' | 'unmute',
    vni: number,
  ): void {
    const inNetwork = (route: string): boolean => route.startsWith(`${vni}#`);
    const { participant } = listener;
    if (what === 'withdrawNetwork') {
      this.table.withdrawNetwork(participant, vni);
      for (const set of [this.reference.says.get(listener), this.stale.get(listener)]) {
        for (const route of set ?? []) if (inNetwork(route)) set?.delete(route);
      }
      return;
    }
    const wants = this.reference.wants.get(listener);
    const hears = participant.hearsAll || wants?.has(vni) === true;
    if (what === 'subscribe') assert.equal(this.table.subscribe(participant, vni), !hears);
    else if (what === 'unsubscribe')
      assert.equal(this.table.unsubscribe(participant, vni), hears && !participant.hearsAll);
    else if (what === 'mute') this.table.mute(participant, vni);
    else this.table.unmute(participant, vni);
    if (what === 'subscribe' && !participant.hearsAll) wants?.add(vni);
    if (what === 'unsubscribe') wants?.delete(vni);
    const forgets = what === 'mute' || (what === 'unsubscribe' && !participant.hearsAll);
    if (forgets) for (const route of listener.routes) if (inNetwork(route)) listener.routes.delete(route);
  }

  check(): void {
    for (const listener of this.listeners) {
      if (!listener.participant.attached) this.table.attach(listener.participant);
      for (const vni of [1, 2, 3]) this.table.unmute(listener.participant, vni);
      listener.listen();
    }
    for (const listener of this.listeners) {
      assert.deepEqual([...listener.routes].sort(), [...this.reference.expected(listener)].sort());
      assert.equal(listener.participant.claimCount, this.reference.says.get(listener)?.size);
    }
    const all = new Set([...this.reference.says.values()].flatMap((routes) => [...routes]));
    assert.equal(this.table.routeCount, all.size);
    assert.equal(this.table.routes.size, all.size, 'no slot is kept for a route that everybody has forgotten');
    for (const listener of [...this.listeners]) this.#leave(listener);
    assert.deepEqual([this.table.routes.size, this.table.networks.size, this.table.routeCount], [0, 0, 0]);
  }
}

test('whatever happens in whatever order, everybody ends up knowing exactly what the rules say', () => {
  const numRuns = process.env['NETLOOM_SOAK'] === '1' ? 50_000 : 2000;
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 120, size: 'max' }), (steps) => {
      const run = new Run();
      for (const next of steps) run.take(next);
      run.check();
    }),
    { numRuns },
  );
});
