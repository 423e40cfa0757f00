import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { AddressClaim } from '../api/netloom.io/address-claim.ts';
import type { NetConfigNetwork } from '../api/network.openstack.org/netconfig.ts';
import { Event } from '../runtime/builtin.ts';
import { Lab, NAMESPACE, network, smallNetwork, subnet } from './environment.fixture.ts';
import type { IpamOptions } from './index.ts';

async function running(networks: NetConfigNetwork[], options: IpamOptions = {}): Promise<Lab> {
  const lab = new Lab(options);
  await lab.netConfig(...networks);
  await lab.start();
  return lab;
}

const FULL =
  'False: no ip address could be created in network Storage subnet subnet1: none of 172.18.0.10 is left; who waits longest gets the next one, when one there is given back or an allocation range grows';

describe('an AddressClaim', () => {
  it('is answered with an address and what a host must know to use it', async () => {
    const lab = await running([network({ mtu: 9000, subnets: [subnet({ gateway: '172.18.0.1', vlan: 21 })] })]);
    await lab.claim('web');
    const { status, metadata } = lab.findClaim('web');
    assert.deepEqual(metadata.finalizers, ['netloom.io/addressclaim']);
    const { conditions = [], ...rest } = status ?? {};
    assert.deepEqual(rest, {
      observedGeneration: 1,
      address: '172.18.0.10',
      prefixLength: 24,
      gateway: '172.18.0.1',
      vlan: 21,
      mtu: 9000,
    });
    assert.deepEqual(
      conditions.map(({ type, status, reason, message }) => ({ type, status, reason, message })),
      [{ type: 'Ready', status: 'True', reason: 'Ready', message: '172.18.0.10 is held for host host-a' }],
    );
    assert.deepEqual(lab.held(), ['172.18.0.10 AddressClaim web']);
    await lab.stop();
  });

  it('costs one status and, with 16 created at a time, a fifth of a block', async () => {
    const lab = new Lab();
    await lab.netConfig(network());
    await lab.start({ delay: [2, 4], eventDelay: [1, 2] });
    const before = lab.writes();
    const client = lab.world.clientWith({ delay: [2, 4] });
    const spec = { host: 'host-a', network: 'Storage', subnet: 'subnet1' };
    const creating = Array.from({ length: 16 }, async (_, worker) => {
      for (let i = 0; i < 10; i += 1) {
        const metadata = { name: `c${worker}-${i}`, namespace: NAMESPACE, finalizers: ['netloom.io/addressclaim'] };
        await client.create(AddressClaim, { metadata, spec });
      }
    });
    await lab.world.clock.run(Promise.all(creating));
    await lab.settle();
    const cost = (what: string) => (lab.writes().get(what) ?? 0) - (before.get(what) ?? 0);
    assert.equal(cost('patch addressclaims'), 160);
    const blocks = cost('post addressblocks') + cost('put addressblocks');
    assert.ok(blocks <= 0.2 * 160, `${blocks} writes of blocks`);
    await lab.stop();
  });

  it('finds its network whatever the case of the name', async () => {
    const lab = await running([network()]);
    await lab.claim('web', { network: 'storage', subnet: 'SUBNET1' });
    assert.equal(lab.claimState('web'), '172.18.0.10');
    await lab.stop();
  });

  it('may ask for a certain address, and is given no other one', async () => {
    const lab = await running([network({ subnets: [subnet({ excludeAddresses: ['172.18.0.99'] })] })]);
    await lab.claim('outside', { address: '172.18.0.5' });
    await lab.claim('excluded', { address: '172.18.0.99' });
    await lab.ipSet('a');
    await lab.claim('taken', { address: '172.18.0.10' });
    assert.equal(lab.claimState('outside'), '172.18.0.5');
    assert.equal(
      lab.claimState('excluded'),
      'False: FixedIP 172.18.0.99 is in ExcludeAddresses of subnet subnet1 in network Storage',
    );
    assert.equal(
      lab.claimState('taken'),
      'False: 172.18.0.10 already reserved by IPSet a; network Storage subnet subnet1 gives it once that is deleted',
    );
    await lab.delete('a');
    assert.equal(lab.claimState('taken'), '172.18.0.10');
    await lab.stop();
  });

  it('is never given a router, the network, what is excluded or what a pool gives', async () => {
    const lab = await running([
      network({
        subnets: [
          subnet({
            gateway: '172.18.0.1',
            routes: [{ destination: '10.0.0.0/8', nexthop: '172.18.0.9' }],
            excludeAddresses: ['172.18.0.2'],
            allocationRanges: [{ start: '172.18.0.0', end: '172.18.0.20' }],
          }),
        ],
      }),
    ]);
    await lab.pool('172.18.0.3-172.18.0.8');
    await lab.claim('web');
    assert.equal(lab.claimState('web'), '172.18.0.10');
    await lab.stop();
  });

  it('says that there is no NetConfig, or no such network, and is served when there is', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.claim('web');
    assert.equal(lab.claimState('web'), 'False: NetConfig missing in namespace openstack');
    await lab.netConfig(network({ name: 'Tenant' }));
    assert.equal(lab.claimState('web'), 'False: network Storage is not in NetConfig netconfig');
    await lab.netConfig(network());
    assert.equal(lab.claimState('web'), '172.18.0.10');
    await lab.stop();
  });

  it('keeps its address when ranges and exclusions change under it, and shows what else changed', async () => {
    const lab = await running([network({ subnets: [subnet({ vlan: 21 })] })]);
    await lab.claim('web');
    const changed = subnet({
      gateway: '172.18.0.1',
      excludeAddresses: ['172.18.0.10'],
      allocationRanges: [{ start: '172.18.0.50', end: '172.18.0.60' }],
    });
    await lab.netConfig(network({ mtu: 9000, subnets: [changed] }));
    const { address, gateway, mtu, vlan } = lab.findClaim('web').status ?? {};
    assert.deepEqual(
      { address, gateway, mtu, vlan },
      { address: '172.18.0.10', gateway: '172.18.0.1', mtu: 9000, vlan: undefined },
    );
    await lab.netConfig(network({ name: 'Tenant' }));
    assert.equal(lab.findClaim('web').status?.address, '172.18.0.10');
    assert.deepEqual(lab.held(), ['172.18.0.10 AddressClaim web']);
    await lab.stop();
  });
});

