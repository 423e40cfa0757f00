import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Deployment } from '../api/apps/workloads.ts';
import { ConfigMap } from '../api/core/config.ts';
import { Service } from '../api/core/service.ts';
import type { JsonObject } from '../api/json.ts';
import type { Kind } from '../api/kind.ts';
import { DNSData } from '../api/network.openstack.org/dnsdata.ts';
import { DNSMasq } from '../api/network.openstack.org/dnsmasq.ts';
import { IPSet, type ReservedAddress } from '../api/network.openstack.org/ipset.ts';
import { Event } from '../runtime/builtin.ts';
import { Lab, NAMESPACE } from './dns.fixture.ts';
import { MOST_IN_ONE, PARTS } from './ipset-names.ts';

async function service(lab: Lab, name: string, hostname: string, ip: string): Promise<void> {
  const metadata = { name, namespace: NAMESPACE, annotations: { 'dnsmasq.network.openstack.org/hostname': hostname } };
  await lab.world.client.create(Service, { metadata, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } });
  const ingress = ip === '' ? [{ hostname: 'elsewhere' }] : [{ ip }];
  const status = { loadBalancer: { ingress } };
  await lab.world.client.patch(Service, { namespace: NAMESPACE, name }, { merge: { status } }, 'status');
}

const reservation = (change: Partial<ReservedAddress> = {}): ReservedAddress => ({
  network: 'InternalApi',
  subnet: 'subnet1',
  address: '172.17.0.100',
  dnsDomain: 'internalapi.example.com',
  ...change,
});

async function ipSet(lab: Lab, name: string, reservations: ReservedAddress[], annotations = {}): Promise<void> {
  const metadata = { name, namespace: NAMESPACE, annotations };
  await lab.world.client.create(IPSet, { metadata, spec: { immutable: false, networks: [] } });
  const status = { reservations: reservations.map((each) => ({ ...each })) };
  await lab.world.client.patch(IPSet, { namespace: NAMESPACE, name }, { merge: { status } } as never, 'status');
}

const hostsIn = (lab: Lab, name: string) => lab.find(DNSData, name).spec.hosts;

