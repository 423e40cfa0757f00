import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { AdmissionOperation } from '../api/admission.ts';
import { Service } from '../api/core/service.ts';
import type { DeclaredKind } from '../api/kind.ts';
import { AddressBlock, type AddressHolder } from '../api/netloom.io/address-block.ts';
import { IPSet, type NetworkRequest } from '../api/network.openstack.org/ipset.ts';
import { NetConfig, type NetConfigNetwork } from '../api/network.openstack.org/netconfig.ts';
import { Reservation } from '../api/network.openstack.org/reservation.ts';
import type { ApiObject } from '../api/object.ts';
import { ApiError } from '../api/status.ts';
import { ipamAdmission } from './admission.ts';
import { Lab, NAMESPACE, network, subnet } from './environment.fixture.ts';

let lab: Lab;
beforeEach(() => {
  lab = new Lab();
});

interface Asked {
  operation: AdmissionOperation;
  object?: ApiObject;
  oldObject?: ApiObject;
}

/** What a server would do with the request: the refusal or the warnings that a person sees, or nothing. */
async function asked(kind: DeclaredKind, { operation, object, oldObject }: Asked): Promise<string> {
  const admission = ipamAdmission.find((one) => one.kind === kind);
  if (admission?.operations.includes(operation) !== true) throw new Error(`nobody is asked about ${operation}`);
  const { name = '', namespace = '' } = (object ?? oldObject)?.metadata ?? {};
  const user = { username: 'alice', groups: [] };
  const request = {
    operation,
    namespace,
    name,
    dryRun: false,
    user,
    ...(object && { object }),
    ...(oldObject && { oldObject }),
  };
  try {
    if (operation !== 'DELETE') await admission.mutate?.(request, lab.world.client);
    return ((await admission.validate?.(request, lab.world.client)) ?? []).join('\n');
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return `${error.code} ${error.message}`;
  }
}

const metadata = (name: string) => ({
  name,
  namespace: NAMESPACE,
  uid: `uid of ${name}`,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
});
const netConfig = (...networks: NetConfigNetwork[]): NetConfig => ({
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'NetConfig',
  metadata: metadata('netconfig'),
  spec: { networks },
});
const ipSet = (networks: NetworkRequest[], { immutable = false } = {}): IPSet => ({
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'IPSet',
  metadata: metadata('edpm-compute-0'),
  spec: { immutable, networks },
});
const storage: NetworkRequest = { name: 'Storage', subnetName: 'subnet1' };

