import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Deployment } from '../api/apps/workloads.ts';
import { ConfigMap, ServiceAccount } from '../api/core/config.ts';
import { Pod, type PodStatus } from '../api/core/pod.ts';
import { Service } from '../api/core/service.ts';
import { DNSData } from '../api/network.openstack.org/dnsdata.ts';
import { DNSMasq } from '../api/network.openstack.org/dnsmasq.ts';
import type { ApiObject } from '../api/object.ts';
import { Role, RoleBinding } from '../api/rbac.authorization.k8s.io/role.ts';
import { Topology } from '../api/topology.openstack.org/topology.ts';
import { Event } from '../runtime/builtin.ts';
import { Lab, NAMESPACE } from './dns.fixture.ts';

const OPTIONS = [
  { key: 'server' as const, values: ['192.168.122.1'] },
  { key: 'srv-host' as const, values: ['_sip._tcp.example.com', 'sip.example.com', '5060'] },
  { key: 'no-negcache' as const, values: [] },
];

const message = ({ status }: DNSMasq, type: string): string =>
  status?.conditions?.find((condition) => condition.type === type)?.message ?? '';

describe('a DNSMasq', () => {
  it('becomes pods that are told its options, one Service, and a ConfigMap to read them', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.dnsMasq('dns', { options: OPTIONS, replicas: 2 });
    assert.equal(
      lab.find(ConfigMap, 'dns').data?.['dns'],
      'server=192.168.122.1\nsrv-host=_sip._tcp.example.com,sip.example.com,5060\nno-negcache\nlocal=/openstack.svc/\n',
    );
    const { spec } = lab.find(Deployment, 'dnsmasq-dns');
    const [init] = spec.template.spec.initContainers ?? [];
    const told = init?.env?.find(({ name }) => name === 'DNSMASQ_OPTIONS')?.value;
    assert.equal(told, lab.find(ConfigMap, 'dns').data?.['dns']);
    assert.deepEqual([spec.replicas, spec.strategy?.rollingUpdate?.maxUnavailable], [2, 0]);
    const service = lab.find(Service, 'dnsmasq-dns');
    assert.deepEqual(service.spec.selector, spec.selector.matchLabels);
    assert.deepEqual(
      service.spec.ports?.map(({ protocol, port, targetPort }) => [protocol, port, targetPort]),
      [
        ['UDP', 53, 5353],
        ['TCP', 53, 5353],
      ],
    );
    await lab.stop();
  });

  it('leaves local names to an option of its own where there is one, and takes no image for the one of before', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.dnsMasq('dns', { options: [{ key: 'local', values: ['/example.com/'] }], containerImage: '' });
    assert.equal(lab.find(ConfigMap, 'dns').data?.['dns'], 'local=/example.com/\n');
    const [dnsmasq] = lab.find(Deployment, 'dnsmasq-dns').spec.template.spec.containers;
    assert.equal(dnsmasq?.image, 'dnsmasq');
    await lab.stop();
  });

  it('whose options dnsmasq would misread says so, and what runs stays as it is', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.dnsMasq('dns');
    const before = lab.find(Deployment, 'dnsmasq-dns').spec;
    const update = async (options: DNSMasq['spec']['options'] = []): Promise<string> => {
      const found = lab.find(DNSMasq, 'dns');
      await lab.world.client.update(DNSMasq, { ...found, spec: { ...found.spec, options } });
      await lab.settle();
      assert.deepEqual(lab.find(Deployment, 'dnsmasq-dns').spec, before);
      return message(lab.find(DNSMasq, 'dns'), 'ServiceConfigReady');
    };
    const long = { key: 'txt-record' as const, values: ['text.example.com', 'é'.repeat(500)] };
    assert.equal(
      await update([{ key: 'no-negcache', values: [] }, long]),
      'Service config create error occurred spec.options[1]: it is 1028 bytes long as a line of a configuration file, and dnsmasq reads 1023 at most: divide it into several options of the key txt-record',
    );
    const many = Array.from({ length: 200 }, () => ({ ...long, values: ['text.example.com', 'a'.repeat(900)] }));
    assert.match(await update(many), /spec\.options: they are 185822 bytes long together/);
    await lab.stop();
  });

  it('in the form of 2023 has a LoadBalancer Service for each external endpoint', async () => {
    const lab = new Lab();
    await lab.start();
    const endpoint = {
      ipAddressPool: 'ctlplane',
      loadBalancerIPs: ['192.168.122.80'],
      sharedIP: true,
      sharedIPKey: '',
    };
    await lab.dnsMasq('dns', {
      externalEndpoints: [endpoint, { ...endpoint, ipAddressPool: 'other', sharedIP: false }],
    });
    assert.deepEqual(lab.names(Service), ['dnsmasq-dns-ctlplane', 'dnsmasq-dns-other']);
    const [one] = lab.all(Service);
    assert.equal(one?.spec.type, 'LoadBalancer');
    assert.deepEqual(one?.metadata.annotations, {
      'core.openstack.org/ingress_create': 'false',
      'metallb.universe.tf/address-pool': 'ctlplane',
      'metallb.universe.tf/loadBalancerIPs': '192.168.122.80',
      'metallb.universe.tf/allow-shared-ip': 'ctlplane',
    });
    assert.match(
      message(lab.find(DNSMasq, 'dns'), 'CreateServiceReady'),
      /dnsmasq-dns-ctlplane LoadBalancer IP still pending$/,
    );
    // An endpoint that goes takes its Service along.
    const found = lab.find(DNSMasq, 'dns');
    await lab.world.client.update(DNSMasq, { ...found, spec: { ...found.spec, externalEndpoints: [endpoint] } });
    await lab.settle();
    assert.deepEqual(lab.names(Service), ['dnsmasq-dns-ctlplane']);
    await lab.stop();
  });

  it('has a Service for each of several endpoints of one pool', async () => {
    const lab = new Lab();
    await lab.start();
    const [one = '', two = ''] = ['192.168.122.80', '192.168.122.85'];
    const endpoint = { ipAddressPool: 'ctlplane', sharedIP: false, sharedIPKey: '' };
    await lab.dnsMasq('dns', { externalEndpoints: [one, two].map((ip) => ({ ...endpoint, loadBalancerIPs: [ip] })) });
    assert.deepEqual(
      lab
        .all(Service)
        .map(({ metadata }) => [metadata.name, metadata.annotations?.['metallb.universe.tf/loadBalancerIPs']]),
      [
        ['dnsmasq-dns-ctlplane', one],
        ['dnsmasq-dns-ctlplane-2', two],
      ],
    );
    await lab.stop();
  });

  it('asks for every address of an endpoint, under the key by which its Services share them', async () => {
    const lab = new Lab();
    await lab.start();
    const loadBalancerIPs = ['192.168.122.80', 'fd00::80'];
    await lab.dnsMasq('dns', {
      externalEndpoints: [{ ipAddressPool: 'ctlplane', loadBalancerIPs, sharedIP: true, sharedIPKey: 'mine' }],
    });
    const { annotations = {}, labels = {} } = lab.find(Service, 'dnsmasq-dns-ctlplane').metadata;
    assert.equal(annotations['metallb.universe.tf/loadBalancerIPs'], '192.168.122.80,fd00::80');
    assert.equal(annotations['metallb.universe.tf/allow-shared-ip'], 'mine');
    assert.equal(labels['service'], 'dnsmasq');
    await lab.stop();
  });

  it('in both forms is what the newer one says, and the former Services go', async () => {
    const lab = new Lab();
    await lab.start();
    const endpoint = { ipAddressPool: 'ctlplane', loadBalancerIPs: [], sharedIP: true, sharedIPKey: '' };
    const found = await lab.dnsMasq('dns', { externalEndpoints: [endpoint] });
    assert.deepEqual(lab.names(Service), ['dnsmasq-dns-ctlplane']);
    const metadata = { labels: { service: 'mine' }, annotations: { 'core.openstack.org/ingress_create': 'true' } };
    const override = { service: { metadata } };
    await lab.world.client.update(DNSMasq, { ...found, spec: { ...found.spec, override } });
    await lab.settle();
    assert.deepEqual(lab.names(Service), ['dnsmasq-dns']);
    const made = lab.find(Service, 'dnsmasq-dns').metadata;
    assert.equal(made.labels?.['service'], 'mine');
    assert.deepEqual(made.annotations, metadata.annotations);
    await lab.stop();
  });

  it('in the newer form lays its override over the Service, and says where it answers', async () => {
    const lab = new Lab();
    await lab.start();
    const annotations = { 'metallb.io/address-pool': 'ctlplane' };
    const override = { service: { metadata: { annotations }, spec: { type: 'LoadBalancer' as const } } };
    await lab.dnsMasq('dns', { override });
    const service = lab.find(Service, 'dnsmasq-dns');
    assert.equal(service.spec.type, 'LoadBalancer');
    assert.equal(service.metadata.annotations?.['metallb.io/address-pool'], 'ctlplane');
    const ingress = [{ ip: '192.168.122.80' }];
    await lab.world.client.patch(
      Service,
      { namespace: NAMESPACE, name: 'dnsmasq-dns' },
      { merge: { status: { loadBalancer: { ingress } } } },
      'status',
    );
    await lab.settle();
    assert.deepEqual(lab.find(DNSMasq, 'dns').status?.dnsAddresses, ['192.168.122.80']);
    await lab.stop();
  });

  it('says where it answers in the order of its endpoints, whichever of them was there first', async () => {
    const lab = new Lab();
    await lab.start();
    const endpoint = (ipAddressPool: string) => ({
      ...{ ipAddressPool, loadBalancerIPs: [], sharedIP: true, sharedIPKey: '' },
    });
    const found = await lab.dnsMasq('dns', { externalEndpoints: [endpoint('b')] });
    const externalEndpoints = [endpoint('a'), endpoint('b')];
    await lab.world.client.update(DNSMasq, { ...found, spec: { ...found.spec, externalEndpoints } });
    await lab.settle();
    for (const [pool, ip] of [
      ['b', '192.168.122.80'],
      ['a', '172.17.0.80'],
    ] as const) {
      const ref = { namespace: NAMESPACE, name: `dnsmasq-dns-${pool}` };
      const status = { loadBalancer: { ingress: [{ ip }] } };
      await lab.world.client.patch(Service, ref, { merge: { status } }, 'status');
    }
    await lab.settle();
    assert.deepEqual(lab.find(DNSMasq, 'dns').status?.dnsAddresses, ['172.17.0.80', '192.168.122.80']);
    await lab.stop();
  });

  it('says of each thing that its pods need whether it is there', async () => {
    const lab = new Lab();
    await lab.start();
    const { status } = await lab.dnsMasq('dns');
    assert.deepEqual(
      status?.conditions?.map(({ type, status: is, message: said }) => `${type} ${is}: ${said}`),
      [
        'Ready False: Deployment in progress',
        'CreateServiceReady True: Create service completed',
        'DeploymentReady False: Deployment in progress',
        'HostsAccepted True: All hosts are served',
        'InputReady True: Input data complete',
        'RoleBindingReady True: RoleBinding created',
        'RoleReady True: Role created',
        'ServiceAccountReady True: ServiceAccount created',
        'ServiceConfigReady True: Service config create completed',
      ],
    );
    await lab.stop();
  });

  it('takes nothing from somebody who has a name that it needs, and goes on when that has gone', async () => {
    const lab = new Lab();
    await lab.start();
    const ref = { namespace: NAMESPACE, name: 'dnsmasq-dns' };
    const spec = {
      ...{ replicas: 7, selector: { matchLabels: { app: 'theirs' } } },
      template: { metadata: { labels: { app: 'theirs' } }, spec: { containers: [] } },
    };
    await lab.world.client.create(Deployment, { metadata: ref, spec });
    await lab.world.client.create(ConfigMap, { metadata: { ...ref, name: 'dns' }, data: { precious: 'yes' } });
    await lab.dnsMasq('dns');
    for (const [kind, name] of [
      [ConfigMap, 'dns'],
      [Deployment, 'dnsmasq-dns'],
    ] as const) {
      assert.equal(
        message(lab.find(DNSMasq, 'dns'), 'ServiceConfigReady'),
        `Service config create error occurred ${kind.kind} ${name} is there already and is not ours: delete it, or choose another name`,
      );
      await lab.world.client.delete(kind, { ...ref, name });
      await lab.settle();
    }
    assert.equal(message(lab.find(DNSMasq, 'dns'), 'ServiceConfigReady'), 'Service config create completed');
    assert.equal(lab.find(Deployment, 'dnsmasq-dns').spec.replicas, 1);
    await lab.stop();
  });

  it('has its pods where the Topology says that it refers to, and leaves them there when that is gone', async () => {
    const lab = new Lab();
    await lab.start();
    const placed = () => lab.find(Deployment, 'dnsmasq-dns').spec.template.spec;
    const topologyReady = () => message(lab.find(DNSMasq, 'dns'), 'TopologyReady');
    await lab.dnsMasq('dns', { topologyRef: { name: 'zones' } });
    const missing =
      'Topology config create error occurred there is no Topology zones in this namespace: create it, or change spec.topologyRef';
    assert.deepEqual([topologyReady(), lab.all(Deployment)], [missing, []]);
    const metadata = { name: 'zones', namespace: NAMESPACE };
    const zone = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' as const };
    const affinity = { podAntiAffinity: {} };
    await lab.world.client.create(Topology, { metadata, spec: { topologySpreadConstraints: [zone], affinity } });
    await lab.settle();
    const { matchLabels } = lab.find(Deployment, 'dnsmasq-dns').spec.selector;
    assert.deepEqual(placed().topologySpreadConstraints, [
      { ...zone, labelSelector: { matchLabels }, matchLabelKeys: ['pod-template-hash'] },
    ]);
    assert.deepEqual(placed().affinity, affinity);
    assert.equal(topologyReady(), 'Topology config create completed');
    assert.deepEqual(lab.find(DNSMasq, 'dns').status?.lastAppliedTopology, metadata);

    await lab.world.client.delete(Topology, metadata);
    await lab.settle();
    assert.deepEqual([topologyReady(), placed().affinity], [missing, affinity]);
    const found = lab.find(DNSMasq, 'dns');
    assert.deepEqual(found.status?.lastAppliedTopology, metadata);
    const { topologyRef: _, ...spec } = found.spec;
    await lab.world.client.update(DNSMasq, { ...found, spec });
    await lab.settle();
    assert.deepEqual(
      [placed().topologySpreadConstraints?.[0]?.topologyKey, placed().affinity],
      ['kubernetes.io/hostname', undefined],
    );
    const after = lab.find(DNSMasq, 'dns').status;
    assert.deepEqual([topologyReady(), after?.lastAppliedTopology], ['', undefined]);
    await lab.stop();
  });

  it('that is made again before everything of the former one is gone has all that it needs', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.dnsMasq('dns');
    await lab.world.client.delete(DNSMasq, { namespace: NAMESPACE, name: 'dns' });
    await lab.settle();
    const { metadata } = await lab.dnsMasq('dns', { replicas: 2 });
    lab.world.api.collectGarbage();
    await lab.settle();
    for (const kind of [ServiceAccount, Role, RoleBinding, Service, Deployment, DNSData] as const) {
      const owners = lab.all<ApiObject>(kind).flatMap((each) => each.metadata.ownerReferences?.map(({ uid }) => uid));
      assert.deepEqual([kind.kind, ...owners], [kind.kind, metadata.uid]);
    }
    assert.equal(lab.find(ConfigMap, 'dns').metadata.ownerReferences?.[0]?.uid, metadata.uid);
    assert.equal(lab.find(Deployment, 'dnsmasq-dns').spec.replicas, 2);
    await lab.stop();
  });

  it('changes its pods for options, never for hosts', async () => {
    const lab = new Lab();
    await lab.start();
    const before = await lab.dnsMasq('dns');
    const { generation } = lab.find(Deployment, 'dnsmasq-dns').metadata;
    await lab.dnsData('hosts', [{ ip: '10.0.0.1', hostnames: ['a.example.com'] }]);
    const after = lab.find(DNSMasq, 'dns');
    assert.notEqual(after.status?.hash?.['input'], before.status?.hash?.['input']);
    assert.equal(lab.find(Deployment, 'dnsmasq-dns').metadata.generation, generation);
    await lab.world.client.update(DNSMasq, { ...after, spec: { ...after.spec, options: OPTIONS } });
    await lab.settle();
    assert.ok((lab.find(Deployment, 'dnsmasq-dns').metadata.generation ?? 0) > (generation ?? 0));
    await lab.stop();
  });

  it('whose options dnsmasq refuses says it in the words of dnsmasq', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.dnsMasq('dns');
    const metadata = {
      name: 'dnsmasq-dns-1',
      namespace: NAMESPACE,
      labels: { service: 'dnsmasq', 'dnsmasq.openstack.org/name': 'dns' },
    };
    await lab.world.client.create(Pod, { metadata, spec: { containers: [] } });
    const terminated = { exitCode: 1, message: '\ndnsmasq: bad command line options: bad CNAME\n' };
    const init = { name: 'init', image: '', imageID: '', ready: false, restartCount: 1, lastState: { terminated } };
    const status: PodStatus = { phase: 'Pending', initContainerStatuses: [init] };
    await lab.world.client.patch(
      Pod,
      { namespace: NAMESPACE, name: 'dnsmasq-dns-1' },
      { merge: { status: { ...status } } } as never,
      'status',
    );
    await lab.settle();
    const said =
      'Deployment error occurred dnsmasq does not take the options: dnsmasq: bad command line options: bad CNAME';
    assert.equal(message(lab.find(DNSMasq, 'dns'), 'Ready'), said);
    assert.ok(lab.all(Event).some((event) => event.message === said));
    await lab.stop();
  });

  it('names what it leaves out of a ConfigMap that somebody wrote, and is ready all the same', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.dnsMasq('dns');
    const metadata = { name: 'mine', namespace: NAMESPACE, labels: { dnsmasqhosts: 'dnsdata' } };
    const binaryData = { bytes: Buffer.from('10.0.0.2 \\\n').toString('base64') };
    await lab.world.client.create(ConfigMap, { metadata, data: { mine: '10.0.0.1 a\nnonsense b\n' }, binaryData });
    await lab.settle();
    assert.equal(
      message(lab.find(DNSMasq, 'dns'), 'HostsAccepted'),
      '2 host entries are left out: ConfigMap mine, mine, line 2: "nonsense" is not an IP address; ConfigMap mine, bytes, line 1: "\\\\" is no host name: its parts consist of letters, digits, - and _, and neither begin nor end with -',
    );
    await lab.stop();
  });
});