describe('names of Services', () => {
  it('are served by every DNSMasq of the namespace, an address with all its names', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.dnsMasq('dns', { dnsDataLabelSelectorValue: 'one' });
    await lab.dnsMasq('dns2');
    await service(lab, 'keystone', 'keystone-internal.openstack.svc', '172.17.0.80');
    await service(lab, 'glance', 'glance-internal.openstack.svc, images.example.com', '172.17.0.80');
    await service(lab, 'nova', 'nova-internal.openstack.svc', '172.17.0.9');
    await lab.settle();
    const hosts = [
      { ip: '172.17.0.9', hostnames: ['nova-internal.openstack.svc'] },
      {
        ip: '172.17.0.80',
        hostnames: ['glance-internal.openstack.svc', 'images.example.com', 'keystone-internal.openstack.svc'],
      },
    ];
    assert.deepEqual(hostsIn(lab, 'dns-svc'), hosts);
    assert.deepEqual(hostsIn(lab, 'dns2-svc'), hosts);
    assert.equal(lab.find(DNSData, 'dns-svc').spec.dnsDataLabelSelectorValue, 'one');
    assert.equal(lab.find(DNSData, 'dns-svc').metadata.ownerReferences?.[0]?.kind, 'DNSMasq');
    await lab.stop();
  });

  it('do not overwrite a DNSData of somebody who has their name for it', async () => {
    const lab = new Lab();
    await lab.start();
    const theirs = [{ ip: '10.0.0.1', hostnames: ['precious.example.com'] }];
    await lab.dnsData('dns-svc', theirs);
    await lab.dnsData('dns-ipsets', theirs);
    await lab.dnsMasq('dns');
    await service(lab, 'nova', 'nova-internal.openstack.svc', '172.17.0.9');
    await ipSet(lab, 'a', [reservation()]);
    await lab.settle();
    assert.deepEqual([hostsIn(lab, 'dns-svc'), hostsIn(lab, 'dns-ipsets')], [theirs, theirs]);
    const said = lab.all(Event).filter(({ reason }) => reason === 'NamesNotServed');
    assert.deepEqual(said.map(({ message }) => message?.split(' ').slice(0, 4).join(' ')).sort(), [
      'DNSData dns-ipsets is there',
      'DNSData dns-svc is there',
    ]);
    await lab.stop();
  });

  it('come back when somebody deletes them, and come when the DNSData in their way goes', async () => {
    const lab = new Lab();
    await lab.start();
    const ref = { namespace: NAMESPACE, name: 'dns-svc' };
    await lab.dnsData(ref.name, [{ ip: '10.0.0.1', hostnames: ['precious.example.com'] }]);
    await lab.dnsMasq('dns');
    await service(lab, 'nova', 'nova-internal.openstack.svc', '172.17.0.9');
    await lab.settle();
    for (const _ of ['theirs', 'ours']) {
      await lab.world.client.delete(DNSData, ref);
      await lab.settle();
      assert.deepEqual(hostsIn(lab, 'dns-svc'), [{ ip: '172.17.0.9', hostnames: ['nova-internal.openstack.svc'] }]);
    }
    await lab.stop();
  });

  it('go with the annotation and with the type, and stand for every address of a Service', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.dnsMasq('dns');
    const ref = { namespace: NAMESPACE, name: 'nova' };
    await service(lab, 'nova', 'nova-internal.openstack.svc', '172.17.0.9');
    const ingress = [{ ip: 'FD00::0009' }, { ip: '172.17.0.9' }, { hostname: 'elsewhere' }];
    await lab.world.client.patch(Service, ref, { merge: { status: { loadBalancer: { ingress } } } }, 'status');
    const hosts = ['172.17.0.9', 'fd00::9'].map((ip) => ({ ip, hostnames: ['nova-internal.openstack.svc'] }));
    const change = async (merge: JsonObject): Promise<unknown> => {
      await lab.world.client.patch(Service, ref, { merge });
      await lab.settle();
      return hostsIn(lab, 'dns-svc') ?? [];
    };
    const annotation = 'dnsmasq.network.openstack.org/hostname';
    assert.deepEqual(await change({}), hosts);
    assert.deepEqual(await change({ spec: { type: 'ClusterIP' } }), []);
    assert.deepEqual(await change({ spec: { type: 'LoadBalancer' } }), hosts);
    assert.deepEqual(await change({ metadata: { annotations: { [annotation]: null } } }), []);
    await lab.stop();
  });

  it('are written once by two who do not know of each other', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.start();
    await lab.dnsMasq('dns');
    await lab.dnsData('hosts', [{ ip: '10.0.0.1', hostnames: ['a.example.com', 'no name'] }]);
    await service(lab, 'nova', 'nova-internal.openstack.svc', '172.17.0.9');
    await ipSet(lab, 'a', [reservation()]);
    await lab.settle();
    const versions = () =>
      [DNSMasq, DNSData, ConfigMap, Service, Deployment].flatMap((kind: Kind) =>
        lab.all(kind).map(({ metadata }) => `${kind.kind} ${metadata.name} ${metadata.resourceVersion}`),
      );
    const before = versions();
    await lab.world.clock.advance(10 * 60_000);
    assert.deepEqual(versions(), before);
    assert.ok(before.some((each) => each.startsWith('ConfigMap dns-ipsets ')));
    await lab.stop();
  });

  it('without an address do not keep others from having theirs, and go with their Service', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.dnsMasq('dns');
    await service(lab, 'elsewhere', 'elsewhere.openstack.svc', '');
    await service(lab, 'nova', 'nova-internal.openstack.svc', '172.17.0.9');
    await lab.settle();
    assert.deepEqual(hostsIn(lab, 'dns-svc'), [{ ip: '172.17.0.9', hostnames: ['nova-internal.openstack.svc'] }]);
    await lab.world.client.delete(Service, { namespace: NAMESPACE, name: 'nova' });
    await lab.settle();
    assert.deepEqual(hostsIn(lab, 'dns-svc') ?? [], []);
    await lab.stop();
  });
});

