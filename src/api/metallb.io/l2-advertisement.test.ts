import assert from 'node:assert/strict';
import { test } from 'node:test';
import { L2Advertisement, type L2AdvertisementSpec } from './l2-advertisement.ts';

const faults = (spec: L2AdvertisementSpec): string[] =>
  L2Advertisement.validate(
    {
      apiVersion: 'metallb.io/v1beta1',
      kind: 'L2Advertisement',
      metadata: { name: 'a', namespace: 'metallb-system', uid: '1', resourceVersion: '1', creationTimestamp: '' },
      spec,
    },
    undefined,
  ).map(({ field }) => field);

test('an advertisement may say nothing, or everything once', () => {
  assert.deepEqual(faults({}), []);
  assert.deepEqual(faults({ ipAddressPools: ['a', 'b'], interfaces: ['eth0'], nodeSelectors: [{}] }), []);
});

test('what is there twice is refused where it is', () => {
  const selector = { matchLabels: { a: 'b' } };
  assert.deepEqual(
    faults({
      ipAddressPools: ['a', 'a'],
      ipAddressPoolSelectors: [selector, selector],
      nodeSelectors: [{}, {}],
      interfaces: ['eth0', 'eth1', 'eth0'],
      serviceSelectors: [selector, selector],
    }),
    [
      'spec.ipAddressPools[1]',
      'spec.ipAddressPoolSelectors[1]',
      'spec.nodeSelectors[1]',
      'spec.interfaces[2]',
      'spec.serviceSelectors[1]',
    ],
  );
});
