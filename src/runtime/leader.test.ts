import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Faults, storm } from '../../test/simulation/faults.ts';
import { type World, world } from '../../test/simulation/world.ts';
import { Lease } from './builtin.ts';
import { Client } from './client.ts';
import { type System, sleep } from './clock.ts';
import { Leadership, type LeadershipOptions } from './leader.ts';
import { skewed } from './simulated-clock.ts';

const lease = { namespace: 'netloom', name: 'controllers' };

interface CandidateOptions extends Partial<LeadershipOptions> {
  faults?: Partial<Faults>;
  system?: System;
  /** How long it takes to let go. */
  cleanup?: number;
}

/** A candidate that notes who leads from when to when. */
function candidate(
  all: World,
  identity: string,
  { faults = {}, system = all.clock, cleanup = 0, ...more }: CandidateOptions = {},
) {
  const transport = all.api.transport(faults);
  const client = new Client({ transport, fieldManager: identity });
  const leadership = new Leadership({ client, lease, identity, system, log: all.log, ...more });
  const stop = new AbortController();
  const terms: { from: number; to: number }[] = [];
  const lead = async (signal: AbortSignal): Promise<void> => {
    const term = { from: all.clock.uptime(), to: Number.POSITIVE_INFINITY };
    terms.push(term);
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    if (cleanup > 0) await sleep(all.clock, cleanup);
    term.to = all.clock.uptime();
  };
  const running = leadership.run(lead, stop.signal);
  return { leadership, transport, terms, running, stop: () => stop.abort() };
}

const holder = (all: World): string | undefined => all.api.objects(Lease)[0]?.spec?.holderIdentity;

