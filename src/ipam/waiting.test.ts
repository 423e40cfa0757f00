import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Address } from '../api/address.ts';
import { Prefix } from '../api/prefix.ts';
import { NAMESPACE, network, subnet } from './environment.fixture.ts';
import { KeptBack } from './kept-back.ts';
import { Subnet } from './networks.ts';
import { type Waiter, Waiting } from './waiting.ts';

const waiter = (name: string, second = 0): Waiter => ({
  holder: { kind: 'IPSet', name, uid: name },
  ref: { namespace: NAMESPACE, name },
  created: `2026-01-01T00:00:0${second}Z`,
});
const address = (text: string): Address => {
  const parsed = Address.parse(text);
  assert.ok(parsed, text);
  return parsed;
};
const prefix = Prefix.parse('172.18.0.0/24');
assert.ok(prefix);
const nothing = new KeptBack({ spec: { networks: [] } });
const any = { subnet: new Subnet(network(), subnet(), prefix, nothing) };
const certain = { ...any, address: address('172.18.0.5') };
const here = { network: 'Storage', subnet: 'subnet1', isUnderWay: false };
const names = (waiters: Waiter[]): string[] => waiters.map(({ holder }) => holder.name);
const nobody = new Set<string>();

test('older ones come first, and of the same age those who came first', () => {
  const waiting = new Waiting();
  for (const one of [waiter('c', 2), waiter('a', 1), waiter('b', 1)]) waiting.set(one, [any]);
  const freed = ['172.18.0.10', '172.18.0.11', '172.18.0.12', '172.18.0.13'].map(address);
  assert.deepEqual(names(waiting.nextFor(freed)), ['a', 'b', 'c']);
  assert.deepEqual(names(waiting.nextFor(freed.slice(2))), ['a', 'b']);
});

test('an address of another subnet wakes nobody', () => {
  const waiting = new Waiting();
  waiting.set(waiter('a'), [any]);
  assert.deepEqual(waiting.nextFor([address('172.19.0.10')]), []);
  assert.deepEqual(
    waiting.afterServing([{ address: address('172.18.0.5'), uid: 'x', ...here, network: 'Tenant' }]),
    [],
  );
});

test('who waits for a certain address is woken by that one only', () => {
  const waiting = new Waiting();
  waiting.set(waiter('a'), [certain]);
  assert.deepEqual(names(waiting.nextFor([address('172.18.0.10')])), []);
  assert.deepEqual(names(waiting.nextFor([address('172.18.0.5')])), ['a']);
});

test('all who wait for the same address hear that somebody has it', () => {
  const waiting = new Waiting();
  for (const name of ['a', 'b', 'c']) waiting.set(waiter(name), [certain]);
  const served = { ...here, address: certain.address, uid: 'x' };
  assert.deepEqual(names(waiting.afterServing([served])), ['a', 'b', 'c']);
});

test('all who wait for the same address hear that it has become free', () => {
  const waiting = new Waiting();
  for (const name of ['a', 'b', 'c']) waiting.set(waiter(name), [certain]);
  assert.deepEqual(names(waiting.nextFor([address('172.18.0.5')])), ['a', 'b', 'c']);
  assert.deepEqual(names(waiting.nextFor([address('172.18.0.6')])), []);
});

test('who comes later yields to those who wait, unless they are asked together', () => {
  const waiting = new Waiting();
  waiting.set(waiter('first'), [any]);
  assert.equal(waiting.ahead(waiter('later'), any, nobody)?.name, 'first');
  assert.equal(waiting.ahead(waiter('later'), any, new Set(['first', 'later'])), undefined);
  assert.equal(waiting.ahead(waiter('first'), any, new Set(['first'])), undefined);
});

test('who has been served, and does not know it yet, is nobody to yield to', () => {
  const held = new Map([['first', [address('172.18.0.10')]]]);
  const waiting = new Waiting((uid) => held.get(uid) ?? []);
  waiting.set(waiter('first'), [any]);
  waiting.set(waiter('second'), [any]);
  assert.equal(waiting.ahead(waiter('third'), any, nobody)?.name, 'second');
  assert.equal(waiting.ahead(waiter('second'), any, new Set(['second'])), undefined);
});

