import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Faults, storm } from '../../test/simulation/faults.ts';
import { type World, world } from '../../test/simulation/world.ts';
import { Address } from '../api/address.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { Prefix } from '../api/prefix.ts';
import { Client } from '../runtime/client.ts';
import { Informers } from '../runtime/informers.ts';
import { Ledger, type Outcome } from './ledger.ts';
import { Pool } from './pool.ts';
import type { Request, Space } from './space.ts';

const address = (text: string): Address => {
  const parsed = Address.parse(text);
  assert.ok(parsed, text);
  return parsed;
};
const textOf = (outcome: Outcome): string => {
  switch (outcome.is) {
    case 'held':
      return `${outcome.holding.address}`;
    case 'taken':
      return `taken by ${outcome.by.holder.name}`;
    case 'full':
      return 'full';
    case 'unknown':
      return 'unknown';
  }
};

/** A ledger of its own, as another process has one. `listening`: hears of blocks; else it knows only what it asks for. */
async function ledgerIn(
  all: World,
  { faults = {}, listening = true }: { faults?: Partial<Faults>; listening?: boolean } = {},
) {
  const transport = all.api.transport(faults);
  const client = new Client({ transport, fieldManager: 'ledger' });
  if (!listening) return { transport, ledger: new Ledger({ client, clock: all.clock }), stop: async () => {} };
  const informers = new Informers({ client, system: all.clock, log: all.log, freeze: true });
  const ledger = Ledger.of({ client, informers, system: all.clock });
  await all.clock.run(informers.of(AddressBlock).whenSynced());
  return { transport, ledger, stop: () => informers.stop() };
}

const blocks = () => world({ kinds: [AddressBlock], level: 'error' });
const underlay = (ledger: Ledger): Space => ledger.space('openstack', 'underlay');
const request = (name: string, from: Address | Pool): Request => ({
  holder: { kind: 'IPSet', name, uid: `uid of ${name}` },
  network: 'Storage',
  subnet: 'subnet1',
  from,
});
function poolOf(space: Space, text: string): Pool {
  const prefix = Prefix.parse(text);
  assert.ok(prefix);
  const pool = new Pool({ family: prefix.family, ranges: [prefix], excluded: [] });
  space.addPool(pool);
  return pool;
}
const onRecord = (all: World): string[] =>
  all.api.objects(AddressBlock).flatMap(({ spec }) => spec.holdings.map((one) => `${one.address} ${one.holder.name}`));
const writes = (all: World): number =>
  [...all.api.requests].reduce((sum, [what, count]) => (/^(post|put)/.test(what) ? sum + count : sum), 0);

