import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Address } from '../api/address.ts';
import { AddressBlock, blockName, blockPrefix } from '../api/netloom.io/address-block.ts';
import type { NetConfigSubnet } from '../api/network.openstack.org/netconfig.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { Space } from '../ledger/space.ts';
import { network, subnet } from './environment.fixture.ts';
import { Census } from './fullness.ts';
import { Networks } from './networks.ts';

const SPACE = 'underlay';

/** A NetConfig with these subnets, and blocks that say who has which address. */
class Town {
  readonly space = new Space({ namespace: 'openstack', name: SPACE });
  readonly census: Census;
  readonly #blocks = new Map<string, AddressBlock>();
  #version = 0;

  constructor(...subnets: Partial<NetConfigSubnet>[]) {
    const netConfig = {
      apiVersion: 'network.openstack.org/v1beta1',
      kind: NetConfig.kind,
      metadata: { name: 'netconfig', uid: 'n', resourceVersion: '1', creationTimestamp: '' },
      spec: { networks: [network({ subnets: subnets.map((change, i) => subnet({ name: `subnet${i}`, ...change })) })] },
    };
    this.census = new Census({ space: this.space, networks: new Networks(netConfig) });
  }

  hold(...texts: string[]): void {
    for (const text of texts) this.#change(text, (held) => [...held, text]);
  }

  giveBack(text: string): void {
    this.#change(text, (held) => held.filter((other) => other !== text));
  }

  dropBlock(text: string): void {
    const name = nameFor(text);
    this.#blocks.delete(name);
    this.space.forget(name);
  }

  counts(): string[] {
    return this.census.take(this.#blocks.keys()).map(({ total, held, free, heldOutside, excluded, next }) => {
      return `${held} of ${total}, ${free} free, ${heldOutside} outside, ${excluded} excluded, next ${next ?? 'none'}`;
    });
  }

  #change(text: string, change: (held: string[]) => string[]): void {
    const name = nameFor(text);
    const before = this.#blocks.get(name)?.spec.holdings.map(({ address }) => address) ?? [];
    this.#version += 1;
    const object: AddressBlock = {
      apiVersion: 'netloom.io/v1alpha1',
      kind: AddressBlock.kind,
      metadata: { name, uid: name, resourceVersion: `${this.#version}`, creationTimestamp: '' },
      spec: {
        space: SPACE,
        prefix: `${blockPrefix(parsed(text))}`,
        holdings: change(before).map((address) => ({
          address,
          holder: { kind: 'IPSet', name: address, uid: address },
          network: 'Storage',
          subnet: 'subnet0',
          since: '',
        })),
      },
    };
    this.#blocks.set(name, object);
    this.space.observe(object);
  }
}

const nameFor = (text: string): string => blockName(SPACE, blockPrefix(parsed(text)));

function parsed(text: string): Address {
  const address = Address.parse(text);
  assert.ok(address, text);
  return address;
}

test('of a subnet that nobody has addresses of, everything is free, and the first one is next', () => {
  assert.deepEqual(new Town({}).counts(), ['0 of 241, 241 free, 0 outside, 0 excluded, next 172.18.0.10']);
});

test('an address that two ranges have counts once', () => {
  const allocationRanges = [
    { start: '172.18.0.10', end: '172.18.0.20' },
    { start: '172.18.0.15', end: '172.18.0.30' },
  ];
  assert.deepEqual(new Town({ allocationRanges }).counts(), [
    '0 of 21, 21 free, 0 outside, 0 excluded, next 172.18.0.10',
  ]);
});

test('excluded are those of the ranges that nobody gets unasked: network, broadcast, gateway, excludeAddresses and .0', () => {
  const town = new Town({
    cidr: '172.18.0.0/23',
    gateway: '172.18.0.1',
    excludeAddresses: ['172.18.0.7', '172.18.0.1'],
    allocationRanges: [{ start: '172.18.0.0', end: '172.18.1.255' }],
  });
  assert.deepEqual(town.counts(), ['0 of 507, 507 free, 0 outside, 5 excluded, next 172.18.0.2']);
});

