import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Json, JsonObject } from '../../src/api/json.ts';
import { allKinds } from '../../src/api/kinds.ts';
import { Prefix } from '../../src/api/prefix.ts';
import type { AddressOptions } from '../../src/cli/server/address-options.ts';
import { startControllers } from '../../src/cli/server/controllers.ts';
import { LEASE } from '../../src/cli/server/controllers-lease.ts';
import { controllersRights } from '../../src/cli/server/controllers-rights.ts';
import { dnsAdmission } from '../../src/dns/index.ts';
import { ipamAdmission } from '../../src/ipam/index.ts';
import { FINALIZER } from '../../src/ledger/block-writer.ts';
import { FakeHost } from '../../src/pods/host.fixture.ts';
import { podsAdmission } from '../../src/pods/index.ts';
import { Client } from '../../src/runtime/client.ts';
import { HttpTransport } from '../../src/runtime/http-transport.ts';
import { readKubeconfig } from '../../src/runtime/kubeconfig.ts';
import { Leadership } from '../../src/runtime/leader.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { system } from '../../src/runtime/system.ts';
import type { ApiRequest } from '../../src/runtime/transport.ts';
import { vipsAdmission } from '../../src/vips/index.ts';
import { at, EngineInTest, eventually } from '../engine/engine-in-test.ts';
import { kubectlFor } from '../kubectl/kubectl.ts';
import { WitnessedAccess } from './witnessed-access.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOON = 60_000;
const podCidr = Prefix.parse('10.244.0.0/16');

/** With a cool-down, so that a namespace that goes as a whole has something to wait for. */
const addresses: AddressOptions = { poolsOf: 'netloom', loadBalancerClass: '', coolDown: 600_000, nearlyFull: 0.8 };

const podsOf = (app: string, image = 'none') => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'main', image }] },
});

const workload = (kind: 'Deployment' | 'StatefulSet', name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name },
  spec: {
    replicas: 2,
    revisionHistoryLimit: 0,
    selector: { matchLabels: { app: name } },
    template: podsOf(name),
    ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
    ...more,
  },
});

const isEmpty = (list: Json | undefined): boolean => Array.isArray(list) && list.length === 0;

const reservation = (name: string, address: string): JsonObject => ({
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'Reservation',
  metadata: { name },
  spec: { ipSetRef: {}, reservation: { InternalApi: { network: 'InternalApi', subnet: 'subnet1', address } } },
});

const ipSet = (name: string, ...networks: string[]): JsonObject => ({
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'IPSet',
  metadata: { name },
  spec: { networks: networks.map((each) => ({ name: each, subnetName: 'subnet1' })) },
});