test('two of the same age never wait for each other', () => {
  const waiting = new Waiting();
  waiting.set(waiter('a'), [any]);
  waiting.set(waiter('b'), [any]);
  assert.equal(waiting.ahead(waiter('a'), any, new Set(['a'])), undefined);
  assert.equal(waiting.ahead(waiter('b'), any, new Set(['b']))?.name, 'a');
});

test('who has been served or has left stands in nobody’s way', () => {
  const waiting = new Waiting();
  for (const name of ['a', 'b', 'c']) waiting.set(waiter(name), [any]);
  waiting.set(waiter('a'), []);
  waiting.forget('b');
  assert.deepEqual(names(waiting.heads()), ['c']);
  waiting.forget('c');
  assert.equal(waiting.isEmpty, true);
});

test('who has been served and has not left the queue is told, and so is the next one', () => {
  const waiting = new Waiting();
  for (const name of ['a', 'b', 'c']) waiting.set(waiter(name), [any]);
  const served = { address: address('172.18.0.10'), uid: 'a', ...here };
  assert.deepEqual(names(waiting.afterServing([served])), ['a', 'b']);
  waiting.set(waiter('a'), []);
  assert.deepEqual(names(waiting.afterServing([served])), ['b']);
});

test('whom we are just serving ourselves nobody has to tell', () => {
  const waiting = new Waiting();
  for (const name of ['a', 'b']) waiting.set(waiter(name), [any]);
  const served = { address: address('172.18.0.10'), uid: 'a', ...here, isUnderWay: true };
  assert.deepEqual(names(waiting.afterServing([served])), ['b']);
});

test('where something is left after somebody was served, more than the next one are told', () => {
  let isLeft = true;
  const waiting = new Waiting(undefined, () => isLeft);
  for (const name of ['a', 'b', 'c', 'd']) waiting.set(waiter(name), [any]);
  const served = [
    { address: address('172.18.0.10'), uid: 'a', ...here },
    { address: address('172.18.0.11'), uid: 'somebody who does not wait', ...here },
  ];
  assert.deepEqual(names(waiting.afterServing(served)), ['a', 'b', 'c', 'd']);
  isLeft = false;
  assert.deepEqual(names(waiting.afterServing(served)), ['a', 'b']);
});

test('everybody who waits, for whatever, is named once, the oldest first', () => {
  const waiting = new Waiting();
  const certain = { ...any, address: address('172.18.0.5') };
  waiting.set(waiter('b'), [certain]);
  waiting.set(waiter('a'), [any, certain]);
  assert.deepEqual(names(waiting.inOrder()), ['b', 'a']);
});

test('who has been served is told also when the address is outside of the ranges by now', () => {
  const waiting = new Waiting();
  waiting.set(waiter('a'), [any]);
  const outside = { address: address('172.18.0.5'), uid: 'a', ...here };
  assert.deepEqual(names(waiting.afterServing([outside])), ['a']);
  assert.deepEqual(names(waiting.afterServing([{ ...outside, network: 'Tenant' }])), []);
});

test('asking again does not cost one’s place', () => {
  const waiting = new Waiting();
  for (const name of ['a', 'b', 'a']) waiting.set(waiter(name), [any]);
  assert.deepEqual(names(waiting.heads()), ['a']);
});

test('what is woken goes by the newest definition of the subnet', () => {
  const waiting = new Waiting();
  waiting.set(waiter('a'), [any]);
  const moved = {
    subnet: new Subnet(
      network(),
      subnet({ allocationRanges: [{ start: '172.18.0.5', end: '172.18.0.5' }] }),
      prefix,
      nothing,
    ),
  };
  assert.deepEqual(waiting.nextFor([certain.address]), []);
  waiting.set(waiter('a'), [moved]);
  assert.deepEqual(names(waiting.nextFor([certain.address])), ['a']);
});
