import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Service } from '../api/core/service.ts';
import { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { vipsAdmission } from './index.ts';
import { Lab, NAMESPACE } from './lab.fixture.ts';

/** A capability that leaves giving to MetalLB, and a network that contains its addresses. */
async function observing(): Promise<Lab> {
  const lab = new Lab();
  await lab.start({}, { poolsOf: 'metallb' });
  await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250');
  return lab;
}

describe('where MetalLB gives the addresses', () => {
  it('what a Service has is on record for hosts, and nothing else is written', async () => {
    const lab = await observing();
    await lab.pool('internalapi', {});
    await lab.service('a', { ingress: ['172.17.0.80'] });
    await lab.service('pending');
    assert.deepEqual(lab.held(), ['openstack/underlay 172.17.0.80 a']);
    assert.equal(lab.poolOf('a'), undefined);
    assert.equal(lab.addresses('pending'), '');
    assert.equal(lab.findPool('internalapi').status, undefined);
    assert.equal(lab.findPool('internalapi').metadata.finalizers, undefined);
    assert.deepEqual(lab.events('a'), []);
    await lab.stop();
  });

  it('the record follows when an address moves, is shared, or goes', async () => {
    const lab = await observing();
    await lab.service('a', { ingress: ['172.17.0.80'] });
    await lab.service('b', { ingress: ['172.17.0.80'] });
    await lab.delete('a');
    assert.deepEqual(lab.held(), ['openstack/underlay 172.17.0.80 b']);
    const status = { loadBalancer: { ingress: [{ ip: '172.17.0.81' }] } };
    await lab.world.client.updateStatus(Service, { ...lab.find('b'), status });
    await lab.settle();
    assert.deepEqual(lab.held(), ['openstack/underlay 172.17.0.81 b']);
    await lab.delete('b');
    assert.deepEqual(lab.held(), []);
    await lab.stop();
  });

  it('a Service that went while nobody looked is not on record any more', async () => {
    const lab = await observing();
    await lab.service('a', { ingress: ['172.17.0.80'] });
    await lab.stop();
    await lab.delete('a');
    await lab.start({}, { poolsOf: 'metallb' });
    assert.deepEqual(lab.held(), []);
    await lab.stop();
  });

  it('a Service of which another one knew, and that went after him, is not on record any more', async () => {
    const lab = await observing();
    const [first] = lab.managers;
    await lab.start({}, { poolsOf: 'metallb' }, '/services?');
    await lab.service('a', { ingress: ['172.17.0.80'] });
    await lab.world.clock.run(first?.stop({ within: 1_000 }) ?? Promise.resolve());
    await lab.delete('a');
    await lab.settle(60_000);
    assert.deepEqual(lab.held(), []);
    await lab.stop();
  });

  it('nobody inherits the record of a Service in a network that went while nobody looked', async () => {
    const lab = await observing();
    await lab.service('a', { ingress: ['172.17.0.80'] });
    await lab.stop();
    await lab.delete('a');
    await lab.service('b', { ingress: ['172.17.0.80'] });
    await lab.world.client.delete(NetConfig, { namespace: NAMESPACE, name: 'netconfig' });
    await lab.start({}, { poolsOf: 'metallb' });
    assert.deepEqual(lab.held(), []);
    await lab.stop();
  });

  it('a pool from before does not wait for us when it is deleted', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.pool('internalapi', {});
    await lab.service('a');
    await lab.stop();
    await lab.start({}, { poolsOf: 'metallb' });
    await lab.world.client.delete(IPAddressPool, { namespace: 'metallb-system', name: 'internalapi' });
    await lab.settle();
    assert.deepEqual(lab.world.api.objects(IPAddressPool), []);
    await lab.stop();
  });

  it('pools are checked by the webhooks of MetalLB, not by us', () => {
    assert.deepEqual(vipsAdmission({ poolsOf: 'metallb' }), []);
  });
});