describe('the controllers, with the rights of their account alone', () => {
  let engine: EngineInTest;
  let access: WitnessedAccess | undefined;
  let transport: HttpTransport;
  let kubectl: Awaited<ReturnType<typeof kubectlFor>>;
  const hosts = new Map<string, FakeHost>();
  const metalLbComes = new AbortController();
  const stopped = new AbortController();
  let leading: Promise<void>;

  /** Runs what must succeed, as an administrator. Once the controllers are refused something there is nothing to wait for. */
  const ok = async (words: string, input?: JsonObject): Promise<string> => {
    const args = words.replaceAll(/(?<= )(examples|deploy)\//g, `${ROOT}$1/`).split(' ');
    const running = kubectl(args, input === undefined ? {} : { input: JSON.stringify(input) });
    const { code, stdout, stderr } = await Promise.race([running, ...(access ? [access.whileNothingIsRefused] : [])]);
    assert.equal(code, 0, `kubectl ${words} → ${code}: ${stderr}${stdout}`);
    return stdout;
  };
  const apply = (...objects: JsonObject[]): Promise<string> =>
    ok('apply -f -', { apiVersion: 'v1', kind: 'List', items: objects as Json[] });

  /** Waits until what kubectl prints is as expected. */
  const becomes = (words: string, expected: RegExp): Promise<string> =>
    eventually(
      () => ok(words),
      (printed) => expected.test(printed),
      SOON,
    );
  const disturbed = new Set<string>();
  /** Somebody else changes an object in the moment in which it would be let go, once: it has to be looked at again. */
  const disturb = async ({ method, path, body }: ApiRequest): Promise<void> => {
    const [object = ''] = path.split('?');
    if (method !== 'PATCH' || !isEmpty(at(body, 'metadata.finalizers')) || disturbed.has(object)) return;
    disturbed.add(object);
    await engine.patch(object, 'merge', { metadata: { annotations: { 'test/disturbed': 'true' } } });
  };
  const addHost = (name: string): void => {
    const host = new FakeHost({ transport: engine.transport, system, log: silentLog, name });
    hosts.set(name, host);
    host.start();
  };

  before(async () => {
    assert.ok(podCidr);
    const admission = [
      ...ipamAdmission,
      ...vipsAdmission(),
      ...dnsAdmission,
      ...podsAdmission({ evictAfterSeconds: 1 }),
    ];
    engine = await EngineInTest.start({ kinds: allKinds, admission });
    const kubeconfig = join(engine.directory, 'kubeconfig');
    kubectl = await kubectlFor({ kubeconfig });
    await ok('apply -f deploy/roles/');
    const token = (await ok('create token netloom-controllers -n netloom-system')).trim();
    const { server, ca = '' } = await readKubeconfig(kubeconfig);
    transport = new HttpTransport({ connection: { server, ca, token, insecure: false, namespace: 'default' }, system });
    access = new WitnessedAccess({ inner: transport, rights: controllersRights, before: disturb });
    const { promise: isAtWork, resolve } = Promise.withResolvers<void>();
    const leadership = new Leadership({
      client: new Client({ transport: access, fieldManager: 'netloom' }),
      lease: LEASE,
      identity: 'test',
      system,
      log: silentLog,
    });
    const workloads = { pods: { podCidrs: [podCidr] }, services: true };
    const common = { transport: access, log: silentLog };
    leading = leadership.run(async (signal) => {
      for (const [poolsOf, end] of [
        ['netloom', metalLbComes.signal],
        ['metallb', signal],
      ] as const) {
        const options = { ...common, metrics: new Metrics(), addresses: { ...addresses, poolsOf }, workloads };
        const controllers = await startControllers(options);
        resolve();
        const ends = AbortSignal.any([end, signal]);
        if (!ends.aborted) await new Promise((over) => ends.addEventListener('abort', over, { once: true }));
        await controllers.stop();
      }
    }, stopped.signal);
    await Promise.race([isAtWork, leading, access.whileNothingIsRefused]);
    for (const name of ['a', 'b']) addHost(name);
  });
  after(async () => {
    await Promise.all([...hosts.values()].map((host) => host.stop()));
    stopped.abort();
    await leading;
    transport.close();
    await engine.stop();
  });

  test('give addresses to hosts and take them back', async () => {
    await ok('apply -f examples/ipam/ -f examples/claims/');
    await ok('wait --for=condition=Ready ipset/edpm-compute-0 --timeout=60s');
    await ok('wait --for=condition=Ready addressclaims --all -n claims --timeout=60s');
    await becomes('get netconfig netconfig -o jsonpath={.status}', /conditions/);
    // One that is deleted though it is needed is written anew, and one that has no IPSet is on record all the same.
    await ok('delete reservation edpm-compute-0 --timeout=60s');
    await becomes('get reservation edpm-compute-0 -o jsonpath={.spec.reservation}', /192\.168\.122\.100/);
    await apply(reservation('lonely', '172.17.0.200'));
    await becomes('get addressblocks -o jsonpath={.items[*].spec.holdings}', /172\.17\.0\.200/);
    await ok('delete reservation lonely --timeout=60s');

    const reserved = 'get reservation changing -o jsonpath={.spec.reservation}';
    await apply(ipSet('changing', 'CtlPlane'));
    await becomes(reserved, /192\.168\.122/);
    await apply(ipSet('changing', 'CtlPlane', 'Tenant'));
    await becomes(reserved, /172\.20\.0/);
    await ok('delete ipset changing --timeout=60s');

    await ok('delete addressclaim backup -n claims --timeout=60s');
  });

  test('give addresses to Services', async () => {
    await ok('apply -f examples/pools/');
    await becomes('get service glance-internal -o jsonpath={.status}', /172\.17\.0\.80/);
    // Both have the same address until one of them says that it shares it with nobody.
    await ok('annotate service keystone-internal metallb.io/allow-shared-ip-');
    await becomes('get service keystone-internal -o jsonpath={.status}', /^(?!.*172\.17\.0\.80)/);
    await ok('delete service glance-internal');
  });

  test('run the servers of names', async () => {
    await ok('apply -f examples/dns/');
    await ok('wait --for=condition=Ready dnsmasq/dns dnsdata/somehosts --timeout=60s');
    await becomes('get dnsdata -o name', /dns-svc/);
    await ok('patch dnsmasq dns --type=merge -p {"spec":{"externalEndpoints":null}}');
    const uid = await ok('get dnsdata somehosts -o jsonpath={.metadata.uid}');
    const [apiVersion, kind] = ['network.openstack.org/v1beta1', 'DNSData'];
    const owner = { apiVersion, kind, name: 'somehosts', uid, controller: true };
    await apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'surplus', ownerReferences: [owner] } });
    await becomes('get configmaps -o name', /^(?!.*surplus)/s);
    await ok('delete dnsdata somehosts --timeout=60s');
    await ok('delete ipset edpm-compute-0 --timeout=60s');
    await becomes('get dnsdata -o name', /^(?!.*ipset)/s);
    await ok('delete dnsmasq dns --timeout=60s');
    await becomes('get deployments,services,roles -o name', /^(?!.*dnsmasq)/s);
  });

  test('roll out Deployments', async () => {
    await apply(workload('Deployment', 'web'), {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    await ok('rollout status deployment/web --timeout=60s');
    await becomes('get pdb web -o jsonpath={.status.disruptionsAllowed}', /^1$/);
    await ok('set image deployment/web main=other');
    await ok('rollout status deployment/web --timeout=60s');
    await becomes('get replicasets -o name', /^replicaset\S+\s*$/);
    await ok('delete deployment web --cascade=orphan');
    await apply(workload('Deployment', 'web', { template: podsOf('web', 'other') }));
    await ok('scale deployment web --replicas=1');
    await ok('rollout status deployment/web --timeout=60s');
    // Of two of a name the one that comes later takes another name.
    await ok('delete deployment web --cascade=orphan');
    await ok('label replicasets -l app=web app-');
    await apply(workload('Deployment', 'web', { template: podsOf('web', 'other') }));
    await ok('rollout status deployment/web --timeout=60s');
  });

  test('run StatefulSets', async () => {
    await apply(workload('StatefulSet', 'db', { revisionHistoryLimit: 1 }));
    await ok('rollout status statefulset/db --timeout=60s');
    for (const image of ['second', 'none', 'third', 'fourth']) {
      await ok(`set image statefulset/db main=${image}`);
      await ok('rollout status statefulset/db --timeout=60s');
    }
    await ok('delete statefulset db --cascade=orphan');
    await apply(workload('StatefulSet', 'db', { template: podsOf('db', 'fourth') }));
    await ok('rollout status statefulset/db --timeout=60s');
    // Somebody else has the name of the next pod.
    const { spec } = podsOf('stranger');
    await apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'db-2' }, spec });
    await ok('scale statefulset db --replicas=3');
    await becomes('get events -o jsonpath={.items[*].message}', /create Pod db-2 in StatefulSet db failed/);
    await ok('scale statefulset db --replicas=1');
  });

  test('say where Services lead to', async () => {
    const service = (name: string, spec: JsonObject): JsonObject => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { ports: [{ port: 80 }], ...spec },
    });
    const byHand = (...ports: number[]): JsonObject => ({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'by-hand' },
      subsets: ports.map((port) => ({ addresses: [{ ip: '10.9.9.9' }], ports: [{ name: `p${port}`, port }] })),
    });
    await apply(service('web', { selector: { app: 'web' } }), service('by-hand', {}), byHand(80, 81));
    await becomes('get endpoints web -o jsonpath={.subsets}', /10\.244/);
    await becomes('get endpointslices -o jsonpath={.items[*].endpoints}', /10\.9\.9\.9.*10\.9\.9\.9/);
    await ok('scale deployment web --replicas=2');
    await ok('rollout status deployment/web --timeout=60s');
    await apply(byHand(80));
    await becomes('get endpointslices -o jsonpath={.items[*].endpoints}', /^(?!.*10\.9\.9\.9.*10\.9\.9\.9)/s);
    await ok('delete service web by-hand');
    await becomes('get endpoints -o name', /^(?!.*(web|by-hand))/s);
  });

  test('see to pods whose host is lost', async () => {
    await ok('scale deployment web --replicas=4');
    await becomes('get pods -o jsonpath={.items[*].spec.nodeName}', /b/);
    await hosts.get('b')?.stop();
    await becomes('get node b -o jsonpath={.spec.taints}', /NoExecute/);
    await becomes('get pods -o jsonpath={.items[*].metadata.deletionTimestamp}', /\d/);
    await ok('delete node b');
    await becomes('get addressblocks -A -o jsonpath={.items[*].spec.holdings[*].holder}', /^(?!.*"name":"b")/s);
  });

  test('let a namespace go as a whole', async () => {
    await ok('delete namespace claims --timeout=60s');
    await ok('create namespace whole');
    await ok('apply -n whole -f examples/ipam/');
    await ok('wait -n whole --for=condition=Ready ipset/edpm-compute-0 --timeout=60s');
    // A block that says nothing, and was not let go by whoever said something last.
    const metadata = { name: 'underlay-10.7.7.0-24', finalizers: [FINALIZER] };
    const spec = { space: 'underlay', prefix: '10.7.7.0/24', holdings: [] };
    await ok('create -n whole -f -', { apiVersion: 'netloom.io/v1alpha1', kind: 'AddressBlock', metadata, spec });
    await ok('delete namespace whole --timeout=60s');
  });

  test('read what MetalLB gives', async () => {
    await becomes('get ipaddresspools -n metallb-system -o jsonpath={.items[*].metadata.finalizers}', /netloom/);
    metalLbComes.abort();
    await becomes(
      'get ipaddresspools -n metallb-system -o jsonpath={.items[*].metadata.finalizers}',
      /^(?!.*netloom)/s,
    );
  });

  test('are refused nothing, and have no right that all this did not need', async () => {
    await ok('version');
    // That one is held to be handed out, to the helper beside each dnsmasq: without it nobody may make the role of that.
    assert.deepEqual(access?.unused, ['get configmaps']);
  });
});
