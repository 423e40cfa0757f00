import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { AdmissionOperation, UserInfo } from '../api/admission.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import type { AddressClaim } from '../api/netloom.io/address-claim.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { ApiError } from '../api/status.ts';
import { addressClaimAdmission } from './address-claim.admission.ts';
import { Lab, NAMESPACE, network } from './environment.fixture.ts';
import { netConfigAdmission } from './netconfig.admission.ts';

let lab: Lab;
beforeEach(() => {
  lab = new Lab();
});

const claim = (change: Partial<AddressClaim['spec']> = {}): AddressClaim => ({
  apiVersion: 'netloom.io/v1alpha1',
  kind: 'AddressClaim',
  metadata: {
    name: 'web',
    namespace: NAMESPACE,
    uid: 'uid of web',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: { host: 'host-a', network: 'Storage', subnet: 'subnet1', ...change },
});
const alice: UserInfo = { username: 'alice', groups: [] };
const agentOf = (host: string): UserInfo => ({ username: `system:node:${host}`, groups: ['system:nodes'] });

interface Asked {
  user?: UserInfo;
  object?: AddressClaim;
  oldObject?: AddressClaim;
}

/** The refusal that a person sees, or nothing. */
async function asked(operation: AdmissionOperation, { user = alice, object, oldObject }: Asked): Promise<string> {
  const { name = '', namespace = '' } = (object ?? oldObject)?.metadata ?? {};
  const objects = { ...(object && { object }), ...(oldObject && { oldObject }) };
  const request = { operation, namespace, name, dryRun: false, user, ...objects };
  try {
    if (operation !== 'DELETE') await addressClaimAdmission.mutate?.(request, lab.world.client);
    await addressClaimAdmission.validate?.(request, lab.world.client);
    return '';
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return `${error.code} ${error.message}`;
  }
}
const create = (change: Partial<AddressClaim['spec']> = {}, user = alice) =>
  asked('CREATE', { user, object: claim(change) });
const invalid = '422 AddressClaim.netloom.io "web" is invalid: ';

describe('an AddressClaim', () => {
  it('carries the finalizer from the start', async () => {
    await lab.netConfig(network());
    const object = claim();
    object.metadata.finalizers = ['example.com/mine'];
    await asked('CREATE', { object });
    assert.deepEqual(object.metadata.finalizers, ['example.com/mine', 'netloom.io/addressclaim']);
  });

  it('needs a NetConfig', async () => {
    assert.equal(
      await create(),
      '403 addressclaims.netloom.io "web" is forbidden: no NetConfig found in namespace openstack, please create one',
    );
  });

  it('asks for a network and a subnet that exist, whatever their case', async () => {
    await lab.netConfig(network());
    assert.equal(await create({ network: 'storage', subnet: 'SUBNET1' }), '');
    assert.equal(
      await create({ network: 'Tenant' }),
      `${invalid}spec.network: Invalid value: "Tenant": network Tenant is not in NetConfig netconfig`,
    );
    assert.equal(
      await create({ subnet: 'subnet9' }),
      `${invalid}spec.subnet: Invalid value: "subnet9": subnet subnet9 is not in network Storage of NetConfig netconfig`,
    );
  });

  it('asks for an address of the right family and CIDR', async () => {
    await lab.netConfig(network());
    assert.equal(await create({ address: '172.18.0.5' }), '');
    assert.equal(
      await create({ address: '172.19.0.5' }),
      `${invalid}spec.address: Invalid value: "172.19.0.5": address is not in CIDR 172.18.0.0/24`,
    );
  });

  it('is told all that is wrong with it at once', async () => {
    await lab.netConfig(network());
    const fault = 'spec.address: Invalid value: "x": "x" is not an IP address';
    assert.equal(await create({ address: 'x' }), `${invalid}${fault}`);
    assert.equal(
      await create({ network: 'Tenant', address: 'x' }),
      `${invalid}[spec.network: Invalid value: "Tenant": network Tenant is not in NetConfig netconfig, ${fault}]`,
    );
  });

  it('is refused an address that somebody has, and told who', async () => {
    await lab.netConfig(network());
    await lab.create('first');
    const { uid } = lab.find('first').metadata;
    await lab.world.client.create(AddressBlock, {
      metadata: { name: 'underlay-172.18.0.0-24', namespace: NAMESPACE },
      spec: {
        space: 'underlay',
        prefix: '172.18.0.0/24',
        holdings: [
          {
            address: '172.18.0.10',
            holder: { apiGroup: IPSet.group, kind: IPSet.kind, name: 'first', uid },
            network: 'Storage',
            subnet: 'subnet1',
            since: '2026-01-01T00:00:00Z',
          },
        ],
      },
    });
    assert.equal(
      await create({ address: '172.18.0.10' }),
      `${invalid}spec.address: Invalid value: "172.18.0.10": the address is held by IPSet/first: ask for another one or for any, or delete IPSet/first first`,
    );
  });

  it('may change its labels and finalizers when the NetConfig is gone', async () => {
    assert.equal(await asked('UPDATE', { object: claim(), oldObject: claim() }), '');
  });
});

describe('the agent of a host', () => {
  const OTHER =
    '403 addressclaims.netloom.io "web" is forbidden: node "host-a" can only write objects of kind AddressClaim that belong to itself, and this one is for host "host-b"';
  const own = claim();
  const other = claim({ host: 'host-b' });

  beforeEach(() => lab.netConfig(network()));

  it('creates, changes and deletes claims of its own host', async () => {
    const user = agentOf('host-a');
    assert.equal(await asked('CREATE', { user, object: own }), '');
    assert.equal(await asked('UPDATE', { user, object: own, oldObject: own }), '');
    assert.equal(await asked('DELETE', { user, oldObject: own }), '');
  });

  it('is refused those of another host', async () => {
    const user = agentOf('host-a');
    assert.equal(await asked('CREATE', { user, object: other }), OTHER);
    assert.equal(await asked('UPDATE', { user, object: other, oldObject: other }), OTHER);
    assert.equal(await asked('DELETE', { user, oldObject: other }), OTHER);
  });

  it('can neither give its claim away nor take one over', async () => {
    const user = agentOf('host-a');
    assert.equal(await asked('UPDATE', { user, object: other, oldObject: own }), OTHER);
    assert.equal(await asked('UPDATE', { user, object: own, oldObject: other }), OTHER);
  });

  it('is not taken for one by its name alone: people may write claims of any host', async () => {
    assert.equal(await create({ host: 'host-b' }), '');
    assert.equal(await create({ host: 'host-b' }, { ...agentOf('host-a'), groups: [] }), '');
  });
});

describe('a NetConfig', () => {
  const ask = (operation: AdmissionOperation, now?: NetConfig, old?: NetConfig) => {
    const objects = { ...(now && { object: now }), ...(old && { oldObject: old }) };
    const request = { operation, namespace: NAMESPACE, name: 'netconfig', dryRun: false, user: alice, ...objects };
    return netConfigAdmission.validate?.(request, lab.world.client);
  };
  const netConfig = (name: string): NetConfig => ({
    ...claim(),
    kind: NetConfig.kind,
    spec: { networks: [network({ name })] },
  });

  beforeEach(() => lab.netConfig(network()));

  it('is not deleted while claims have addresses from it, and the refusal names them', async () => {
    await lab.claim('web');
    await assert.rejects(async () => ask('DELETE'), {
      message:
        'NetConfig netconfig cannot be deleted: 1 AddressClaim(s) in namespace openstack have addresses from it (web); delete them first',
    });
    await lab.create('a');
    await assert.rejects(async () => ask('DELETE'), {
      message:
        'NetConfig netconfig cannot be deleted: 1 IPSet(s) and 1 AddressClaim(s) in namespace openstack have addresses from it (a, web); delete them first',
    });
  });

  it('keeps its networks while there are claims', async () => {
    await lab.claim('web');
    await assert.rejects(async () => ask('UPDATE', netConfig('Tenant'), netConfig('Storage')), {
      message: /spec\.networks\[0\]\.name: .* network Storage was removed: it is in use by AddressClaims$/,
    });
  });
});
