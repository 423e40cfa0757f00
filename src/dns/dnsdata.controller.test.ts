import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigMap } from '../api/core/config.ts';
import { DNSData } from '../api/network.openstack.org/dnsdata.ts';
import { Event } from '../runtime/builtin.ts';
import { Lab, NAMESPACE } from './dns.fixture.ts';

describe('a DNSData', () => {
  it('becomes a ConfigMap that DNSMasqs find by its label', async () => {
    const lab = new Lab();
    await lab.start();
    const data = await lab.dnsData('SomeHosts', [{ ip: '192.168.122.100', hostnames: ['edpm-compute-0.ctlplane'] }]);
    const configMap = lab.find(ConfigMap, 'somehosts');
    assert.deepEqual(configMap.data, { SomeHosts: '192.168.122.100 edpm-compute-0.ctlplane\n' });
    assert.equal(configMap.metadata.labels?.['dnsmasqhosts'], 'dnsdata');
    assert.equal(configMap.metadata.ownerReferences?.[0]?.uid, data.metadata.uid);
    assert.deepEqual(
      data.status?.conditions?.map(({ type, status, message }) => [type, status, message]),
      [
        ['Ready', 'True', 'Setup complete'],
        ['HostsAccepted', 'True', 'All hosts are served'],
        ['ServiceConfigReady', 'True', 'Input data complete'],
      ],
    );
    assert.match(data.status?.hash ?? '', /^[b-t]{64}$/);
    await lab.stop();
  });

  it('with an entry that cannot be served serves the others, and says so in a condition and an Event', async () => {
    const lab = new Lab();
    await lab.start();
    const hosts = [
      { ip: '10.0.0.999', hostnames: ['a'] },
      { ip: '10.0.0.2', hostnames: ['b'] },
    ];
    const data = await lab.dnsData('hosts', hosts);
    assert.equal(lab.find(ConfigMap, 'hosts').data?.['hosts'], '10.0.0.2 b\n');
    const said = '1 host entry is left out: hosts[0].ip: "10.0.0.999" is not an IP address';
    const [ready, accepted] = data.status?.conditions ?? [];
    assert.deepEqual([ready?.status, ready?.message], ['True', `Setup complete, but ${said}`]);
    assert.deepEqual([accepted?.status, accepted?.severity, accepted?.message], ['False', 'Warning', said]);
    assert.deepEqual(
      lab.all(Event).map(({ reason, type }) => [reason, type]),
      [['HostsLeftOut', 'Warning']],
    );
    await lab.stop();
  });

  it('is served in several ConfigMaps when one would be too large, and in one again when it is not', async () => {
    const lab = new Lab();
    await lab.start();
    const many = Array.from({ length: 40_000 }, (_, i) => ({
      ip: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
      hostnames: [`host-${i}.example.com`],
    }));
    await lab.dnsData('many', many);
    const parts = lab.all(ConfigMap);
    assert.ok(parts.length > 1);
    for (const { data = {} } of parts) assert.ok(JSON.stringify(data).length < 1024 * 1024);
    const lines = parts.flatMap(({ data = {} }) => Object.values(data).flatMap((text) => text.trim().split('\n')));
    assert.equal(new Set(lines).size, 40_000);
    const found = lab.find(DNSData, 'many');
    await lab.world.client.update(DNSData, { ...found, spec: { ...found.spec, hosts: many.slice(0, 10) } });
    await lab.settle();
    assert.deepEqual(lab.names(ConfigMap), ['many']);
    await lab.stop();
  });

  it('does not overwrite a ConfigMap that is not its own', async () => {
    const lab = new Lab();
    await lab.start();
    const metadata = { name: 'kube-root-ca.crt', namespace: NAMESPACE };
    await lab.world.client.create(ConfigMap, { metadata, data: { 'ca.crt': 'precious' } });
    const data = await lab.dnsData('kube-root-ca.crt', [{ ip: '10.0.0.1', hostnames: ['a'] }]);
    assert.deepEqual(lab.find(ConfigMap, 'kube-root-ca.crt').data, { 'ca.crt': 'precious' });
    assert.equal(
      data.status?.conditions?.[0]?.message,
      'Service config create error occurred ConfigMap kube-root-ca.crt is there already and is not ours: delete it, or choose another name',
    );
    await lab.world.client.delete(ConfigMap, metadata);
    await lab.settle();
    assert.equal(lab.find(DNSData, 'kube-root-ca.crt').status?.conditions?.[0]?.message, 'Setup complete');
    await lab.stop();
  });

  it('follows its selector value', async () => {
    const lab = new Lab();
    await lab.start();
    const found = await lab.dnsData('hosts', []);
    await lab.world.client.update(DNSData, { ...found, spec: { ...found.spec, dnsDataLabelSelectorValue: 'Other' } });
    await lab.settle();
    assert.equal(lab.find(ConfigMap, 'hosts').metadata.labels?.['dnsmasqhosts'], 'other');
    await lab.stop();
  });
});
