import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { network, subnet } from './environment.fixture.ts';
import { Networks } from './networks.ts';
import { overlaps } from './overlaps.ts';

const metadata = (name: string) => ({ name, uid: name, resourceVersion: '1', creationTimestamp: '' });

/** A subnet with these ranges, `first-last` by their last number, and pools of these addresses. */
function found(ranges: readonly [number, number][], ...pools: string[][]): string[] {
  const allocationRanges = ranges.map(([first, last]) => ({ start: `172.18.0.${first}`, end: `172.18.0.${last}` }));
  const networks = new Networks({
    apiVersion: 'network.openstack.org/v1beta1',
    kind: NetConfig.kind,
    metadata: metadata('netconfig'),
    spec: { networks: [network({ subnets: [subnet({ allocationRanges })] })] },
  });
  return overlaps(
    networks,
    pools.map((addresses, i) => ({
      apiVersion: 'metallb.io/v1beta1',
      kind: IPAddressPool.kind,
      metadata: metadata(`pool${i}`),
      spec: { addresses, autoAssign: true, avoidBuggyIPs: false },
    })),
  );
}

test('ranges that only touch do not overlap', () => {
  assert.deepEqual(found([[10, 79]], ['172.18.0.80-172.18.0.90']), []);
});

test('one address in common is enough', () => {
  assert.deepEqual(found([[10, 80]], ['172.18.0.80/32']), [
    '172.18.0.10-172.18.0.80 of network Storage/subnet1 overlaps 172.18.0.80 of pool pool0',
  ]);
});

test('each range that meets one of a pool is named, with the pool', () => {
  assert.deepEqual(
    found(
      [
        [10, 20],
        [30, 40],
        [50, 60],
      ],
      ['172.18.0.0-172.18.0.35', 'fd00::/64'],
      ['172.18.0.55-172.18.0.70'],
    ),
    [
      '172.18.0.10-172.18.0.20 of network Storage/subnet1 overlaps 172.18.0.0-172.18.0.35 of pool pool0',
      '172.18.0.30-172.18.0.40 of network Storage/subnet1 overlaps 172.18.0.0-172.18.0.35 of pool pool0',
      '172.18.0.50-172.18.0.60 of network Storage/subnet1 overlaps 172.18.0.55-172.18.0.70 of pool pool1',
    ],
  );
});

test('a pool entry that cannot be understood is passed over', () => {
  assert.deepEqual(found([[10, 20]], ['what', '172.18.0.20-172.18.0.1']), []);
});
