import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { customResourceDefinition } from '../../src/api/crd.ts';
import { allKinds } from '../../src/api/kinds.ts';
import { AddressBlock } from '../../src/api/netloom.io/address-block.ts';
import { IPSet } from '../../src/api/network.openstack.org/ipset.ts';
import { NetConfig } from '../../src/api/network.openstack.org/netconfig.ts';
import { Reservation } from '../../src/api/network.openstack.org/reservation.ts';
import { ApiError } from '../../src/api/status.ts';
import { ipamAdmission, ipamControllers } from '../../src/ipam/index.ts';
import { CustomResourceDefinition } from '../../src/runtime/builtin.ts';
import { Client } from '../../src/runtime/client.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { Manager } from '../../src/runtime/manager.ts';
import { system } from '../../src/runtime/system.ts';
import { EngineInTest, eventually } from './engine-in-test.ts';

const NAMESPACE = 'default';
const COUNT = 150;

const SPEC: NetConfig['spec'] = {
  networks: ['A1', 'B2'].map((name, i) => ({
    name,
    mtu: 1500,
    subnets: [
      {
        name: 'subnet1',
        cidr: `10.${i}.0.0/16`,
        gateway: `10.${i}.0.1`,
        allocationRanges: [{ start: `10.${i}.0.1`, end: `10.${i}.1.250` }],
      },
    ],
  })),
};

describe('addresses for hosts, on the real engine', () => {
  let api: EngineInTest;
  let client: Client;
  const managers: Manager[] = [];
  const start = (instance: string): void => {
    const manager = new Manager({
      transport: api.transport,
      controllers: ipamControllers(),
      system,
      log: silentLog,
      fieldManager: 'netloom',
      instance,
    });
    managers.push(manager);
    manager.start();
  };
  before(async () => {
    api = await EngineInTest.start({ kinds: allKinds, admission: ipamAdmission });
    client = new Client({ transport: api.transport, fieldManager: 'test' });
    for (const kind of allKinds) {
      await client.apply(CustomResourceDefinition, customResourceDefinition(kind), { force: true });
    }
    await client.create(NetConfig, {
      metadata: { name: 'netconfig', namespace: NAMESPACE },
      spec: SPEC,
    });
  });
  after(async () => {
    await Promise.all(managers.map((manager) => manager.stop({ within: 2_000 })));
    await api.stop();
  });

  const ready = async (): Promise<IPSet[]> =>
    (await client.list(IPSet, NAMESPACE)).filter(({ status }) => status?.conditions?.[0]?.status === 'True');

  test('two sets of controllers that both believe to be the only one give nobody the same address', async () => {
    start('one');
    start('other');
    const networks = ['A1', 'B2'].map((name) => ({ name, subnetName: 'subnet1' }));
    const creating = Array.from({ length: 16 }, async (_, worker) => {
      for (let i = worker; i < COUNT; i += 16) {
        const metadata = { name: `n${i}`, namespace: NAMESPACE };
        await client.create(IPSet, { metadata, spec: { immutable: false, networks } });
      }
    });
    await Promise.all(creating);
    const ipSets = await eventually(ready, ({ length }) => length === COUNT);
    const given = ipSets.flatMap(({ status }) => (status?.reservations ?? []).map(({ address }) => address));
    assert.equal(given.length, 2 * COUNT);
    assert.equal(new Set(given).size, given.length);
    const recorded = (await client.list(AddressBlock, NAMESPACE)).flatMap(({ spec }) =>
      spec.holdings.map(({ address }) => address),
    );
    assert.deepEqual(recorded.sort(), given.sort());
  });

  test('one that begins later finds everything in order and writes nothing', async () => {
    await Promise.all(managers.splice(0).map((manager) => manager.stop({ within: 2_000 })));
    const versions = async () =>
      (await Promise.all([client.list(IPSet), client.list(Reservation), client.list(AddressBlock)]))
        .flat()
        .map(({ metadata }) => metadata.resourceVersion)
        .sort();
    const before = await versions();
    start('later');
    await eventually(
      async () => managers[0]?.report().controllers.find(({ name }) => name === 'ipsets')?.passes ?? 0,
      (passes) => passes >= COUNT,
    );
    assert.deepEqual(await versions(), before);
  });

  test('a NetConfig in use is not deleted', async () => {
    await assert.rejects(
      client.delete(NetConfig, { name: 'netconfig', namespace: NAMESPACE }),
      (error) =>
        error instanceof ApiError && error.code === 400 && /150 IPSet\(s\) in namespace default/.test(error.message),
    );
  });

  test('nothing is left when all IPSets are gone', async () => {
    await Promise.all(
      Array.from({ length: COUNT }, (_, i) => client.delete(IPSet, { name: `n${i}`, namespace: NAMESPACE })),
    );
    await eventually(
      async () => (await client.list(IPSet)).length,
      (left) => left === 0,
    );
    assert.deepEqual(await client.list(Reservation), []);
    assert.deepEqual(
      (await client.list(AddressBlock)).flatMap(({ spec }) => spec.holdings),
      [],
    );
    await client.delete(NetConfig, { name: 'netconfig', namespace: NAMESPACE });
  });

  test('of NetConfigs that are created at the same moment there is one', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `netconfig-${i}`);
    const created = await Promise.allSettled(
      names.map((name) => client.create(NetConfig, { metadata: { name, namespace: NAMESPACE }, spec: SPEC })),
    );
    const [first, ...others] = created.flatMap((one) => (one.status === 'fulfilled' ? one.value.metadata.name : []));
    assert.deepEqual(others, []);
    for (const one of created) {
      if (one.status === 'rejected')
        assert.match(String(one.reason), /there is already a NetConfig in namespace default/);
    }
    await client.delete(NetConfig, { name: first ?? '', namespace: NAMESPACE });
  });

  for (const order of ['first', 'last']) {
    test(`no IPSet comes in while its NetConfig goes, asked for ${order}`, async () => {
      await client.create(NetConfig, { metadata: { name: 'netconfig', namespace: NAMESPACE }, spec: SPEC });
      const leave = () => client.delete(NetConfig, { name: 'netconfig', namespace: NAMESPACE });
      const networks = [{ name: 'A1', subnetName: 'subnet1' }];
      const come = (name: string) => () =>
        client.create(IPSet, { metadata: { name, namespace: NAMESPACE }, spec: { immutable: false, networks } });
      const all = ['a', 'b', 'c'].map(come);
      await Promise.allSettled((order === 'first' ? [leave, ...all] : [...all, leave]).map((ask) => ask()));
      const ipSets = await client.list(IPSet, NAMESPACE);
      const netConfigs = await client.list(NetConfig, NAMESPACE);
      assert.equal(
        netConfigs.length > 0,
        ipSets.length > 0,
        `${netConfigs.length} NetConfigs, ${ipSets.length} IPSets`,
      );
      if (ipSets.length === 0) return;
      await Promise.all(ipSets.map(({ metadata: { name } }) => client.delete(IPSet, { name, namespace: NAMESPACE })));
      await eventually(
        async () => (await client.list(IPSet)).length,
        (left) => left === 0,
      );
      await leave();
    });
  }
});
