import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { Service } from '../../src/api/core/service.ts';
import { type Endpoint, EndpointSlice, SERVICE_NAME } from '../../src/api/discovery.k8s.io/endpoint-slice.ts';
import { Prefix } from '../../src/api/prefix.ts';
import { USUAL_RANGES } from '../../src/engine/services/ranges.ts';
import { POD_LINKS, RoutedPodNetwork } from '../../src/pods/host/routed-pod-network.ts';
import { Client } from '../../src/runtime/client.ts';
import { Informers } from '../../src/runtime/informers.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { system } from '../../src/runtime/system.ts';
import { moveIntoOwnNetwork, needsRoot } from '../../src/services/host/own-network.fixture.ts';
import { type ServiceHost, startServiceHost } from '../../src/services/host/service-host.ts';
import { EngineInTest, eventually } from '../engine/engine-in-test.ts';

const NAMESPACE = 'default';
const RESOLVER = '169.254.78.76';
const RESOLVER_6 = 'fd4e:4c00:78:76::1';
/** Of both families: a Service of one is led to as where there is no other. */
const NETWORKS = ['10.96.0.0/16', 'fd00:96::/112'];

/** A pod of this host: a network of its own, with processes in it. */
interface Pod {
  readonly uid: string;
  readonly address: string;
  readonly network: string;
}