describe('leader election', () => {
  it('makes one candidate the leader, who writes down since when', async () => {
    const all = world({ kinds: [Lease] });
    const [a, b] = [candidate(all, 'a'), candidate(all, 'b')];
    await all.clock.advance(60_000);
    assert.deepEqual([a.leadership.leading, b.leadership.leading], [true, false]);
    const spec = all.api.objects(Lease)[0]?.spec;
    const { renewTime, ...rest } = spec ?? {};
    const acquireTime = '2026-01-01T00:00:00.000000Z';
    assert.deepEqual(rest, { holderIdentity: 'a', leaseDurationSeconds: 15, acquireTime, leaseTransitions: 0 });
    assert.match(renewTime ?? '', /^2026-01-01T00:0[01]:\d\d\.\d{6}Z$/);
    for (const one of [a, b]) one.stop();
    await all.clock.run(Promise.all([a.running, b.running]));
    assert.equal(all.clock.pending, 0);
  });

  it('hands over at once when the leader stops, but not before it has cleaned up', async () => {
    const all = world({ kinds: [Lease] });
    const a = candidate(all, 'a', { cleanup: 20_000 });
    await all.clock.advance(0);
    const b = candidate(all, 'b');
    await all.clock.advance(10_000);
    a.stop();
    await all.clock.run(a.running);
    const ended = a.terms[0]?.to ?? 0;
    assert.equal(ended, 30_000);
    await all.clock.until(() => b.leadership.leading);
    assert.ok(all.clock.uptime() - ended < 5_000, `took ${all.clock.uptime() - ended} ms`);
    assert.equal(all.api.objects(Lease)[0]?.spec?.leaseTransitions, 1);
    b.stop();
    await all.clock.run(b.running);
  });

  it('takes over from a leader that is cut off, after that one has stopped leading by itself', async () => {
    const all = world({ kinds: [Lease] });
    const [a, b] = [candidate(all, 'a'), candidate(all, 'b')];
    await all.clock.advance(20_000);
    a.transport.cut();
    const cutAt = all.clock.uptime();
    await all.clock.until(() => b.leadership.leading);
    assert.equal(a.leadership.leading, false);
    assert.ok((a.terms[0]?.to ?? 0) - cutAt <= 10_000);
    assert.ok(all.clock.uptime() - cutAt <= 20_000);
    a.transport.mend();
    await all.clock.advance(60_000);
    assert.deepEqual([a.leadership.leading, b.leadership.leading, holder(all)], [false, true, 'b']);
    for (const one of [a, b]) one.stop();
    await all.clock.run(Promise.all([a.running, b.running]));
  });

  it('stops leading in time even when a renewal hangs without an answer', async () => {
    const all = world({ kinds: [Lease] });
    const a = candidate(all, 'a');
    await all.clock.advance(20_000);
    a.transport.faults = { ...a.transport.faults, delay: [70_000, 70_000] };
    const before = all.clock.uptime();
    await all.clock.until(() => !a.leadership.leading);
    assert.ok(all.clock.uptime() - before <= 10_000);
    a.transport.faults = { ...a.transport.faults, delay: [0, 0] };
    await all.clock.until(() => a.leadership.leading);
    a.stop();
    await all.clock.run(a.running);
  });

  it('outlasts a short outage of the server, and leads on', async () => {
    const all = world({ kinds: [Lease] });
    const a = candidate(all, 'a');
    await all.clock.advance(20_000);
    all.api.stop();
    await all.clock.advance(7_000);
    all.api.start();
    await all.clock.advance(60_000);
    assert.equal(a.terms.length, 1);
    assert.equal(a.leadership.leading, true);
    a.stop();
    await all.clock.run(a.running);
  });

  it('does not care what time the others think it is', async () => {
    const all = world({ kinds: [Lease] });
    const ahead = candidate(all, 'ahead', { system: skewed(all.clock, { ahead: 3_600_000 }) });
    const behind = candidate(all, 'behind', { system: skewed(all.clock, { ahead: -3_600_000 }) });
    await all.clock.advance(600_000);
    assert.deepEqual([ahead.terms.length, behind.terms.length], [1, 0]);
    ahead.stop();
    await all.clock.until(() => behind.leadership.leading);
    behind.stop();
    await all.clock.run(Promise.all([ahead.running, behind.running]));
  });

  it('gives up the lead when somebody else has taken the lease, or deleted it', async () => {
    const all = world({ kinds: [Lease] });
    const a = candidate(all, 'a');
    await all.clock.advance(1_000);
    await all.client.patch(Lease, lease, { merge: { spec: { holderIdentity: 'thief' } } });
    await all.clock.advance(2_000);
    assert.equal(a.leadership.leading, false);
    await all.client.delete(Lease, lease);
    await all.clock.until(() => a.leadership.leading);
    assert.equal(a.terms.length, 2);
    a.stop();
    await all.clock.run(a.running);
    assert.equal(holder(all), '');
  });

  it('goes on when the lease was touched by others but is still its own', async () => {
    const all = world({ kinds: [Lease] });
    const a = candidate(all, 'a');
    await all.clock.advance(1_000);
    await all.client.patch(Lease, lease, { merge: { metadata: { labels: { seen: 'yes' } } } });
    await all.clock.advance(30_000);
    assert.equal(a.terms.length, 1);
    a.stop();
    await all.clock.run(a.running);
  });

  it('ends with the failure of the one who leads, after having given the lease back', async () => {
    const all = world({ kinds: [Lease] });
    const client = new Client({ transport: all.api.transport(), fieldManager: 'a' });
    const { clock: system, log } = all;
    const leadership = new Leadership({ client, lease, identity: 'a', system, log });
    const lead = async (): Promise<void> => {
      throw new Error('cannot lead');
    };
    await assert.rejects(all.clock.run(leadership.run(lead, new AbortController().signal)), /cannot lead/);
    assert.equal(holder(all), '');
  });

  it('never has two leaders at once, whatever the network does, while clocks run no more than a fifth apart', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const all = world({ seed, kinds: [Lease], level: 'error' });
        const rates = [0.9, 1, 1.08];
        const candidates = rates.map((rate, i) =>
          candidate(all, `c${i}`, { faults: storm, system: skewed(all.clock, { rate, ahead: i * 1e6 }), cleanup: 0 }),
        );
        for (let step = 0; step < 40; step += 1) {
          const one = candidates[Math.floor(all.clock.random() * candidates.length)];
          const what = all.clock.random();
          if (what < 0.15) one?.transport.cut();
          else if (what < 0.4) one?.transport.mend();
          else if (what < 0.45) all.api.stop();
          else if (what < 0.6) all.api.start();
          await all.clock.advance(all.clock.random() * 20_000);
        }
        const terms = candidates.flatMap(({ terms }) => terms).sort((a, b) => a.from - b.from);
        terms.slice(1).forEach((term, i) => {
          const before = terms[i]?.to ?? 0;
          assert.ok(before <= term.from, `one led until ${before}, the next one from ${term.from}`);
        });
        all.api.start();
        for (const { transport } of candidates) transport.mend();
        await all.clock.until(() => candidates.some(({ leadership }) => leadership.leading), { within: 120_000 });
        for (const one of candidates) one.stop();
        await all.clock.run(Promise.all(candidates.map(({ running }) => running)));
        await all.clock.advance(10_000);
        assert.equal(all.clock.pending, 0);
      }),
      { numRuns: 8 },
    );
  });
});