describe('when a subnet is full', () => {
  it('the claim says so in its condition and in an event', async () => {
    const lab = await running([smallNetwork('172.18.0.10')]);
    await lab.ipSet('a');
    await lab.claim('web');
    assert.equal(lab.claimState('web'), FULL);
    const [ready] = lab.findClaim('web').status?.conditions ?? [];
    assert.deepEqual([ready?.reason, ready?.severity], ['AddressNotAvailable', 'Error']);
    const events = lab.world.api
      .objects(Event)
      .map(({ involvedObject, type, reason, message }) => [involvedObject.kind, type, reason, `False: ${message}`]);
    assert.deepEqual(events, [['AddressClaim', 'Warning', 'AddressNotAvailable', FULL]]);
    await lab.stop();
  });

  it('claims and IPSets are served in the order in which they came, whichever they are', async () => {
    const lab = await running([smallNetwork('172.18.0.10')]);
    await lab.ipSet('first');
    await lab.claim('second');
    await lab.ipSet('third');
    await lab.claim('fourth');
    await lab.delete('first');
    assert.equal(lab.claimState('second'), '172.18.0.10');
    await lab.deleteClaim('second');
    assert.equal(lab.state('third'), '172.18.0.10');
    assert.match(lab.claimState('fourth'), /^False/);
    await lab.delete('third');
    assert.equal(lab.claimState('fourth'), '172.18.0.10');
    await lab.stop();
  });

  it('all of them are served when the range grows', async () => {
    const lab = await running([smallNetwork('172.18.0.10')]);
    for (let i = 0; i < 5; i += 1) {
      await lab.claim(`claim${i}`);
      await lab.ipSet(`set${i}`);
    }
    await lab.netConfig(smallNetwork('172.18.0.30'));
    const given = [0, 1, 2, 3, 4].flatMap((i) => [lab.claimState(`claim${i}`), lab.state(`set${i}`)]);
    assert.deepEqual(
      given.filter((text) => !/^172\.18\.0\.1\d$/.test(text)),
      [],
    );
    assert.equal(new Set(given).size, 10);
    await lab.stop();
  });

  it('one that stops waiting does not stand in the way of those behind it', async () => {
    const lab = await running([smallNetwork('172.18.0.10')]);
    await lab.ipSet('a');
    await lab.claim('b');
    await lab.ipSet('c');
    await lab.deleteClaim('b');
    await lab.delete('a');
    assert.equal(lab.state('c'), '172.18.0.10');
    await lab.stop();
  });
});

