import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AddressBlock, type AddressHolder } from '../api/netloom.io/address-block.ts';
import { claimHolder, ipSetHolder } from './applicant.ts';
import { Lab, NAMESPACE, network, smallNetwork, subnet } from './environment.fixture.ts';

test('what is put on record for somebody after he stopped asking for it is given back', async () => {
  const lab = new Lab();
  const tenant = subnet({ cidr: '172.19.0.0/24', allocationRanges: [{ start: '172.19.0.10', end: '172.19.0.20' }] });
  await lab.netConfig(network(), network({ name: 'Tenant', subnets: [tenant] }));
  await lab.start();
  await lab.ipSet('a');
  await lab.claim('c');
  const late = { network: 'Tenant', subnet: 'subnet1', since: '2026-01-01T00:00:00Z' };
  const claim = claimHolder(lab.findClaim('c'));
  await lab.world.client.create(AddressBlock, {
    metadata: { name: 'underlay-172.19.0.0-24', namespace: NAMESPACE },
    spec: {
      space: 'underlay',
      prefix: '172.19.0.0/24',
      holdings: [
        { ...late, address: '172.19.0.10', holder: ipSetHolder(lab.find('a')) },
        { ...late, address: '172.19.0.11', holder: claim },
      ],
    },
  });
  await lab.settle();
  assert.deepEqual(lab.held(), ['172.18.0.10 IPSet a', '172.18.0.11 AddressClaim c']);
  await lab.stop();
});

test('who is given an address by another controller hears of it, though it was about to be given to somebody else', async () => {
  const lab = new Lab();
  await lab.netConfig(smallNetwork('172.18.0.10'));
  const stranger = { kind: 'Stranger', name: 'x', uid: 'x' };
  const holdingOf = (holder: AddressHolder) => ({
    address: '172.18.0.10',
    holder,
    network: 'Storage',
    subnet: 'subnet1',
    since: '2026-01-01T00:00:00Z',
  });
  const { client, clock } = lab.world;
  let block = await client.create(AddressBlock, {
    metadata: { name: 'underlay-172.18.0.0-24', namespace: NAMESPACE, finalizers: ['netloom.io/holdings'] },
    spec: { space: 'underlay', prefix: '172.18.0.0/24', holdings: [holdingOf(stranger)] },
  });
  const write = async (holdings: AddressBlock['spec']['holdings']): Promise<void> => {
    block = await client.update(AddressBlock, { ...block, spec: { ...block.spec, holdings } });
  };
  await lab.start({ delay: [200, 200] });
  await lab.ipSet('first');
  await lab.claim('second');
  await write([]);
  await clock.advance(100);
  await write([holdingOf(claimHolder(lab.findClaim('second')))]);
  await lab.settle();
  assert.equal(lab.claimState('second'), '172.18.0.10');
  assert.match(lab.state('first'), /is left/);
  await lab.stop();
});
