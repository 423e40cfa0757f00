import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Address } from '../api/address.ts';
import type { IPSet } from '../api/network.openstack.org/ipset.ts';
import { Prefix } from '../api/prefix.ts';
import { NAMESPACE, network, subnet } from './environment.fixture.ts';
import { Subnet } from './networks.ts';
import { Waiting } from './waiting.ts';

const ipSet = (name: string, second = 0): IPSet => ({
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'IPSet',
  metadata: {
    name,
    namespace: NAMESPACE,
    uid: name,
    resourceVersion: '1',
    creationTimestamp: `2026-01-01T00:00:0${second}Z`,
  },
  spec: { immutable: false, networks: [] },
});
const address = (text: string): Address => {
  const parsed = Address.parse(text);
  assert.ok(parsed, text);
  return parsed;
};
const prefix = Prefix.parse('172.18.0.0/24');
assert.ok(prefix);
const any = { subnet: new Subnet(network(), subnet(), prefix) };
const certain = { ...any, address: address('172.18.0.5') };
const names = (refs: { name: string }[]): string[] => refs.map(({ name }) => name);
const nobody = new Set<string>();

test('older ones come first, and of the same age those who came first', () => {
  const waiting = new Waiting();
  for (const one of [ipSet('c', 2), ipSet('a', 1), ipSet('b', 1)]) waiting.set(one, [any]);
  const freed = ['172.18.0.10', '172.18.0.11', '172.18.0.12', '172.18.0.13'].map(address);
  assert.deepEqual(names(waiting.nextFor(freed)), ['a', 'b', 'c']);
  assert.deepEqual(names(waiting.nextFor(freed.slice(2))), ['a', 'b']);
});

test('an address of another subnet wakes nobody', () => {
  const waiting = new Waiting();
  waiting.set(ipSet('a'), [any]);
  assert.deepEqual(waiting.nextFor([address('172.19.0.10')]), []);
  assert.deepEqual(waiting.headsAmong([address('172.18.0.5')]), []);
});

test('who waits for a certain address is woken by that one only', () => {
  const waiting = new Waiting();
  waiting.set(ipSet('a'), [certain]);
  assert.deepEqual(names(waiting.nextFor([address('172.18.0.10')])), []);
  assert.deepEqual(names(waiting.nextFor([address('172.18.0.5')])), ['a']);
});

test('all who wait for the same address hear that it has become free', () => {
  const waiting = new Waiting();
  for (const name of ['a', 'b', 'c']) waiting.set(ipSet(name), [certain]);
  assert.deepEqual(names(waiting.nextFor([address('172.18.0.5')])), ['a', 'b', 'c']);
  assert.deepEqual(names(waiting.nextFor([address('172.18.0.6')])), []);
});

test('who comes later yields to those who wait, unless they are asked together', () => {
  const waiting = new Waiting();
  waiting.set(ipSet('first'), [any]);
  assert.equal(waiting.ahead(ipSet('later'), any, nobody)?.name, 'first');
  assert.equal(waiting.ahead(ipSet('later'), any, new Set(['first', 'later'])), undefined);
  assert.equal(waiting.ahead(ipSet('first'), any, new Set(['first'])), undefined);
});

test('two of the same age never wait for each other', () => {
  const waiting = new Waiting();
  waiting.set(ipSet('a'), [any]);
  waiting.set(ipSet('b'), [any]);
  assert.equal(waiting.ahead(ipSet('a'), any, new Set(['a'])), undefined);
  assert.equal(waiting.ahead(ipSet('b'), any, new Set(['b']))?.name, 'a');
});

test('who has been served or has left stands in nobody’s way', () => {
  const waiting = new Waiting();
  for (const name of ['a', 'b', 'c']) waiting.set(ipSet(name), [any]);
  waiting.set(ipSet('a'), []);
  waiting.forget('b');
  assert.deepEqual(names(waiting.heads()), ['c']);
  waiting.forget('c');
  assert.equal(waiting.isEmpty, true);
});

test('asking again does not cost one’s place', () => {
  const waiting = new Waiting();
  for (const name of ['a', 'b', 'a']) waiting.set(ipSet(name), [any]);
  assert.deepEqual(names(waiting.heads()), ['a']);
});
