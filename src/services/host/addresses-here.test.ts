import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Address } from '../../api/address.ts';
import { addressesHere } from './addresses-here.ts';
import { ip, moveIntoOwnNetwork, needsRoot } from './own-network.fixture.ts';

describe('the addresses of a host', needsRoot, () => {
  before(() => {
    moveIntoOwnNetwork();
    for (const link of ['first', 'second']) {
      ip(`link add ${link} type veth peer name ${link}-end`);
      ip(`link set ${link} up`);
    }
    for (const address of ['192.0.2.1/24', 'fd00:2::1/64']) ip(`addr add ${address} dev first`);
    for (const address of ['198.51.100.1/24', 'fd00:3::1/64']) ip(`addr add ${address} dev second`);
  });

  it('are, in a family in which nobody knows it, those of the link by which it is known', () => {
    assert.deepEqual(of('192.0.2.1'), ['192.0.2.1', 'fd00:2::1']);
    assert.deepEqual(of('fd00:3::1', 'fd00:2::1'), ['fd00:3::1', 'fd00:2::1', '198.51.100.1']);
  });

  it('are those by which it is known where these are of both families, or nowhere here', () => {
    assert.deepEqual(of('192.0.2.1', 'fd00:3::1'), ['192.0.2.1', 'fd00:3::1']);
    assert.deepEqual(of('203.0.113.1'), ['203.0.113.1']);
    assert.deepEqual(of('127.0.0.1'), ['127.0.0.1']);
  });
});

const of = (...known: readonly string[]): string[] =>
  addressesHere(known.flatMap((text) => Address.parse(text) ?? [])).map(String);