describe('the end of an AddressClaim', () => {
  it('frees its address at once', async () => {
    const lab = await running([network()]);
    await lab.claim('web');
    await lab.deleteClaim('web');
    assert.deepEqual(lab.held(), []);
    assert.deepEqual(lab.world.api.objects(AddressClaim), []);
    await lab.stop();
  });

  it('lets its address cool down where that is asked for, and a claim of its name has it back at once', async () => {
    const lab = await running([smallNetwork('172.18.0.10')], { coolDown: 600_000 });
    await lab.claim('web');
    await lab.deleteClaim('web');
    await lab.claim('other');
    assert.match(lab.claimState('other'), /^False: .* none of 172\.18\.0\.10 is left/);
    await lab.deleteClaim('other');
    await lab.claim('web', { address: '172.18.0.10' });
    assert.equal(lab.claimState('web'), '172.18.0.10');
    await lab.stop();
  });

  it('by force, without its finalizer, frees the address after a while', async () => {
    const lab = await running([network()]);
    await lab.claim('web');
    await lab.stop();
    const ref = { name: 'web', namespace: NAMESPACE };
    await lab.world.client.patch(AddressClaim, ref, { merge: { metadata: { finalizers: null } } });
    await lab.world.client.delete(AddressClaim, ref);
    await lab.start();
    assert.deepEqual(lab.held(), ['172.18.0.10 AddressClaim web']);
    await lab.settle(70_000);
    assert.deepEqual(lab.held(), []);
    await lab.stop();
  });
});

describe('what was there before', () => {
  it('a start writes nothing when all is as it should be', async () => {
    const lab = await running([network()]);
    await lab.claim('web');
    await lab.stop();
    await lab.settle(60_000);
    const before = lab.writes();
    await lab.start();
    assert.deepEqual(lab.writes(), before);
    await lab.stop();
  });

  it('an address that a claim was told is its own, also where the record of it is lost', async () => {
    const lab = await running([network()]);
    await lab.claim('web');
    await lab.stop();
    for (const { metadata, ...block } of lab.world.api.objects(AddressBlock)) {
      await lab.world.client.update(AddressBlock, { ...block, metadata, spec: { ...block.spec, holdings: [] } });
    }
    await lab.ipSet('first-to-ask');
    await lab.start();
    assert.equal(lab.claimState('web'), '172.18.0.10');
    assert.equal(lab.state('first-to-ask'), '172.18.0.11');
    await lab.stop();
  });

  it('what another controller puts on record for a claim besides, and does not tell it, is given back', async () => {
    const lab = await running([network()]);
    await lab.claim('web');
    const [block] = lab.world.api.objects(AddressBlock);
    const [holding] = block?.spec.holdings ?? [];
    assert.ok(block && holding);
    const holdings = [holding, { ...holding, address: '172.18.0.77' }];
    await lab.world.client.update(AddressBlock, { ...block, spec: { ...block.spec, holdings } });
    await lab.settle();
    assert.deepEqual([lab.claimState('web'), lab.held()], ['172.18.0.10', ['172.18.0.10 AddressClaim web']]);
    await lab.stop();
  });

  it('a claim keeps its address when its status is made to say another one, be it free or not, and puts that right', async () => {
    const lab = await running([network()]);
    await lab.claim('web');
    await lab.claim('db');
    const { status, ...claim } = lab.findClaim('web');
    assert.ok(status);
    for (const address of ['172.18.0.11', '172.18.0.77', 'x']) {
      const { metadata } = lab.findClaim('web');
      await lab.world.client.updateStatus(AddressClaim, { ...claim, metadata, status: { ...status, address } });
      await lab.settle();
      assert.deepEqual([lab.claimState('web'), lab.claimState('db')], ['172.18.0.10', '172.18.0.11']);
    }
    assert.deepEqual(lab.held(), ['172.18.0.10 AddressClaim web', '172.18.0.11 AddressClaim db']);
    await lab.stop();
  });
});
