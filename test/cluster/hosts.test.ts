import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../engine/engine-in-test.ts';
import { ClusterInTest } from './cluster-in-test.ts';

const LAB = `k${process.pid}`;
const [ALPHA, BETA] = [`${LAB}-a`, `${LAB}-b`];
const DOCUMENT = `
lab: ${LAB}
switches:
  rack: { subnet: 192.168.122.0/24 }
hosts:
  ${ALPHA}: { links: { eth0: rack } }
  ${BETA}: { links: { eth0: rack } }
`;
const GREETING = /^Hello from a pod that is nothing but a process of its host\.$/m;
const FETCH = 'import urllib.request as u, sys; print(u.urlopen(sys.argv[1], timeout=10).read().decode())';

describe('hosts, pods, Services and names on a real kube-apiserver', () => {
  let cluster: ClusterInTest;
  before(async () => {
    cluster = await ClusterInTest.start();
    await cluster.startControllers('--pods', 'on', '--services', 'on');
    await cluster.run('lab up -', DOCUMENT);
  });
  after(async () => {
    await cluster.netloom('lab', 'down', LAB, '--force');
    await cluster.stop();
  });

  const address = (): Promise<string> => cluster.ok('get service web -o jsonpath={.spec.clusterIP}');
  const somePod = async (): Promise<string> => (await cluster.ok('get pods -l app=web -o name')).split('\n')[0] ?? '';

  test('hosts are Nodes that the cluster has given certificates', async () => {
    await cluster.ok(`wait --for=condition=Ready node/${ALPHA} node/${BETA} --timeout=60s`);
    const requests = await cluster.ok('get csr -o jsonpath={.items[*].status.conditions[*].type}');
    assert.deepEqual(new Set(requests.split(' ')), new Set(['Approved']));
  });

  test('an agent may write what is of its own host and nothing else', async () => {
    const agent = `--as=system:node:${ALPHA} --as-group=system:nodes`;
    const { code, stderr } = await cluster.kubectl(`label node ${BETA} ${agent} stolen=yes`);
    assert.equal(code, 1);
    assert.match(stderr, /is not allowed to modify node|cannot (get|patch)/);
  });

  test('a Deployment runs as processes, answers by ClusterIP and by name, and can be looked into', async () => {
    await cluster.ok('apply -f examples/web/');
    await cluster.ok('rollout status deployment/web --timeout=120s');
    const url = `http://${await address()}/`;
    for (const host of [ALPHA, BETA]) {
      const { stdout, stderr } = await cluster.netloom('lab', 'exec', host, '--', 'python3', '-c', FETCH, url);
      assert.match(stdout, GREETING, stderr);
    }
    const pod = await somePod();
    assert.match(await cluster.ok(`exec ${pod} -- cat /etc/hostname`), /^web-/);
    const { stdout, stderr } = await cluster.netloom(
      'exec',
      pod,
      '--',
      'python3',
      '-c',
      FETCH,
      'http://web.default.svc/',
    );
    assert.match(stdout, GREETING, stderr);
    await eventually(
      () => cluster.ok(`logs ${pod}`),
      (text) => text.includes('GET /'),
    );
  });

  test('while the API server is away pods answer, and when it is back nothing was replaced', async () => {
    const pods = () => cluster.ok('get pods -l app=web -o jsonpath={.items[*].metadata.uid}');
    const [before, url] = [await pods(), `http://${await address()}/`];
    await cluster.kubernetes.killServer();
    const { stdout, stderr } = await cluster.netloom('lab', 'exec', ALPHA, '--', 'python3', '-c', FETCH, url);
    await cluster.kubernetes.startServer();
    assert.match(stdout, GREETING, stderr);
    await cluster.ok(`wait --for=condition=Ready node/${ALPHA} node/${BETA} --timeout=120s`);
    await cluster.ok('rollout restart deployment/web');
    await cluster.ok('rollout status deployment/web --timeout=120s');
    assert.notEqual(await pods(), before);
  });

  test('a real dnsmasq answers with the records of the example', async () => {
    await cluster.ok('apply -f examples/dns/');
    await cluster.ok('wait dnsmasq/dns --for=condition=Ready --timeout=120s');
    const script = `
      const resolver = new (require('node:dns').promises.Resolver)();
      resolver.setServers(['192.168.122.80']);
      resolver.resolve4('edpm-compute-0.ctlplane').then(([found]) => console.log(found));`;
    const ask = async (): Promise<string> =>
      (await cluster.netloom('lab', 'exec', BETA, '--', process.execPath, '-e', script)).stdout.trim();
    assert.equal(await eventually(ask, (text) => text !== ''), '192.168.122.100');
  });

  test('when all is as it should be, nobody writes anything but signs of life', async () => {
    const kinds = 'pods,deployments,replicasets,services,endpointslices,dnsmasqs,dnsdata,ipaddresspools,configmaps';
    const versions = (): Promise<string> =>
      cluster.ok(`get ${kinds} -A -o jsonpath={.items[*].metadata.resourceVersion}`);
    const quiet = async (): Promise<boolean> => {
      const before = await versions();
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      return before === (await versions());
    };
    await eventually(quiet, (isQuiet) => isQuiet, 60_000);
  });

  test('a host that is drained gives its pods to the other one', async () => {
    await cluster.ok(`drain ${ALPHA} --ignore-daemonsets --delete-emptydir-data --force --timeout=60s`);
    await cluster.ok('rollout status deployment/web --timeout=120s');
    const hosts = await cluster.ok('get pods -l app=web -o jsonpath={.items[*].spec.nodeName}');
    assert.deepEqual(new Set(hosts.split(' ')), new Set([BETA]));
  });
});