describe('a ledger', () => {
  it('records many holdings of one block in one write', async () => {
    const all = blocks();
    const { ledger } = await ledgerIn(all);
    const space = underlay(ledger);
    const pool = poolOf(space, '10.0.0.0/24');
    const outcomes = await ledger.hold(
      space,
      Array.from({ length: 100 }, (_, i) => request(`n${i}`, pool)),
    );
    assert.deepEqual(
      outcomes.map(textOf),
      Array.from({ length: 100 }, (_, i) => `10.0.0.${i + 1}`),
    );
    assert.equal(writes(all), 1);
  });

  it('does not take back exactly what was put on record anew meanwhile', async () => {
    const all = blocks();
    const { ledger } = await ledgerIn(all);
    const space = underlay(ledger);
    const asked = request('a', address('10.0.0.1'));
    await ledger.hold(space, [asked]);
    const before = space.heldBy('uid of a');
    await ledger.hold(space, [{ ...asked, afresh: true }]);
    assert.equal(space.heldBy('uid of a').length, 1);
    await ledger.release(space, before, { exactly: true });
    assert.deepEqual(onRecord(all), ['10.0.0.1 a']);
    await ledger.release(space, space.heldBy('uid of a'), { exactly: true });
    assert.deepEqual(onRecord(all), []);
  });

  it('gives nothing in a space before what must come first there is done, and tries that again when it failed', async () => {
    const all = blocks();
    const { ledger } = await ledgerIn(all);
    const space = underlay(ledger);
    let attempts = 0;
    ledger.prepareWith('underlay', async (_, hold) => {
      attempts += 1;
      if (attempts === 1) throw new Error('nobody knows yet');
      await hold([request('first', address('10.0.0.1'))]);
    });
    const pool = poolOf(space, '10.0.0.0/24');
    assert.deepEqual((await ledger.hold(space, [request('a', pool)])).map(textOf), ['unknown']);
    assert.deepEqual(onRecord(all), []);
    const both = await Promise.all(['b', 'c'].map((name) => ledger.hold(space, [request(name, pool)])));
    assert.deepEqual(both.flat().map(textOf), ['10.0.0.2', '10.0.0.3']);
    assert.equal(attempts, 2);
  });

  it('releases once what two want to release at the same moment', async () => {
    const all = blocks();
    const { ledger } = await ledgerIn(all);
    const space = underlay(ledger);
    await ledger.hold(space, [request('a', address('10.0.0.1'))]);
    const held = space.heldBy('uid of a');
    const both = Promise.all([
      ledger.release(space, held, { coolDown: 10_000 }),
      all.clock.advance(5_000).then(() => ledger.release(space, held, { coolDown: 20_000 })),
      ledger.release(space, held, { coolDown: 20_000 }),
    ]);
    await all.clock.run(both);
    assert.deepEqual(onRecord(all), ['10.0.0.1 a']);
    const [block] = all.api.objects(AddressBlock);
    assert.equal(block?.spec.holdings[0]?.coolsUntil, '2026-01-01T00:00:10Z', 'the first one counts');
  });

  it('takes what comes in during a write along with the next one', async () => {
    const all = blocks();
    const { ledger } = await ledgerIn(all, { faults: { delay: [10, 10] } });
    const space = underlay(ledger);
    const pool = poolOf(space, '10.0.0.0/24');
    const asked: Promise<Outcome[]>[] = [];
    for (let i = 0; i < 10; i += 1) {
      asked.push(ledger.hold(space, [request(`n${i}`, pool)]));
      await all.clock.advance(1);
    }
    await all.clock.run(Promise.all(asked));
    assert.equal(writes(all), 2);
    assert.equal(onRecord(all).length, 10);
  });

  it('gives the next address when another allocator was faster, and never the same', async () => {
    const all = blocks();
    const one = await ledgerIn(all, { listening: false });
    const other = await ledgerIn(all, { listening: false });
    const ask = (ledger: Ledger, name: string) => {
      const space = underlay(ledger);
      return ledger.hold(space, [request(name, poolOf(space, '10.0.0.0/24'))]);
    };
    const outcomes = await Promise.all([ask(one.ledger, 'a'), ask(other.ledger, 'b')]);
    assert.deepEqual(outcomes.flat().map(textOf).sort(), ['10.0.0.1', '10.0.0.2']);
    assert.deepEqual(
      onRecord(all).sort(),
      outcomes
        .flat()
        .map((outcome, i) => `${textOf(outcome)} ${'ab'[i]}`)
        .sort(),
    );
  });

  it('names the holder of an address that another allocator recorded, without having heard of it', async () => {
    const all = blocks();
    const one = await ledgerIn(all, { listening: false });
    const other = await ledgerIn(all, { listening: false });
    await one.ledger.hold(underlay(one.ledger), [request('a', address('10.0.0.7'))]);
    const [outcome] = await other.ledger.hold(underlay(other.ledger), [request('b', address('10.0.0.7'))]);
    assert.equal(outcome && textOf(outcome), 'taken by a');
  });

  it('finds out that a write was done whose answer was lost', async () => {
    const all = blocks();
    const { ledger, transport } = await ledgerIn(all);
    const space = underlay(ledger);
    transport.faults = { ...transport.faults, delay: [10, 10], lostAnswer: 1 };
    const asked = ledger.hold(space, [request('a', address('10.0.0.7'))]);
    await all.clock.advance(20);
    transport.faults = { ...transport.faults, lostAnswer: 0 };
    const [outcome] = await all.clock.run(asked);
    assert.equal(outcome && textOf(outcome), '10.0.0.7');
    assert.deepEqual(onRecord(all), ['10.0.0.7 a']);
  });

  it('keeps nothing from others that it could not record', async () => {
    const all = blocks();
    const { ledger, transport } = await ledgerIn(all);
    const space = underlay(ledger);
    const pool = poolOf(space, '10.0.0.0/30');
    transport.cut();
    const [lost] = await ledger.hold(space, [request('a', pool)]);
    assert.equal(lost && textOf(lost), 'unknown');
    transport.mend();
    await all.clock.advance(60_000);
    const { transport: _, ledger: later } = await ledgerIn(all);
    const laterSpace = underlay(later);
    const [outcome] = await later.hold(laterSpace, [request('b', poolOf(laterSpace, '10.0.0.0/30'))]);
    assert.equal(outcome && textOf(outcome), '10.0.0.1');
  });

  it('gives back, and what is given back is the first to be given again', async () => {
    const all = blocks();
    const { ledger } = await ledgerIn(all);
    const space = underlay(ledger);
    const pool = poolOf(space, '10.0.0.0/24');
    await ledger.hold(space, [request('a', pool), request('b', pool), request('c', pool)]);
    await ledger.release(space, space.heldBy('uid of b'));
    assert.deepEqual(onRecord(all), ['10.0.0.1 a', '10.0.0.3 c']);
    const [outcome] = await ledger.hold(space, [request('d', pool)]);
    assert.equal(outcome && textOf(outcome), '10.0.0.2');
  });

  it('takes an address over from an object whose heir the holder is', async () => {
    const all = blocks();
    const { ledger } = await ledgerIn(all);
    const space = underlay(ledger);
    await ledger.hold(space, [request('a', address('10.0.0.7'))]);
    const heir = { ...request('b', address('10.0.0.7')), heirOf: 'uid of a' };
    const [outcome] = await ledger.hold(space, [heir]);
    assert.equal(outcome && textOf(outcome), '10.0.0.7');
    assert.deepEqual(onRecord(all), ['10.0.0.7 b']);
  });

  it('protects a block that holds something from being deleted, and only such a one', async () => {
    const all = blocks();
    const { ledger } = await ledgerIn(all);
    const space = underlay(ledger);
    await ledger.hold(space, [request('a', address('10.0.0.7'))]);
    assert.deepEqual(all.api.objects(AddressBlock)[0]?.metadata.finalizers, ['netloom.io/holdings']);
    await ledger.release(space, space.heldBy('uid of a'));
    assert.deepEqual(all.api.objects(AddressBlock)[0]?.metadata.finalizers ?? [], []);
  });

  it('gives no address twice through any storm', async () => {
    for (let seed = 1; seed <= 8; seed += 1) {
      const all = world({ seed, kinds: [AddressBlock], level: 'error' });
      const ledgers = await Promise.all([1, 2, 3].map((_, i) => ledgerIn(all, { faults: storm, listening: i > 0 })));
      const given = new Map<string, string>();
      await all.clock.run(
        Promise.all(
          ledgers.map(async ({ ledger }, n) => {
            const space = underlay(ledger);
            const pool = poolOf(space, '10.0.0.0/26');
            for (let i = 0; i < 15; i += 1) {
              const name = `n${n}-${i}`;
              const [outcome] = await ledger.hold(space, [request(name, pool)]);
              if (outcome?.is !== 'held') continue;
              assert.equal(given.get(textOf(outcome)), undefined, `seed ${seed}: ${textOf(outcome)} was given twice`);
              given.set(textOf(outcome), name);
            }
          }),
        ),
      );
      const recorded = new Set(onRecord(all));
      for (const [text, name] of given)
        assert.ok(recorded.has(`${text} ${name}`), `seed ${seed}: ${text} is not on record`);
      await Promise.all(ledgers.map(({ stop }) => stop()));
    }
  });
});