describe('Services on a host', needsRoot, () => {
  const network = new RoutedPodNetwork();
  const pods: Pod[] = [];
  const processes: ChildProcess[] = [];
  let engine: EngineInTest;
  let client: Client;
  let informers: Informers;
  let host: ServiceHost;

  before(async () => {
    moveIntoOwnNetwork();
    execFileSync('ip', 'addr add 192.0.2.1/32 dev lo'.split(' '));
    execFileSync('sysctl', ['-qw', 'net.ipv4.ip_forward=1']);
    const networks = NETWORKS.flatMap((text) => Prefix.parse(text) ?? []);
    engine = await EngineInTest.start({ services: { ...USUAL_RANGES, networks } });
    client = new Client({ transport: engine.transport, fieldManager: 'test' });
    informers = new Informers({ client, system, log: silentLog });
    host = begin();
    for (const number of [2, 3]) {
      const uid = `${process.pid.toString(16).padStart(8, '0')}-0000-4000-8000-00000000000${number}`;
      const address = `10.244.0.${number}`;
      const { namespacePath } = await network.attach({ uid, namespace: NAMESPACE, name: `pod-${number}` }, [address]);
      pods.push({ uid, address, network: namespacePath });
    }
  });
  after(async () => {
    for (const child of processes) child.kill('SIGKILL');
    await host.remove();
    await informers.stop();
    for (const { uid } of pods) await network.detach(uid);
    await engine.stop();
  });

  const begin = (more: { atOnce?: boolean } = {}): ServiceHost =>
    startServiceHost({
      ...more,
      ...{ informers, system, log: silentLog, node: 'here' },
      hostAddresses: () => ['192.0.2.1'],
      serviceCidrs: NETWORKS,
      podCidrs: ['10.244.0.0/16'],
      podLinks: POD_LINKS,
      api: { host: '127.0.0.1', port: Number(new URL(engine.engine.url).port) },
      upstream: () => [],
    });

  /** Runs a script of Node.js in a pod, or on the host; resolves with what it prints. */
  async function run(script: string, pod?: Pod): Promise<string> {
    const words = [process.execPath, '--input-type=module', '-e', script];
    const [program = '', ...args] = pod === undefined ? words : ['nsenter', `--net=${pod.network}`, ...words];
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    processes.push(child);
    return (await text(child.stdout)).trim();
  }

  /** Answers in a pod with who it is, for as long as the test runs. */
  async function answer(pod: Pod): Promise<void> {
    const script = `
      import { createServer } from 'node:net';
      const server = createServer((socket) => {
        socket.on('error', () => {});
        socket.write('${pod.address} ' + socket.remoteAddress.replace('::ffff:', '') + '\\n');
        socket.pipe(socket);
      });
      server.listen(8080, () => console.log('ready'));`;
    const words = [`--net=${pod.network}`, process.execPath, '--input-type=module', '-e', script];
    const child = spawn('nsenter', words, { stdio: ['ignore', 'pipe', 'inherit'] });
    processes.push(child);
    await once(child.stdout, 'data');
  }

  /** Who answers, and whom it takes us for. */
  const greet = (address: string, port: number, pod?: Pod): Promise<string> =>
    run(
      `import { connect } from 'node:net';
       const socket = connect(${port}, '${address}');
       socket.on('error', (error) => console.log(error.code));
       socket.once('data', (data) => { console.log(String(data)); socket.destroy(); });`,
      pod,
    );

  async function publish(endpoints: readonly Pod[]): Promise<void> {
    const metadata = { name: 'web-1', namespace: NAMESPACE, labels: { [SERVICE_NAME]: 'web' } };
    await client.apply(
      EndpointSlice,
      {
        metadata,
        addressType: 'IPv4',
        ports: [{ name: '', port: 8080 }],
        endpoints: endpoints.map(
          ({ address }): Endpoint => ({ addresses: [address], nodeName: 'here', conditions: { ready: true } }),
        ),
      },
      { force: true },
    );
  }

  const tables = (): string => execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' });
  const links = (): string => execFileSync('ip', ['-br', 'link'], { encoding: 'utf8' });

  it('leaves the host alone as long as there is nothing to do', async () => {
    await informers.of(Service).whenSynced();
    assert.equal(informers.of(Service).cache.size, 1, 'the Service of the API is there');
    assert.doesNotMatch(tables(), /netloom-services/);
    assert.doesNotMatch(links(), /nl-services/);
  });

  it('has done everything when it is settled, also where it begins before there is something to do', async () => {
    await host.settled();
    assert.doesNotMatch(tables(), /netloom-services/);
    await host.stop();
    host = begin({ atOnce: true });
    await host.settled();
    assert.match(tables(), /netloom-services/);
    assert.match(links(), /nl-services/);
    const script = `
      import { Resolver } from 'node:dns/promises';
      const resolver = new Resolver({ timeout: 2000, tries: 1 });
      resolver.setServers(['${RESOLVER}']);
      console.log(await resolver.resolve4('kubernetes.default.svc.cluster.local'));`;
    assert.equal(await run(script), "[ '10.96.0.1' ]");
    await host.remove();
    host = begin();
  });

  it('leads pods and processes of the host to a Service, and a pod to itself', async () => {
    const [one, two] = pods;
    assert.ok(one && two);
    await Promise.all(pods.map(answer));
    await client.create(Service, {
      metadata: { name: 'web', namespace: NAMESPACE },
      spec: { clusterIP: '10.96.0.80', ports: [{ port: 80, targetPort: 8080, nodePort: 30_080 }], type: 'NodePort' },
    });
    await publish([one]);
    await eventually(
      () => greet('10.96.0.80', 80),
      (said) => said.startsWith(one.address),
    );
    assert.equal(await greet('10.96.0.80', 80), `${one.address} 192.0.2.1`);
    assert.equal(await greet('10.96.0.80', 80, two), `${one.address} ${two.address}`);
    assert.equal(await greet('10.96.0.80', 80, one), `${one.address} 192.0.2.1`);
    assert.equal(await greet('192.0.2.1', 30_080, two), `${one.address} 192.0.2.1`);
    assert.equal(await greet('10.96.0.81', 80, two), 'ECONNREFUSED');
  });

  it('answers names of Services to pods', async () => {
    const { nameservers, searches, options } = host.dns();
    assert.deepEqual(
      [nameservers, options],
      [
        [RESOLVER, RESOLVER_6],
        ['ndots:5', 'timeout:1', 'attempts:5'],
      ],
    );
    assert.deepEqual(searches, ['svc.cluster.local', 'cluster.local']);
    const script = `
      import { Resolver } from 'node:dns/promises';
      const resolver = new Resolver({ timeout: 2000 });
      resolver.setServers(['${RESOLVER}']);
      console.log(await resolver.resolve4('web.default.svc.cluster.local'));`;
    assert.equal(await run(script, pods[1]), "[ '10.96.0.80' ]");
  });

  it('lets pods reach the API, wherever that listens', async () => {
    const script = `
      import { get } from 'node:https';
      get({ host: '10.96.0.1', path: '/version', rejectUnauthorized: false }, (answer) =>
        answer.on('data', (data) => console.log(JSON.parse(data).minor)));`;
    assert.equal(await run(script, pods[0]), '33');
  });

  it('lets connections go on to a pod that takes no new ones, and while the agent is replaced', async () => {
    const [one, two] = pods;
    assert.ok(one && two);
    const socket = connect(80, '10.96.0.80');
    const [greeting] = await once(socket, 'data');
    assert.match(String(greeting), /^10\.244\.0\.2 /);
    await publish([two]);
    await eventually(
      () => greet('10.96.0.80', 80),
      (said) => said.startsWith(two.address),
    );
    socket.write('still there?');
    assert.equal(String((await once(socket, 'data'))[0]), 'still there?');
    await host.stop();
    assert.match(await greet('10.96.0.80', 80), /^10\.244\.0\.3 /);
    socket.write('and now?');
    assert.equal(String((await once(socket, 'data'))[0]), 'and now?');
    socket.destroy();
    host = begin();
    await eventually(
      () =>
        run(
          `import { connect } from 'node:net'; connect(53, '${RESOLVER}').on('connect', () => { console.log('there'); process.exit() }).on('error', () => process.exit())`,
        ),
      (said) => said === 'there',
    );
  });

  it('is back soon after somebody swept the whole firewall away, or removed its link', async () => {
    const answered = (): Promise<string> => greet('10.96.0.80', 80, pods[0]);
    const socket = connect(80, '10.96.0.80');
    await once(socket, 'data');
    execFileSync('nft', ['flush', 'ruleset']);
    await eventually(answered, (said) => said.startsWith('10.244.0.3'));
    execFileSync('nft', ['delete', 'chain', 'inet', 'netloom-services', 'postrouting']);
    const ruleset = async (): Promise<string> => execFileSync('nft', ['list', 'ruleset'], { encoding: 'utf8' });
    await eventually(ruleset, (listed) => listed.includes('postrouting'));
    execFileSync('ip', ['link', 'delete', 'nl-services']);
    await eventually(answered, (said) => said.startsWith('10.244.0.3'));
    await eventually(
      () =>
        run(
          `import { Resolver } from 'node:dns/promises';
        const resolver = new Resolver({ timeout: 1000, tries: 1 });
        resolver.setServers(['${RESOLVER}']);
        console.log(await resolver.resolve4('web.default.svc.cluster.local').catch((error) => error.code));`,
          pods[1],
        ),
      (said) => said === "[ '10.96.0.80' ]",
    );
    socket.write('still there?');
    assert.equal(String((await once(socket, 'data'))[0]), 'still there?');
    socket.destroy();
  });

  it('takes away all that it has put there', async () => {
    await host.remove();
    assert.doesNotMatch(tables(), /netloom-services/);
    assert.doesNotMatch(links(), /nl-services/);
    assert.doesNotMatch(execFileSync('ip', ['route'], { encoding: 'utf8' }), /10\.96\./);
  });
});
