import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import fc from 'fast-check';
import { Address } from '../api/address.ts';
import type { AddressBlock, AddressHolder } from '../api/netloom.io/address-block.ts';
import type { AddressRange } from '../api/prefix.ts';
import { Pool } from './pool.ts';
import { blockOf, type Holding, type Placement, Space, saying } from './space.ts';

const address = (text: string): Address => {
  const parsed = Address.parse(text);
  assert.ok(parsed, text);
  return parsed;
};
const range = (first: string, last: string): AddressRange => ({ first: address(first), last: address(last) });
const holder = (name: string): AddressHolder => ({ kind: 'IPSet', name, uid: `uid of ${name}` });
const holding = (text: string, name: string): Holding => ({
  address: address(text),
  holder: holder(name),
  network: 'Storage',
  subnet: 'subnet1',
  since: '2026-01-01T00:00:00Z',
});
const block = (version: number, holdings: Holding[], { uid = 'block', prefix = '10.0.0.0/24' } = {}): AddressBlock => ({
  apiVersion: 'netloom.io/v1alpha1',
  kind: 'AddressBlock',
  metadata: {
    name: `underlay-${prefix.replace('/', '-')}`,
    namespace: 'openstack',
    uid,
    resourceVersion: String(version),
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: { space: 'underlay', prefix, holdings: saying(holdings) },
});
const textOf = (placement: Placement): string => {
  switch (placement.is) {
    case 'kept':
      return `kept ${placement.address}`;
    case 'held':
      return `held ${placement.holding.address}`;
    case 'taken':
      return `taken by ${placement.by.holder.name}`;
    case 'full':
      return 'full';
  }
};

let space: Space;
let pool: Pool;
const ask = (name: string, from: Address | Pool = pool): string =>
  textOf(space.place({ holder: holder(name), network: 'Storage', subnet: 'subnet1', from }));

beforeEach(() => {
  space = new Space({ namespace: 'openstack', name: 'underlay' });
  pool = new Pool({ family: 4, ranges: [range('10.0.0.10', '10.0.0.12')], excluded: [] });
  space.addPool(pool);
});

test('an address that is kept for one is not kept for another', () => {
  assert.equal(ask('a'), 'kept 10.0.0.10');
  assert.equal(ask('b'), 'kept 10.0.0.11');
  assert.equal(ask('c', address('10.0.0.11')), 'taken by b');
});

test('who asks once more for an address that is kept for him gets it', () => {
  assert.equal(ask('a', address('10.0.0.10')), 'kept 10.0.0.10');
  assert.equal(ask('b', address('10.0.0.10')), 'taken by a');
  assert.equal(ask('a', address('10.0.0.10')), 'kept 10.0.0.10');
});

test('an address that was kept in vain is free again', () => {
  ask('a');
  space.settle(address('10.0.0.10'));
  assert.equal(ask('b'), 'kept 10.0.0.10');
});

test('what a block holds is given to nobody else, and its holder finds it again', () => {
  space.observe(block(1, [holding('10.0.0.10', 'a')]));
  assert.equal(ask('b'), 'kept 10.0.0.11');
  assert.equal(ask('a'), 'held 10.0.0.10');
  assert.equal(ask('c', address('10.0.0.10')), 'taken by a');
});

test('a pool without a free address is full, until one is given back', () => {
  space.observe(block(1, [holding('10.0.0.10', 'a'), holding('10.0.0.11', 'b'), holding('10.0.0.12', 'c')]));
  assert.equal(ask('d'), 'full');
  space.observe(block(2, [holding('10.0.0.10', 'a'), holding('10.0.0.12', 'c')]));
  assert.equal(ask('d'), 'kept 10.0.0.11');
});

test('an older version of a block does not undo a newer one', () => {
  space.observe(block(10, [holding('10.0.0.10', 'a')]));
  space.observe(block(9, []));
  assert.equal(ask('b'), 'kept 10.0.0.11');
});

test('a block that was created anew replaces the former one, whatever their versions', () => {
  space.observe(block(10, [holding('10.0.0.10', 'a')]));
  space.observe(block(9, [], { uid: 'another' }));
  assert.equal(ask('b'), 'kept 10.0.0.10');
});

test('a block that is gone holds nothing, unless it is one that we no longer know', () => {
  space.observe(block(10, [holding('10.0.0.10', 'a')]));
  const { name } = block(10, []).metadata;
  space.forget(name, 'a former one');
  assert.equal(ask('b'), 'kept 10.0.0.11');
  space.forget(name, 'block');
  assert.equal(ask('c'), 'kept 10.0.0.10');
});

test('an address that changes hands in one write belongs to the new holder', () => {
  space.observe(block(1, [holding('10.0.0.10', 'a')]));
  space.observe(block(2, [holding('10.0.0.10', 'b')]));
  assert.equal(space.holderOf(address('10.0.0.10'))?.name, 'b');
  assert.deepEqual(space.heldBy('uid of a'), []);
  assert.equal(ask('c'), 'kept 10.0.0.11');
});

test('an entry of a block that is no address is passed over', () => {
  const odd = block(1, [holding('10.0.0.10', 'a')]);
  odd.spec.holdings.push({ address: 'here', holder: holder('b'), network: 'n', subnet: 's', since: '' });
  space.observe(odd);
  assert.equal(ask('b'), 'kept 10.0.0.11');
});

test('the block of an address is named after space and prefix', () => {
  assert.equal(blockOf(space, address('10.0.0.10')), 'underlay-10.0.0.0-24');
});

test('whatever blocks say and whoever asks: no address is given twice, and the lowest free one is given', () => {
  const offsets = fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { maxLength: 20 });
  const steps = fc.array(fc.oneof(fc.record({ block: offsets }), fc.constant('ask' as const)), { maxLength: 40 });
  fc.assert(
    fc.property(steps, (actions) => {
      const space = new Space({ namespace: 'openstack', name: 'underlay' });
      const pool = new Pool({ family: 4, ranges: [range('10.0.0.1', '10.0.0.20')], excluded: [] });
      space.addPool(pool);
      let inBlock = new Set<string>();
      const kept = new Set<string>();
      for (const [i, action] of actions.entries()) {
        if (action === 'ask') {
          const placement = space.place({ holder: holder(`n${i}`), network: 'n', subnet: 's', from: pool });
          const free = Array.from({ length: 20 }, (_, n) => `10.0.0.${n + 1}`).filter(
            (text) => !inBlock.has(text) && !kept.has(text),
          );
          assert.equal(textOf(placement), free.length === 0 ? 'full' : `kept ${free[0]}`);
          if (placement.is === 'kept') kept.add(`${placement.address}`);
        } else {
          inBlock = new Set(action.block.map((n) => `10.0.0.${n}`));
          space.observe(
            block(
              i + 1,
              [...inBlock].map((text) => holding(text, text)),
            ),
          );
        }
      }
    }),
  );
});

