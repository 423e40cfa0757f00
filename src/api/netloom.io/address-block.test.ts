import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Address } from '../address.ts';
import { invalid } from '../status.ts';
import { dnsSubdomainFaults } from '../syntax.ts';
import { AddressBlock, blockName, blockPrefix } from './address-block.ts';

const block = (prefix: string, ...addresses: string[]): AddressBlock => ({
  apiVersion: 'netloom.io/v1alpha1',
  kind: 'AddressBlock',
  metadata: { name: 'block', uid: '1', resourceVersion: '1', creationTimestamp: '' },
  spec: {
    space: 'underlay',
    prefix,
    holdings: addresses.map((address) => ({
      address,
      holder: { kind: 'IPSet', name: 'a', uid: '2' },
      network: 'n',
      subnet: 's',
      since: '',
    })),
  },
});
const refusal = (object: AddressBlock, old?: AddressBlock): string => {
  const faults = AddressBlock.validate(object, old);
  return faults.length === 0 ? '' : invalid(AddressBlock, 'block', faults).message;
};

test('the name of a block follows from space and prefix and is a valid name', () => {
  const names: [string, string][] = [
    ['172.17.0.80', 'underlay-172.17.0.0-24'],
    ['fd00:1::8:1ff', 'underlay-fd00-1--8-100-120'],
    ['::1', 'underlay----120'],
  ];
  for (const [text, name] of names) {
    const address = Address.parse(text);
    assert.ok(address);
    assert.equal(blockName('underlay', blockPrefix(address)), name);
    assert.deepEqual(dnsSubdomainFaults(name), []);
  }
});

test('a block holds canonical addresses of its prefix', () => {
  assert.equal(refusal(block('172.17.0.0/24', '172.17.0.0', '172.17.0.255')), '');
  assert.equal(
    refusal(block('172.17.0.0/24', '172.17.1.1')),
    'AddressBlock.netloom.io "block" is invalid: spec.holdings[0].address: Invalid value: "172.17.1.1": must be the canonical form of an address in 172.17.0.0/24',
  );
  assert.match(refusal(block('fd00::/120', 'fd00:0::1')), /canonical form/);
});

test('a block is a /24 or a /120', () => {
  assert.match(refusal(block('172.17.0.0/16')), /spec\.prefix: .*canonical form of a \/24 or a \/120/);
  assert.match(refusal(block('172.17.0.1/24')), /spec\.prefix/);
});

test('a block never becomes another one', () => {
  assert.match(
    refusal(block('172.18.0.0/24'), block('172.17.0.0/24')),
    /spec\.prefix: Invalid value: "172\.18\.0\.0\/24": must not change, it was 172\.17\.0\.0\/24/,
  );
});
