import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { enrol } from '../../src/agent/enrol.ts';
import { IdentityFiles } from '../../src/agent/identity-files.ts';
import { customResourceDefinition } from '../../src/api/crd.ts';
import { allKinds } from '../../src/api/kinds.ts';
import { AddressBlock } from '../../src/api/netloom.io/address-block.ts';
import { AddressClaim } from '../../src/api/netloom.io/address-claim.ts';
import { IPSet } from '../../src/api/network.openstack.org/ipset.ts';
import { NetConfig } from '../../src/api/network.openstack.org/netconfig.ts';
import { ApiError } from '../../src/api/status.ts';
import { ipamAdmission, ipamControllers } from '../../src/ipam/index.ts';
import { CustomResourceDefinition } from '../../src/runtime/builtin.ts';
import { Client } from '../../src/runtime/client.ts';
import { HttpTransport } from '../../src/runtime/http-transport.ts';
import { readKubeconfig } from '../../src/runtime/kubeconfig.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { Manager } from '../../src/runtime/manager.ts';
import { system } from '../../src/runtime/system.ts';
import { EngineInTest, eventually } from './engine-in-test.ts';

const NAMESPACE = 'default';
const claimOf = (name: string, host: string, more: { address?: string } = {}) => ({
  metadata: { name, namespace: NAMESPACE },
  spec: { host, network: 'Storage', subnet: 'subnet1', ...more },
});
const ref = (name: string) => ({ name, namespace: NAMESPACE });

