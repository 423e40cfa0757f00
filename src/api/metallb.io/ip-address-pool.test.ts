import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invalid } from '../status.ts';
import { IPAddressPool, type IPAddressPoolSpec } from './ip-address-pool.ts';

const pool = (change: Partial<IPAddressPoolSpec>): IPAddressPool => ({
  apiVersion: 'metallb.io/v1beta1',
  kind: 'IPAddressPool',
  metadata: { name: 'p', namespace: 'metallb-system', uid: '1', resourceVersion: '1', creationTimestamp: '' },
  spec: { addresses: ['172.17.0.80-172.17.0.90'], autoAssign: true, avoidBuggyIPs: false, ...change },
});

/** What a person reads; empty when all is fine. */
function refusal(change: Partial<IPAddressPoolSpec>): string {
  const object = pool(change);
  const faults = IPAddressPool.validate(object, undefined);
  if (faults.length === 0) return '';
  return invalid(IPAddressPool, 'p', faults).message.replace('IPAddressPool.metallb.io "p" is invalid: ', '');
}

const addresses = (...texts: string[]): string => refusal({ addresses: texts });

test('CIDRs and ranges of both families may be mixed, and host bits do not count', () => {
  assert.equal(
    addresses('10.0.0.5/24', '172.17.0.80 - 172.17.0.90', 'fc00:1::/64', 'fc00:2::1-fc00:2::9', '1.2.3.4/32'),
    '',
  );
});

test('a pool without addresses is refused', () => {
  assert.equal(addresses(), 'spec.addresses: Required value: parsing address pool p: pool has no prefixes defined');
});

test('an address alone is no range', () => {
  assert.match(
    addresses('10.0.0.1'),
    /^spec\.addresses\[0\]: Invalid value: "10\.0\.0\.1": invalid CIDR "10\.0\.0\.1" in pool "p": .*\/32/,
  );
});

test('blanks are fine around the addresses of a range, and not around a CIDR', () => {
  assert.equal(addresses(' 10.0.0.1 -10.0.0.2 '), '');
  assert.match(addresses(' 10.0.0.0/24'), /invalid CIDR " 10\.0\.0\.0\/24" in pool "p"/);
});

test('either end of a range may be wrong, and the end must not come before the start', () => {
  assert.match(addresses('a-10.0.0.2'), /invalid IP range "a-10\.0\.0\.2": invalid start IP "a"$/);
  assert.match(addresses('10.0.0.2-b'), /invalid IP range "10\.0\.0\.2-b": invalid end IP "b"$/);
  assert.match(addresses('10.0.0.2-10.0.0.1'), /start IP "10\.0\.0\.2" is after the end IP "10\.0\.0\.1"$/);
  assert.match(addresses('10.0.0.2-fc00::1'), /start IP "10\.0\.0\.2" is IPv4 and end IP "fc00::1" is IPv6$/);
});

test('entries of a pool must not overlap, wherever they stand', () => {
  assert.equal(
    addresses('10.0.0.0/24', 'fc00::/64', '10.0.0.200-10.0.1.5'),
    'spec.addresses[2]: Invalid value: "10.0.0.200-10.0.1.5": CIDR "10.0.0.200-10.0.1.5" in pool "p" overlaps with already defined CIDR "10.0.0.0/24"',
  );
});

test('several faults are told together', () => {
  assert.match(addresses('x', 'y'), /^\[spec\.addresses\[0\]: .*"x".*, spec\.addresses\[1\]: .*"y"/);
});

test('a namespace or a selector that is there twice is refused', () => {
  const label = { matchLabels: { a: 'b' } };
  assert.match(
    refusal({ serviceAllocation: { namespaces: ['a', 'a'] } }),
    /^spec\.serviceAllocation\.namespaces\[1\]: Duplicate value: "a": duplicate definition in namespaces field$/,
  );
  assert.match(
    refusal({ serviceAllocation: { serviceSelectors: [label, { matchLabels: { ...label.matchLabels } }] } }),
    /serviceSelectors\[1\]: .*duplicate definition of serviceSelectors/,
  );
  const expression = { key: 'a', operator: 'In', values: ['b', 'b'] };
  assert.match(
    refusal({ serviceAllocation: { namespaceSelectors: [{ matchExpressions: [expression] }] } }),
    /namespaceSelectors\[0\]\.matchExpressions\[0\]\.values\[1\]: .*duplicate definition of value/,
  );
});

test('a selector that nobody can understand is refused', () => {
  const selector = { matchExpressions: [{ key: 'a', operator: 'Like', values: ['b'] }] };
  assert.match(
    refusal({ serviceAllocation: { serviceSelectors: [selector] } }),
    /"Like" is not a valid label selector operator/,
  );
});

test('a pool of many thousand entries is judged in the time it takes to read it', () => {
  const many = Array.from({ length: 40_000 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`);
  const started = performance.now();
  assert.equal(addresses(...many), '');
  assert.ok(performance.now() - started < 5_000);
});
