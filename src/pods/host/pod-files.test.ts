import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodSpec } from '../../api/core/pod.ts';
import { podWith } from './pod.fixture.ts';
import { hostnameOf, hostsFile, kernelNameOf, resolverFile } from './pod-files.ts';

const dns = { nameservers: ['10.96.0.10'], searches: ['svc.cluster.local', 'cluster.local'], options: ['ndots:5'] };
const OF_HOST = '# by hand\nnameserver 192.0.2.1\nnameserver 192.0.2.2\nsearch example.org\noptions edns0\n';
const resolver = (spec: Partial<PodSpec>, cluster = dns): string[] =>
  resolverFile({ pod: podWith(spec), dns: cluster, ofHost: OF_HOST })
    .trimEnd()
    .split('\n');

describe('resolv.conf of a pod', () => {
  const cluster = [
    'search shop.svc.cluster.local svc.cluster.local cluster.local',
    'nameserver 10.96.0.10',
    'options ndots:5',
  ];
  const host = ['search example.org', 'nameserver 192.0.2.1', 'nameserver 192.0.2.2', 'options edns0'];

  for (const [what, spec, expected] of [
    ['asks the cluster', {}, cluster],
    ['asks the host where the pod shares its network', { hostNetwork: true }, host],
    [
      'asks the cluster all the same when told so',
      { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' },
      cluster,
    ],
    ['is that of the host', { dnsPolicy: 'Default' }, host],
  ] as const) {
    test(what, () => assert.deepEqual(resolver(spec), expected));
  }

  test('is what the pod says', () => {
    const options = [{ name: 'ndots', value: '2' }, { name: 'rotate' }];
    const dnsConfig = { nameservers: ['192.0.2.9'], searches: ['example.net'], options };
    assert.deepEqual(resolver({ dnsPolicy: 'None', dnsConfig }), [
      'search example.net',
      'nameserver 192.0.2.9',
      'options ndots:2 rotate',
    ]);
    assert.deepEqual(resolver({ dnsConfig }).slice(1), [
      'nameserver 10.96.0.10',
      'nameserver 192.0.2.9',
      'options ndots:2 rotate',
    ]);
  });

  test('asks the host when the cluster has nobody to ask', () => {
    assert.deepEqual(resolver({}, { ...dns, nameservers: [] }), host);
  });

  test('asks whom the host asks in the end, where the host itself asks a resolver that no pod reaches', () => {
    const ofHost = 'nameserver 127.0.0.53\noptions edns0\nsearch lan\n';
    const behindHost = 'nameserver 192.0.2.9\nsearch behind\n';
    const file = (spec: Parameters<typeof podWith>[0], behind = behindHost): string =>
      resolverFile({ pod: podWith({ dnsPolicy: 'Default', ...spec }), dns, ofHost, behindHost: behind });
    assert.equal(file({}), 'search behind\nnameserver 192.0.2.9\n');
    assert.match(file({ hostNetwork: true }), /^nameserver 127\.0\.0\.53$/m);
    assert.match(file({}, ''), /^nameserver 127\.0\.0\.53$/m);
  });

  test('has no more name servers than are read', () => {
    const dnsConfig = { nameservers: ['192.0.2.3', '192.0.2.4', '192.0.2.5', '192.0.2.6'] };
    assert.equal(resolver({ dnsConfig }).filter((line) => line.startsWith('nameserver')).length, 3);
  });
});

describe('hosts of a pod', () => {
  test('knows the pod by all its names, and what it wants to have known', () => {
    const hostAliases = [{ ip: '192.0.2.50', hostnames: ['db', 'db.example.org'] }];
    const pod = podWith({ hostname: 'web-0', subdomain: 'web', hostAliases });
    const text = hostsFile({ pod, podIPs: ['10.244.7.3'], hostname: 'web-0', dns, ofHost: '' });
    assert.match(text, /^127\.0\.0\.1\tlocalhost$/m);
    assert.match(text, /^10\.244\.7\.3\tweb-0\.web\.shop\.svc\.cluster\.local\tweb-0$/m);
    assert.match(text, /^192\.0\.2\.50\tdb\tdb\.example\.org$/m);
  });

  test('is that of the host where the pod shares its network', () => {
    const pod = podWith({ hostNetwork: true, hostAliases: [{ ip: '192.0.2.50', hostnames: ['db'] }] });
    const text = hostsFile({ pod, podIPs: [], hostname: 'a', dns, ofHost: '127.0.0.1 localhost\n' });
    assert.equal(text, '127.0.0.1 localhost\n\n# Entries added by HostAliases.\n192.0.2.50\tdb\n');
  });
});

test('a pod is called as it wants, or by its own name, as far as a host can be', () => {
  assert.equal(hostnameOf(podWith({ hostname: 'db' }), 'a'), 'db');
  assert.equal(hostnameOf(podWith(), 'a'), 'web');
  assert.equal(hostnameOf(podWith({ hostNetwork: true }), 'a'), 'a');
  assert.equal(hostnameOf(podWith({}, { name: `${'x'.repeat(62)}-${'y'.repeat(62)}` }), 'a'), 'x'.repeat(62));
});

test('a pod with a subdomain is called by its whole name where it wants that, if the kernel takes it', () => {
  const spec = { subdomain: 'db', setHostnameAsFQDN: true };
  assert.equal(kernelNameOf(podWith(spec), 'a', dns), 'web.db.shop.svc.cluster.local');
  assert.equal(kernelNameOf(podWith({ subdomain: 'db' }), 'a', dns), 'web');
  assert.equal(kernelNameOf(podWith({ setHostnameAsFQDN: true }), 'a', dns), 'web');
  assert.equal(kernelNameOf(podWith({ ...spec, hostNetwork: true }), 'a', dns), 'a');
  assert.throws(
    () => kernelNameOf(podWith({ ...spec, hostname: 'x'.repeat(50) }), 'a', dns),
    /FQDN x+\.db\.shop\.svc\.cluster\.local is too long \(64 characters is the max, 76 characters requested\)/,
  );
});