test('a block that is not there when all are listed is gone, unless it was written later', () => {
  space.observe(block(5, [holding('10.0.0.10', 'a')]));
  const there = block(6, [holding('10.0.1.10', 'b')], { uid: 'other', prefix: '10.0.1.0/24' });
  space.observe(there);
  space.forgetMissing('4', () => false);
  assert.equal(space.heldBy('uid of a').length, 1);
  space.forgetMissing('20', (name) => name === there.metadata.name);
  assert.deepEqual([space.heldBy('uid of a').length, space.heldBy('uid of b').length], [0, 1]);
  assert.equal(ask('c'), 'kept 10.0.0.10');
});

test('says which addresses nobody has any more, be it that a block says so or that they were kept in vain', () => {
  const freed: string[] = [];
  space.onFreed((one) => freed.push(`${one}`));
  space.observe(block(1, [holding('10.0.0.10', 'a'), holding('10.0.0.11', 'b')]));
  space.observe(block(2, [holding('10.0.0.11', 'b')]));
  assert.deepEqual(freed, ['10.0.0.10']);
  ask('c', address('10.0.0.12'));
  space.settle(address('10.0.0.12'));
  assert.deepEqual(freed, ['10.0.0.10', '10.0.0.12']);
});

test('says who comes to hold two addresses of one subnet', () => {
  const doubled: string[] = [];
  space.onDoubled(({ name }) => doubled.push(name));
  const other = { ...holding('10.0.0.12', 'a'), subnet: 'another' };
  space.observe(block(1, [holding('10.0.0.10', 'a'), holding('10.0.0.11', 'b'), other]));
  assert.deepEqual(doubled, []);
  space.observe(block(2, [holding('10.0.0.10', 'a'), holding('10.0.0.11', 'b'), other, holding('10.0.0.13', 'a')]));
  assert.deepEqual(doubled, ['a']);
});
