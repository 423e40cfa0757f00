import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AdmissionOperation } from '../api/admission.ts';
import type { IPAddressPool, IPAddressPoolSpec } from '../api/metallb.io/ip-address-pool.ts';
import { L2Advertisement } from '../api/metallb.io/l2-advertisement.ts';
import type { ApiObject } from '../api/object.ts';
import { vipsAdmission } from './index.ts';
import { Lab } from './lab.fixture.ts';

const meta = (name: string, namespace: string) => ({
  name,
  namespace,
  uid: '1',
  resourceVersion: '1',
  creationTimestamp: '',
});

const pool = (name: string, change: Partial<IPAddressPoolSpec> = {}, namespace = 'metallb-system'): IPAddressPool => ({
  apiVersion: 'metallb.io/v1beta1',
  kind: 'IPAddressPool',
  metadata: meta(name, namespace),
  spec: { addresses: ['172.17.0.80-172.17.0.90'], autoAssign: true, avoidBuggyIPs: false, ...change },
});

/** What a person is told: the warnings, or the refusal. */
async function ask(
  lab: Lab,
  operation: AdmissionOperation,
  object?: ApiObject,
  oldObject?: ApiObject,
): Promise<string[]> {
  const about = object ?? oldObject;
  assert.ok(about);
  const { name, namespace = '' } = about.metadata;
  const request = {
    operation,
    name,
    namespace,
    dryRun: false,
    user: { username: 'somebody', groups: [] },
    ...(object === undefined ? {} : { object }),
    ...(oldObject === undefined ? {} : { oldObject }),
  };
  const told: string[] = [];
  for (const { kind, operations, mutate, validate } of vipsAdmission()) {
    if (kind.kind !== about.kind || !operations.includes(operation)) continue;
    await mutate?.(request, lab.world.client);
    try {
      told.push(...((await validate?.(request, lab.world.client)) ?? []));
    } catch (error) {
      told.push(`refused: ${error instanceof Error ? error.message : error}`);
    }
  }
  return told;
}

describe('a pool', () => {
  it('comes with the finalizer that keeps it while it is in use', async () => {
    const created = pool('p');
    assert.deepEqual(await ask(new Lab(), 'CREATE', created), []);
    assert.deepEqual(created.metadata.finalizers, ['netloom.io/addresses-in-use']);
  });

  it('is refused outside of the namespace of pools', async () => {
    assert.deepEqual(await ask(new Lab(), 'CREATE', pool('p', {}, 'default')), [
      'refused: ipaddresspools.metallb.io "p" is forbidden: resource must be created in metallb-system namespace',
    ]);
  });

  it('is refused when it overlaps another one, which is named', async () => {
    const lab = new Lab();
    await lab.pool('first', { addresses: ['172.17.0.0/24'] });
    const second = pool('second', { addresses: ['10.0.0.0/24', '172.17.0.200-172.17.1.5'] });
    assert.deepEqual(await ask(lab, 'CREATE', second), [
      'refused: IPAddressPool.metallb.io "second" is invalid: spec.addresses[1]: Invalid value: "172.17.0.200-172.17.1.5": CIDR "172.17.0.200-172.17.1.5" in pool "second" overlaps with already defined CIDR "172.17.0.0/24" of pool "first"',
    ]);
    assert.deepEqual(
      await ask(lab, 'UPDATE', pool('first', { addresses: ['172.17.0.0/25'] }), lab.findPool('first')),
      [],
    );
  });

  it('that gives what a network gives to hosts is let in with a warning', async () => {
    const lab = new Lab();
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250');
    assert.deepEqual(await ask(lab, 'CREATE', pool('p')), [
      'spec.addresses: overlaps 172.17.0.10-172.17.0.250 of network InternalApi/subnet1 in namespace openstack: an address of both is given only once',
    ]);
  });

  it('that is made smaller or deleted while it is in use names its users', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.pool('p', {});
    await lab.service('a', { annotations: { 'metallb.io/loadBalancerIPs': '172.17.0.86' } });
    const old = lab.findPool('p');
    assert.deepEqual(await ask(lab, 'UPDATE', pool('p', { addresses: ['172.17.0.80-172.17.0.85'] }), old), [
      'spec.addresses: Services have addresses that the pool does not have any more, and keep them until they give them back: openstack/a (172.17.0.86)',
    ]);
    assert.deepEqual(await ask(lab, 'DELETE', undefined, old), [
      'pool p goes when these Services have given back its addresses: openstack/a (172.17.0.86); until then nothing more is given from it',
    ]);
    await lab.stop();
  });
});

describe('an advertisement', () => {
  const advertisement = (namespace: string): L2Advertisement => ({
    apiVersion: 'metallb.io/v1beta1',
    kind: L2Advertisement.kind,
    metadata: meta('l2', namespace),
    spec: { ipAddressPools: ['p'] },
  });

  it('may name pools that do not exist yet, with a warning', async () => {
    const lab = new Lab();
    assert.deepEqual(await ask(lab, 'CREATE', advertisement('metallb-system')), [
      'spec.ipAddressPools[0]: there is no IPAddressPool p in namespace metallb-system yet',
    ]);
    await lab.pool('p', {});
    assert.deepEqual(await ask(lab, 'CREATE', advertisement('metallb-system')), []);
  });

  it('is refused outside of the namespace of pools', async () => {
    assert.match(
      (await ask(new Lab(), 'CREATE', advertisement('default'))).join(),
      /resource must be created in metallb-system namespace/,
    );
  });
});