describe('a NetConfig', () => {
  const update = (now: NetConfig, old: NetConfig) =>
    asked(NetConfig, { operation: 'UPDATE', object: now, oldObject: old });

  it('is filled in: services call a network by its name in lower case', async () => {
    const object = netConfig(
      network({ name: 'InternalApi', subnets: [] }),
      network({ name: 'Storage', serviceNetwork: 'disks' }),
      network({ name: 'Tenant', serviceNetwork: '', subnets: [] }),
    );
    assert.equal(await asked(NetConfig, { operation: 'CREATE', object }), '');
    assert.deepEqual(
      object.spec.networks.map(({ serviceNetwork }) => serviceNetwork),
      ['internalapi', 'disks', 'tenant'],
    );
  });

  it('that is nonsense survives being filled in: the schema refuses it afterwards', () => {
    const mutate = ipamAdmission[0]?.mutate;
    for (const spec of [undefined, null, 7, { networks: 'all' }, { networks: [null, 7, { name: 7 }] }]) {
      const object = { ...netConfig(), spec } as unknown as NetConfig;
      mutate?.(
        { operation: 'CREATE', namespace: '', name: '', dryRun: false, user: { username: '', groups: [] }, object },
        lab.world.client,
      );
    }
  });

  it('is the only one of its namespace', async () => {
    await lab.netConfig(network());
    const second = { ...netConfig(network()), metadata: metadata('second') };
    assert.equal(
      await asked(NetConfig, { operation: 'CREATE', object: second }),
      '403 netconfigs.network.openstack.org "second" is forbidden: there is already a NetConfig in namespace openstack: netconfig. One NetConfig describes all networks of a namespace; add the networks to it',
    );
  });

  it('whose CIDRs overlap is accepted with a warning that names both', async () => {
    const wide = network({ name: 'Tenant', subnets: [subnet({ cidr: '172.16.0.0/12', allocationRanges: [] })] });
    assert.equal(
      await asked(NetConfig, { operation: 'CREATE', object: netConfig(network(), wide) }),
      'spec.networks[0].subnets[0].cidr: 172.18.0.0/24 overlaps 172.16.0.0/12 of spec.networks[1].subnets[0].cidr: an address in both is given only once',
    );
  });

  it('may change at will while there is no IPSet', async () => {
    assert.equal(await update(netConfig(), netConfig(network())), '');
  });

  it('keeps its networks while there are IPSets', async () => {
    await lab.create('a');
    assert.equal(
      await update(netConfig(), netConfig(network())),
      '422 NetConfig.network.openstack.org "netconfig" is invalid: spec.networks[0].name: Invalid value: "Storage": network Storage was removed: it is in use by IPSets',
    );
  });

  it('keeps the subnets, their CIDR and their VLAN while there are IPSets, and tells every fault', async () => {
    await lab.create('a');
    const old = netConfig(network({ subnets: [subnet(), subnet({ name: 'subnet2', cidr: '172.19.0.0/24' })] }));
    const now = netConfig(network({ subnets: [subnet({ cidr: '172.18.0.0/16', vlan: 7 })] }));
    assert.equal(
      await update(now, old),
      '422 NetConfig.network.openstack.org "netconfig" is invalid: [spec.networks[0].subnets[0].cidr: Invalid value: "172.18.0.0/16": parameter cidr must not change while IPSets exist, it was 172.18.0.0/24, ' +
        'spec.networks[0].subnets[0].vlan: Invalid value: 7: parameter vlan must not change while IPSets exist, it was not set, ' +
        'spec.networks[0].subnets[1].name: Invalid value: "subnet2": parameter name must not change while IPSets exist, it was subnet2]',
    );
  });

  it('that is as wrong as ever may change its labels, and may go', async () => {
    const wrong = netConfig(network({ subnets: [subnet({ gateway: 'router' })] }));
    assert.equal(await update({ ...wrong, metadata: { ...wrong.metadata, labels: { a: 'b' } } }, wrong), '');
    const going = { ...netConfig(), metadata: { ...wrong.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    assert.equal(await update(going, wrong), '');
    assert.match(await update(netConfig(network({ subnets: [subnet({ gateway: 'x' })] })), wrong), /^422 .*gateway/);
  });

  it('may change everything else while there are IPSets', async () => {
    await lab.create('a');
    const now = network({
      mtu: 9000,
      dnsDomain: 'storage.example.com',
      subnets: [
        subnet({
          cidr: '172.18.0.7/24',
          gateway: '172.18.0.1',
          allocationRanges: [],
          excludeAddresses: ['172.18.0.10'],
        }),
        subnet({ name: 'subnet2', cidr: '172.19.0.0/24', allocationRanges: [] }),
      ],
    });
    assert.equal(await update(netConfig(now, network({ name: 'New', subnets: [] })), netConfig(network())), '');
  });

  it('is not deleted while IPSets have addresses from it, and the refusal names them', async () => {
    await lab.create('a');
    await lab.create('b');
    assert.equal(
      await asked(NetConfig, { operation: 'DELETE', oldObject: netConfig(network()) }),
      '400 NetConfig netconfig cannot be deleted: 2 IPSet(s) in namespace openstack have addresses from it (a, b); delete them first',
    );
  });

  it('is deleted when the last IPSet is about to go', async () => {
    await lab.world.client.create(IPSet, {
      metadata: { name: 'a', namespace: NAMESPACE, finalizers: ['openstack.org/ipset'] },
      spec: { immutable: false, networks: [storage] },
    });
    await lab.world.client.delete(IPSet, { name: 'a', namespace: NAMESPACE });
    assert.equal(await asked(NetConfig, { operation: 'DELETE', oldObject: netConfig(network()) }), '');
  });
});

describe('an IPSet', () => {
  const create = (...networks: NetworkRequest[]) => asked(IPSet, { operation: 'CREATE', object: ipSet(networks) });
  const invalid = '422 IPSet.network.openstack.org "edpm-compute-0" is invalid: ';

  it('carries the finalizer from the start, under its present name only', async () => {
    await lab.netConfig(network());
    const object = ipSet([storage]);
    object.metadata.finalizers = ['IPSet', 'example.com/mine'];
    await asked(IPSet, { operation: 'CREATE', object });
    assert.deepEqual(object.metadata.finalizers, ['example.com/mine', 'openstack.org/ipset']);
  });

  it('needs a NetConfig', async () => {
    assert.equal(
      await create(storage),
      '403 ipsets.network.openstack.org "edpm-compute-0" is forbidden: no NetConfig found in namespace openstack, please create one',
    );
  });

  it('needs exactly one NetConfig', async () => {
    await lab.netConfig(network());
    await lab.world.client.create(NetConfig, {
      metadata: { name: 'second', namespace: NAMESPACE },
      spec: { networks: [] },
    });
    assert.equal(
      await create(storage),
      '403 ipsets.network.openstack.org "edpm-compute-0" is forbidden: more than one NetConfig found in namespace openstack (netconfig, second), please delete all but one',
    );
  });

  it('asks for networks and subnets that exist, whatever their case', async () => {
    await lab.netConfig(network());
    assert.equal(await create({ name: 'storage', subnetName: 'SUBNET1' }), '');
    assert.equal(
      await create({ name: 'Tenant', subnetName: 'subnet1' }, { name: 'Storage', subnetName: 'subnet9' }),
      `${invalid}[spec.networks[0].name: Invalid value: "Tenant": network Tenant is not in NetConfig netconfig, ` +
        'spec.networks[1].subnetName: Invalid value: "subnet9": subnet subnet9 is not in network Storage of NetConfig netconfig]',
    );
  });

  it('asks for a fixed address of the right family and CIDR', async () => {
    await lab.netConfig(network());
    assert.equal(await create({ ...storage, fixedIP: '172.18.0.5' }), '');
    assert.equal(
      await create({ ...storage, fixedIP: '172.19.0.5' }),
      `${invalid}spec.networks[0].fixedIP: Invalid value: "172.19.0.5": address is not in CIDR 172.18.0.0/24`,
    );
    assert.equal(
      await create({ ...storage, fixedIP: 'fd00::5' }),
      `${invalid}[spec.networks[0].fixedIP: Invalid value: "fd00::5": cannot mix IPv4 and IPv6: the subnet is IPv4 (172.18.0.0/24), ` +
        'spec.networks[0].fixedIP: Invalid value: "fd00::5": address is not in CIDR 172.18.0.0/24]',
    );
  });

  describe('that asks for an address which is held', () => {
    const taken = { ...storage, fixedIP: '172.18.0.10' };
    const refusal = (holder: string, where = '') =>
      `${invalid}spec.networks[0].fixedIP: Invalid value: "172.18.0.10": the address is held by ${holder}${where}: ask for another one or for any, or delete ${holder} first`;
    /** Puts on record that somebody has the address. */
    const hold = (holder: AddressHolder) =>
      lab.world.client.create(AddressBlock, {
        metadata: { name: 'underlay-172.18.0.0-24', namespace: NAMESPACE },
        spec: {
          space: 'underlay',
          prefix: '172.18.0.0/24',
          holdings: [{ address: '172.18.0.10', holder, network: 'n', subnet: '', since: '2026-01-01T00:00:00Z' }],
        },
      });
    const holderOf = ({ kind, metadata: { name, uid } }: ApiObject, apiGroup?: string): AddressHolder => ({
      ...(apiGroup === undefined ? {} : { apiGroup }),
      kind,
      name,
      uid,
    });
    const openstack = 'network.openstack.org';
    const firstIpSet = async (finalizers: string[] = []): Promise<IPSet> => {
      const spec = { immutable: false, networks: [storage] };
      const created = await lab.world.client.create(IPSet, {
        metadata: { name: 'first', namespace: NAMESPACE, finalizers },
        spec,
      });
      await hold(holderOf(created, openstack));
      return created;
    };

    beforeEach(() => lab.netConfig(network()));

    it('is refused, and told by whom', async () => {
      await firstIpSet();
      assert.equal(await create(taken), refusal('IPSet/first'));
    });

    it('may wait for somebody who is being deleted', async () => {
      const first = await firstIpSet(['example.com/drain']);
      await lab.world.client.delete(IPSet, { name: first.metadata.name, namespace: NAMESPACE });
      assert.equal(await create(taken), '');
    });

    it('may wait for what somebody left behind who is gone', async () => {
      await firstIpSet();
      await lab.world.client.delete(IPSet, { name: 'first', namespace: NAMESPACE });
      assert.equal(await create(taken), '');
      await lab.create('first');
      assert.equal(await create(taken), '', 'another one of that name has nothing to do with it');
    });

    it('is told so when it adds a network, and not again when it changes anything else', async () => {
      await firstIpSet();
      assert.equal(
        await asked(IPSet, { operation: 'UPDATE', object: ipSet([taken]), oldObject: ipSet([]) }),
        refusal('IPSet/first'),
      );
      const [waiting, changed] = [ipSet([taken]), ipSet([taken], { immutable: true })];
      assert.equal(await asked(IPSet, { operation: 'UPDATE', object: changed, oldObject: waiting }), '');
    });

    it('is refused what it has itself on another network', async () => {
      await lab.netConfig(network(), network({ name: 'Tenant', subnets: [subnet({ cidr: '172.18.0.0/16' })] }));
      const reservations = [{ network: 'Tenant', subnet: 'subnet1', address: '172.18.0.10' }];
      const tenant = { name: 'Tenant', subnetName: 'subnet1' };
      const oldObject: IPSet = { ...ipSet([tenant]), status: { reservations } };
      assert.equal(
        await asked(IPSet, { operation: 'UPDATE', object: ipSet([tenant, taken]), oldObject }),
        `${invalid}spec.networks[1].fixedIP: Invalid value: "172.18.0.10": the IPSet has the address on network Tenant subnet subnet1: an address is given only once`,
      );
    });

    it('inherits from the Reservation of its name, and from no other', async () => {
      const spec = { ipSetRef: {}, reservation: {} };
      const metadata = { name: 'edpm-compute-0', namespace: NAMESPACE };
      await hold(holderOf(await lab.world.client.create(Reservation, { metadata, spec }), openstack));
      assert.equal(await create(taken), '');
      const object = { ...ipSet([taken]), metadata: { ...ipSet([]).metadata, name: 'edpm-compute-1' } };
      assert.equal(
        await asked(IPSet, { operation: 'CREATE', object }),
        refusal('Reservation/edpm-compute-0').replace('"edpm-compute-0" is', '"edpm-compute-1" is'),
      );
    });

    it('is refused what a Service has, in whichever namespace', async () => {
      const service = { name: 'web', namespace: 'shop' };
      const { metadata } = await lab.world.client.create(Service, { metadata: service, spec: {} });
      await hold({ kind: 'Service', ...service, uid: metadata.uid });
      assert.equal(await create(taken), refusal('Service/web', ' in namespace shop'));
    });

    it('is refused what an object of an unknown kind has', async () => {
      await hold({ apiGroup: 'example.com', kind: 'Printer', name: 'laser', uid: '7' });
      assert.equal(await create(taken), refusal('Printer/laser'));
    });
  });

  it('asks for a network twice only in two families', async () => {
    const subnets = [
      subnet(),
      subnet({ name: 'subnet2', cidr: '172.19.0.0/24', allocationRanges: [] }),
      subnet({ name: 'subnet6', cidr: 'fd00::/64', allocationRanges: [] }),
    ];
    await lab.netConfig(network({ subnets }));
    assert.equal(await create(storage, { name: 'Storage', subnetName: 'subnet6' }), '');
    assert.equal(
      await create(storage, { name: 'Storage', subnetName: 'subnet2' }),
      `${invalid}spec.networks[1].name: Invalid value: "Storage": network Storage is already in use at spec.networks[0].name with IPv4`,
    );
  });

  it('has one default route in each family, through a gateway', async () => {
    const routed = (name: string, cidr: string, gateway?: string) =>
      network({
        name,
        subnets: [subnet({ cidr, allocationRanges: [], ...(gateway === undefined ? {} : { gateway }) })],
      });
    await lab.netConfig(
      routed('Aa', '10.1.0.0/24', '10.1.0.1'),
      routed('Bb', '10.2.0.0/24', '10.2.0.1'),
      routed('Six', 'fd00::/64', 'fd00::1'),
      routed('None', '10.3.0.0/24'),
    );
    const through = (name: string) => ({ name, subnetName: 'subnet1', defaultRoute: true });
    assert.equal(await create(through('Aa'), through('Six')), '');
    assert.equal(
      await create(through('Aa'), through('Bb')),
      `${invalid}spec.networks[1].defaultRoute: Invalid value: true: the default route can only be requested on a single network for IPv4; it is already at spec.networks[0].defaultRoute`,
    );
    assert.equal(
      await create(through('None')),
      `${invalid}spec.networks[0].defaultRoute: Invalid value: true: the default route is requested, but no gateway is configured for subnet subnet1 of network None`,
    );
  });

  it('that is immutable keeps its networks, and the refusal says how to unlock it', async () => {
    await lab.netConfig(network());
    const oldObject = ipSet([storage], { immutable: true });
    const object = ipSet([{ ...storage, fixedIP: '172.18.0.5' }], { immutable: false });
    assert.equal(
      await asked(IPSet, { operation: 'UPDATE', object, oldObject }),
      '403 ipsets.network.openstack.org "edpm-compute-0" is forbidden: spec: Forbidden: Invalid value: "object": Spec.Networks is immutable; first set spec.immutable to false, in an update that changes nothing else',
    );
    assert.equal(await asked(IPSet, { operation: 'UPDATE', object: ipSet([storage]), oldObject }), '');
  });

  it('may change its labels and finalizers when the NetConfig is gone', async () => {
    assert.equal(
      await asked(IPSet, { operation: 'UPDATE', object: ipSet([storage]), oldObject: ipSet([storage]) }),
      '',
    );
  });

  it('that is being deleted is let go whatever it says', async () => {
    const object = ipSet([]);
    object.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    assert.equal(await asked(IPSet, { operation: 'UPDATE', object, oldObject: ipSet([storage]) }), '');
  });
});