describe('names of IPSets', () => {
  it('are their own in the domain of each network; a whole domain name is one on the control plane', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.dnsMasq('dns');
    await ipSet(lab, 'edpm-compute-0', [reservation()]);
    const ctlplane = { network: 'CtlPlane', serviceNetwork: 'ctlplane', address: '192.168.122.100' };
    const both = [reservation({ address: '172.17.0.101' }), reservation({ ...ctlplane, dnsDomain: 'ctl.example.com' })];
    await ipSet(lab, 'edpm-compute-1.example.com', both);
    await lab.settle();
    assert.deepEqual(hostsIn(lab, 'dns-ipsets'), [
      { ip: '172.17.0.100', hostnames: ['edpm-compute-0.internalapi.example.com'] },
      { ip: '172.17.0.101', hostnames: ['edpm-compute-1.internalapi.example.com'] },
      { ip: '192.168.122.100', hostnames: ['edpm-compute-1.ctl.example.com', 'edpm-compute-1.example.com'] },
    ]);
    await lab.stop();
  });

  it('are whole where two IPSets begin with the same part, for as long as there are two', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.dnsMasq('dns');
    const named = () => hostsIn(lab, 'dns-ipsets')?.map(({ ip, hostnames }) => [ip, ...hostnames]);
    await ipSet(lab, 'web.one.example', [reservation()]);
    await lab.settle();
    const alone = [['172.17.0.100', 'web.internalapi.example.com']];
    assert.deepEqual(named(), alone);
    await ipSet(lab, 'web.two.example', [reservation({ address: '172.17.0.101' })]);
    await lab.settle();
    assert.deepEqual(named(), [
      ['172.17.0.100', 'web.one.example.internalapi.example.com'],
      ['172.17.0.101', 'web.two.example.internalapi.example.com'],
    ]);
    await lab.world.client.delete(IPSet, { namespace: NAMESPACE, name: 'web.two.example' });
    await lab.settle();
    assert.deepEqual(named(), alone);
    await lab.stop();
  });

  it('follow the domain of their network, and the annotation', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.dnsMasq('dns');
    await ipSet(lab, 'a', [reservation()]);
    const ref = { namespace: NAMESPACE, name: 'a' };
    const status = { reservations: [reservation({ dnsDomain: 'api.example.org' })] };
    await lab.world.client.patch(IPSet, ref, { merge: { status } } as never, 'status');
    await lab.settle();
    assert.deepEqual(hostsIn(lab, 'dns-ipsets'), [{ ip: '172.17.0.100', hostnames: ['a.api.example.org'] }]);
    const annotate = (value: string | null) =>
      lab.world.client.patch(IPSet, ref, { merge: { metadata: { annotations: { 'dns.netloom.io/names': value } } } });
    await annotate('false');
    await lab.settle();
    assert.ok(!lab.names(DNSData).includes('dns-ipsets'));
    await annotate(null);
    await lab.settle();
    assert.deepEqual(hostsIn(lab, 'dns-ipsets'), [{ ip: '172.17.0.100', hostnames: ['a.api.example.org'] }]);
    await lab.stop();
  });

  it('are left out for an annotation, and on networks without a domain; nobody is named where nobody asks', async () => {
    const lab = new Lab();
    await lab.start();
    await ipSet(lab, 'a', [reservation()]);
    await lab.settle();
    assert.deepEqual(lab.names(DNSData), []);
    await lab.dnsMasq('dns');
    await ipSet(lab, 'silent', [reservation()], { 'dns.netloom.io/names': 'false' });
    await ipSet(lab, 'homeless', [{ network: 'Tenant', subnet: 'subnet1', address: '172.19.0.5' }]);
    await lab.settle();
    assert.deepEqual(
      hostsIn(lab, 'dns-ipsets')?.flatMap(({ hostnames }) => hostnames),
      ['a.internalapi.example.com'],
    );
    await lab.stop();
  });

  it('are cut into parts in a large namespace, of which one more IPSet changes one', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.dnsMasq('dns');
    for (let i = 0; i <= MOST_IN_ONE; i += 1) {
      await ipSet(lab, `host-${i}`, [reservation({ address: `172.17.${i >> 7}.${i & 127}` })]);
    }
    await lab.settle();
    const parts = lab.all(DNSData).filter(({ metadata }) => metadata.name.startsWith('dns-ipsets'));
    assert.ok(parts.length > PARTS / 2 && parts.every(({ metadata }) => metadata.name !== 'dns-ipsets'));
    assert.equal(parts.flatMap(({ spec }) => spec.hosts ?? []).length, MOST_IN_ONE + 1);
    const versions = new Map(parts.map(({ metadata }) => [metadata.name, metadata.generation]));
    await ipSet(lab, 'one-more', [reservation({ address: '172.17.9.9' })]);
    await lab.settle();
    const changed = lab
      .all(DNSData)
      .filter(({ metadata }) => metadata.name.startsWith('dns-ipsets'))
      .filter(({ metadata }) => versions.get(metadata.name) !== metadata.generation);
    assert.equal(changed.length, 1);

    // A part that somebody deletes or edits is made again, and all of them follow the selector.
    const [gone, edited] = parts;
    assert.ok(gone !== undefined && edited !== undefined);
    await lab.world.client.delete(DNSData, { namespace: NAMESPACE, name: gone.metadata.name });
    await lab.world.client.update(DNSData, { ...edited, spec: { ...edited.spec, hosts: [] } });
    await lab.settle();
    assert.deepEqual(hostsIn(lab, gone.metadata.name), gone.spec.hosts);
    assert.deepEqual(hostsIn(lab, edited.metadata.name), edited.spec.hosts);
    const dnsMasq = lab.find(DNSMasq, 'dns');
    await lab.world.client.update(DNSMasq, { ...dnsMasq, spec: { ...dnsMasq.spec, dnsDataLabelSelectorValue: 'new' } });
    await lab.settle();
    const selectors = lab.all(DNSData).map(({ spec }) => spec.dnsDataLabelSelectorValue);
    assert.deepEqual(new Set(selectors), new Set(['new']));
    await lab.stop();
  });

  it('go with their DNSMasq', async () => {
    const lab = new Lab();
    await lab.start();
    const { metadata } = await lab.dnsMasq('dns');
    await ipSet(lab, 'a', [reservation()]);
    await lab.settle();
    await lab.world.client.delete(DNSMasq, { namespace: NAMESPACE, name: metadata.name });
    await lab.settle();
    await lab.world.api.collectGarbage();
    await lab.settle();
    assert.deepEqual(lab.names(DNSData), []);
    await lab.stop();
  });
});