describe('AddressClaims on the real engine', () => {
  let api: EngineInTest;
  let folder: string;
  let person: Client;
  /** As the agent of host h1, by the certificate that it enrolled for. */
  let agent: Client;
  let transport: HttpTransport;
  const managers: Manager[] = [];

  before(async () => {
    api = await EngineInTest.start({ kinds: allKinds, admission: ipamAdmission });
    person = new Client({ transport: api.transport, fieldManager: 'test' });
    for (const kind of allKinds) {
      await person.apply(CustomResourceDefinition, customResourceDefinition(kind), { force: true });
    }
    const allocationRanges = [{ start: '10.0.0.10', end: '10.0.1.250' }];
    const subnets = [{ name: 'subnet1', cidr: '10.0.0.0/16', gateway: '10.0.0.1', vlan: 21, allocationRanges }];
    const networks = [{ name: 'Storage', mtu: 9000, subnets }];
    await person.create(NetConfig, { metadata: { name: 'netconfig', namespace: NAMESPACE }, spec: { networks } });
    // Two that both believe to be the only one.
    for (const instance of ['one', 'other']) {
      const controllers = ipamControllers();
      const options = { transport: api.transport, controllers, system, log: silentLog, fieldManager: 'netloom' };
      const manager = new Manager({ ...options, instance });
      managers.push(manager);
      manager.start();
    }
    folder = await mkdtemp(join(tmpdir(), 'netloom-claims-'));
    const { server, ca = '' } = await readKubeconfig(join(api.directory, 'kubeconfig'));
    const way = { server, ca, insecure: false };
    await enrol({ client: person, way, name: 'h1', addresses: ['127.0.0.1'], stateDirectory: folder, system });
    transport = new HttpTransport({ connection: await readKubeconfig(new IdentityFiles(folder).kubeconfig), system });
    agent = new Client({ transport, fieldManager: 'agent' });
  });
  after(async () => {
    transport.close();
    await Promise.all(managers.map((manager) => manager.stop({ within: 2_000 })));
    await api.stop();
    await rm(folder, { recursive: true });
  });

  const answered = (name: string) =>
    eventually(
      () => person.get(AddressClaim, name, NAMESPACE),
      (claim) => claim?.status?.conditions?.[0]?.status === 'True',
    );
  const refuses = (attempt: Promise<unknown>, message: string | RegExp) =>
    assert.rejects(attempt, (error) => {
      assert.ok(error instanceof ApiError, String(error));
      if (typeof message === 'string') assert.equal(error.message, message);
      else assert.match(error.message, message);
      return true;
    });
  const notItsOwn = (name: string) =>
    `addressclaims.netloom.io "${name}" is forbidden: node "h1" can only write objects of kind AddressClaim that belong to itself, and this one is for host "h2"`;

  test('an agent asks for an address of its host, reads the answer, and gives it back', async () => {
    await agent.create(AddressClaim, claimOf('own', 'h1'));
    await answered('own');
    const { prefixLength, gateway, vlan, mtu } = (await agent.get(AddressClaim, 'own', NAMESPACE))?.status ?? {};
    assert.deepEqual(
      { prefixLength, gateway, vlan, mtu },
      { prefixLength: 16, gateway: '10.0.0.1', vlan: 21, mtu: 9000 },
    );
    await agent.patch(AddressClaim, ref('own'), { merge: { metadata: { labels: { used: 'yes' } } } });
    await agent.delete(AddressClaim, ref('own'));
    const left = () => person.list(AddressClaim, NAMESPACE);
    await eventually(left, ({ length }) => length === 0);
  });

  test('an agent neither makes nor changes nor deletes the claim of another host', async () => {
    await refuses(agent.create(AddressClaim, claimOf('stolen', 'h2')), notItsOwn('stolen'));
    await person.create(AddressClaim, claimOf('theirs', 'h2'));
    const labels = { metadata: { labels: { used: 'yes' } } };
    await refuses(agent.patch(AddressClaim, ref('theirs'), { merge: labels }), notItsOwn('theirs'));
    await refuses(
      agent.patch(AddressClaim, ref('theirs'), { merge: { spec: { host: 'h1' } } }),
      /belong to itself|must not change/,
    );
    await refuses(agent.delete(AddressClaim, ref('theirs')), notItsOwn('theirs'));
    await answered('theirs');
    await person.delete(AddressClaim, ref('theirs'));
  });

  test('an agent gives itself no answer', async () => {
    await agent.create(AddressClaim, claimOf('own', 'h1'));
    await answered('own');
    const lie = { merge: { status: { address: '10.0.0.99' } } };
    await refuses(
      agent.patch(AddressClaim, ref('own'), lie, 'status'),
      /cannot patch resource "addressclaims\/status"/,
    );
    await agent.delete(AddressClaim, ref('own'));
  });

  test('what a claim asks for never changes, and the refusal names the field', async () => {
    await person.create(AddressClaim, claimOf('fixed', 'h1', { address: '10.0.9.9' }));
    const change = (spec: object) => person.patch(AddressClaim, ref('fixed'), { merge: { spec: { ...spec } } });
    await refuses(
      change({ host: 'h2' }),
      'AddressClaim.netloom.io "fixed" is invalid: spec.host: Invalid value: "string": must not change: delete the claim and make another one',
    );
    await refuses(change({ network: 'Tenant', subnet: 'subnet2' }), /spec\.network: .*spec\.subnet: /);
    await refuses(change({ address: '10.0.9.10' }), /spec\.address: .*must not change/);
    await refuses(change({ address: null }), /spec\.address: .*address must not change/);
  });

  test('what cannot be an address, a host or a network is refused', async () => {
    await refuses(
      person.create(AddressClaim, claimOf('odd', 'h1', { address: '10.0.0.500' })),
      'AddressClaim.netloom.io "odd" is invalid: spec.address: Invalid value: "10.0.0.500": "10.0.0.500" is not an IP address',
    );
    await refuses(person.create(AddressClaim, claimOf('odd', 'Not A Host')), /spec\.host: Invalid value: "Not A Host"/);
    const spec = { host: 'h1', network: '-', subnet: 'subnet1' };
    await refuses(person.create(AddressClaim, { metadata: ref('odd'), spec }), /spec\.network: Invalid value: "-"/);
  });

  test('an address that an IPSet has is refused to a claim, and that of a claim to an IPSet', async () => {
    const networks = [{ name: 'Storage', subnetName: 'subnet1', fixedIP: '10.0.8.8' }];
    await person.create(IPSet, { metadata: ref('set'), spec: { immutable: false, networks } });
    await eventually(
      () => person.get(IPSet, 'set', NAMESPACE),
      (set) => set?.status?.conditions?.[0]?.status === 'True',
    );
    await answered('fixed');
    await refuses(
      person.create(AddressClaim, claimOf('second', 'h1', { address: '10.0.8.8' })),
      /spec\.address: Invalid value: "10\.0\.8\.8": the address is held by IPSet\/set: ask for another one/,
    );
    const theirs = [{ name: 'Storage', subnetName: 'subnet1', fixedIP: '10.0.9.9' }];
    await refuses(
      person.create(IPSet, { metadata: ref('late'), spec: { immutable: false, networks: theirs } }),
      /spec\.networks\[0\]\.fixedIP: .* held by AddressClaim\/fixed: ask for another one/,
    );
    await person.delete(IPSet, ref('set'));
    await person.delete(AddressClaim, ref('fixed'));
  });

  test('two that both lead give nobody the same address, be it claims or IPSets', async () => {
    const networks = [{ name: 'Storage', subnetName: 'subnet1' }];
    const creating = Array.from({ length: 8 }, async (_, worker) => {
      for (let i = worker; i < 80; i += 8) {
        await person.create(IPSet, { metadata: ref(`n${i}`), spec: { immutable: false, networks } });
        await person.create(AddressClaim, claimOf(`c${i}`, 'h1'));
      }
    });
    await Promise.all(creating);
    const given = await eventually(
      async () => [
        ...(await person.list(IPSet, NAMESPACE)).flatMap(({ status }) => status?.reservation || []),
        ...(await person.list(AddressClaim, NAMESPACE)).flatMap(({ status }) => status?.address ?? []),
      ],
      ({ length }) => length === 160,
    );
    assert.equal(new Set(given).size, 160);
    await Promise.all(
      Array.from({ length: 80 }, async (_, i) => {
        await person.delete(IPSet, ref(`n${i}`));
        await person.delete(AddressClaim, ref(`c${i}`));
      }),
    );
    const held = async () => (await person.list(AddressBlock, NAMESPACE)).flatMap(({ spec }) => spec.holdings);
    await eventually(held, ({ length }) => length === 0);
  });
});