test('what is held outside of what is given counts by itself', () => {
  const town = new Town({ gateway: '172.18.0.11' });
  town.hold('172.18.0.10', '172.18.0.11', '172.18.0.99', '172.18.0.251', '10.0.0.1');
  assert.deepEqual(town.counts(), ['2 of 240, 238 free, 2 outside, 1 excluded, next 172.18.0.12']);
});

test('a full subnet has nothing next, until an address is given back', () => {
  const town = new Town({ allocationRanges: [{ start: '172.18.0.10', end: '172.18.0.11' }] });
  town.hold('172.18.0.10', '172.18.0.11');
  assert.deepEqual(town.counts(), ['2 of 2, 0 free, 0 outside, 0 excluded, next none']);
  town.giveBack('172.18.0.11');
  assert.deepEqual(town.counts(), ['1 of 2, 1 free, 0 outside, 0 excluded, next 172.18.0.11']);
});

test('an IPv6 subnet is counted in full, however large', () => {
  const town = new Town({
    cidr: 'fd00::/64',
    allocationRanges: [{ start: 'fd00::', end: 'fd00::ffff:ffff:ffff:ffff' }],
  });
  town.hold('fd00::1', 'fd00::ffff:0:0:1');
  const total = 2n ** 64n - 2n ** 48n;
  assert.deepEqual(town.counts(), [
    `2 of ${total}, ${total - 2n} free, 0 outside, ${2n ** 48n} excluded, next fd00::2`,
  ]);
});

test('subnets smaller than a block and larger than one are told apart', () => {
  const town = new Town(
    { cidr: '10.0.0.0/28', allocationRanges: [{ start: '10.0.0.1', end: '10.0.0.14' }] },
    { cidr: '10.0.0.16/28', allocationRanges: [{ start: '10.0.0.17', end: '10.0.0.30' }] },
    { cidr: '10.1.0.0/16', allocationRanges: [{ start: '10.1.2.1', end: '10.1.2.9' }] },
  );
  town.hold('10.0.0.1', '10.0.0.17', '10.0.0.18', '10.1.2.3', '10.1.3.3');
  assert.deepEqual(town.counts(), [
    '1 of 14, 13 free, 0 outside, 0 excluded, next 10.0.0.2',
    '2 of 14, 12 free, 0 outside, 0 excluded, next 10.0.0.19',
    '1 of 9, 8 free, 1 outside, 0 excluded, next 10.1.2.1',
  ]);
});

test('however addresses come and go, the count is that of a fresh look at everything', () => {
  const ranges = {
    cidr: '10.0.0.0/22',
    gateway: '10.0.0.1',
    allocationRanges: [
      { start: '10.0.1.200', end: '10.0.2.50' },
      { start: '10.0.0.0', end: '10.0.0.9' },
    ],
  };
  const step = fc.record({
    block: fc.nat(3),
    host: fc.nat(255),
    does: fc.constantFrom('hold', 'give', 'drop', 'look'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const town = new Town(ranges);
      const held = new Set<string>();
      for (const { block, host, does } of steps) {
        const text = `10.0.${block}.${host}`;
        if (does === 'hold' && !held.has(text)) {
          town.hold(text);
          held.add(text);
        } else if (does === 'give' && held.delete(text)) {
          town.giveBack(text);
        } else if (does === 'drop') {
          town.dropBlock(text);
          for (const other of held) if (nameFor(other) === nameFor(text)) held.delete(other);
        } else if (does === 'look') {
          town.counts();
        }
      }
      const fresh = new Town(ranges);
      fresh.hold(...held);
      assert.deepEqual(town.counts(), fresh.counts());
    }),
    { numRuns: 50 },
  );
});
