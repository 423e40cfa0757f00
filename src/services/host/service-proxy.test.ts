import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { Service, ServiceSpec } from '../../api/core/service.ts';
import type { Endpoint, EndpointSlice } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import { connectionsIn } from '../../linux/connections.ts';
import { askFrom, greetIn, temporaryNamespace } from '../../linux/network.fixture.ts';
import { runNftScript } from '../../linux/nft-script.ts';
import { silentLog } from '../../runtime/log.ts';
import { serviceOf, sliceOf } from './cluster.fixture.ts';
import { ip, moveIntoOwnNetwork, needsRoot } from './own-network.fixture.ts';
import { ProxyTable } from './proxy-table.ts';
import { TABLE } from './proxy-words.ts';
import { NO_RULES, rulesOf } from './service-rules.ts';
import { StaleConnections } from './stale-connections.ts';

/** The real kernel, asked what it was told and watched at work. */
describe('the proxy of Services', needsRoot, () => {
  before(() => {
    moveIntoOwnNetwork();
    ip('addr add 192.0.2.1/32 dev lo');
    execFileSync('sysctl', ['-qw', 'net.ipv4.ip_forward=1']);
    ip('link add nl-svc type bridge');
    ip('link set nl-svc up');
    ip('route add 10.96.0.0/16 dev nl-svc src 192.0.2.1');
    for (let i = 1; i <= 4; i += 1) ip(`addr add 10.244.0.${i}/32 dev lo`);
  });

  it('leads the kernel from any Services to any others, and leaves nothing of the former', async () => {
    const change = fc.record({
      name: fc.constantFrom('a', 'b'),
      isThere: fc.boolean(),
      pods: fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 12 }),
      port: fc.constantFrom(80, 81),
      nodePort: fc.boolean(),
      local: fc.boolean(),
      outside: fc.boolean(),
      second: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
        const told = await Told.start();
        const empty = contents();
        const last = new Map<string, [Service, EndpointSlice[]]>();
        for (const { name, isThere, pods, port, nodePort, local, outside, second } of changes) {
          const number = name === 'a' ? 1 : 2;
          const spec: Partial<ServiceSpec> = {
            clusterIP: `10.96.0.${number}`,
            ports: [
              { port, ...(nodePort ? { nodePort: 30_000 + number } : {}) },
              ...(second ? [{ name: 'second', port: port + 10 }] : []),
            ],
            externalTrafficPolicy: local ? 'Local' : 'Cluster',
          };
          const ingress = outside ? [{ ip: `198.51.100.${number}` }] : [];
          const service = serviceOf(name, spec, { loadBalancer: { ingress } });
          const slicePorts = [
            { name: '', port: 8080 },
            { name: 'second', port: 8081 },
          ];
          if (isThere) last.set(name, [service, [sliceOf(name, pods.map(pod), slicePorts)]]);
          else last.delete(name);
          await told.set(service, last.get(name)?.[1]);
        }
        const reached = contents();
        const fresh = await Told.start();
        for (const [service, slices] of last.values()) await fresh.set(service, slices);
        assert.deepEqual(reached, contents());
        for (const [service] of last.values()) await fresh.set(service, undefined);
        assert.deepEqual(contents(), empty);
      }),
      { numRuns: 15 },
    );
  });

  it('spreads connections over all pods, and keeps the clients of one that is gone away from it', async (t) => {
    const told = await Told.start();
    const service = serviceOf('web', { clusterIP: '10.96.0.20' });
    await told.set(service, [sliceOf('web', [pod(1), pod(2), pod(3)])]);
    for (const i of [1, 2, 3]) await greeter(t, `10.244.0.${i}`);
    assert.deepEqual(await whoAnswers('10.96.0.20', 80, 60), ['10.244.0.1', '10.244.0.2', '10.244.0.3']);
    await told.set(service, [sliceOf('web', [pod(1), pod(3)])]);
    assert.deepEqual(await whoAnswers('10.96.0.20', 80, 60), ['10.244.0.1', '10.244.0.3']);
  });

  it('sends a client to the same pod again where the Service asks for that', async (t) => {
    const told = await Told.start();
    const service = serviceOf('sticky', { clusterIP: '10.96.0.21', sessionAffinity: 'ClientIP' });
    await told.set(service, [sliceOf('sticky', [pod(1), pod(2), pod(3)])]);
    for (const i of [1, 2, 3]) await greeter(t, `10.244.0.${i}`);
    const found = await whoAnswers('10.96.0.21', 80, 20);
    assert.equal(found.length, 1);
    for (let i = 0; i < 4; i += 1) {
      const anew = await Told.start();
      await anew.set(service, [sliceOf('sticky', [pod(1), pod(2), pod(3)])]);
      assert.deepEqual(await whoAnswers('10.96.0.21', 80, 1), found, 'another agent leads it there, too');
    }
  });

  it('prefers pods that are ready, and makes do with those that end', async (t) => {
    const told = await Told.start();
    const service = serviceOf('ending', { clusterIP: '10.96.0.22' });
    const ending = { ...pod(2), conditions: { ready: false, serving: true, terminating: true } };
    await told.set(service, [sliceOf('ending', [pod(1), ending])]);
    for (const i of [1, 2]) await greeter(t, `10.244.0.${i}`);
    assert.deepEqual(await whoAnswers('10.96.0.22', 80, 20), ['10.244.0.1']);
    await told.set(service, [sliceOf('ending', [ending])]);
    assert.deepEqual(await whoAnswers('10.96.0.22', 80, 5), ['10.244.0.2']);
  });

  it('leaves out pods on silent hosts where it has others, also such that end, and else hopes for them', async (t) => {
    const told = await Told.start();
    const service = serviceOf('dead', { clusterIP: '10.96.0.29' });
    const ending = { ...pod(2), conditions: { ready: false, serving: true, terminating: true } };
    for (const i of [1, 2, 3, 4]) await greeter(t, `10.244.0.${i}`);
    const asked = async (...pods: Endpoint[]): Promise<string[]> => {
      await told.set(service, [sliceOf('dead', pods)]);
      return whoAnswers('10.96.0.29', 80, 30);
    };
    assert.deepEqual(await asked(pod(1), pod(4)), ['10.244.0.1', '10.244.0.4']);
    told.silent.add('elsewhere');
    assert.deepEqual(await asked(pod(1), pod(4)), ['10.244.0.4']);
    assert.deepEqual(await asked(pod(1), ending), ['10.244.0.2']);
    assert.deepEqual(await asked(pod(1), pod(3)), ['10.244.0.1', '10.244.0.3']);
    told.silent.clear();
    assert.deepEqual(await asked(pod(1), pod(4)), ['10.244.0.1', '10.244.0.4']);
  });

  it('asks pods of this host that end, where only those may be asked from outside', async (t) => {
    const told = await Told.start();
    const ports = [{ port: 80, nodePort: 30_081 }];
    const service = serviceOf('local', { clusterIP: '10.96.0.28', ports, externalTrafficPolicy: 'Local' });
    const ending = { ...pod(2), conditions: { ready: false, serving: true, terminating: true } };
    const localChoice = (): string => execFileSync('nft', ['list', 'table', 'inet', TABLE], { encoding: 'utf8' });
    await told.set(service, [sliceOf('local', [pod(1), ending])]);
    assert.equal(localChoice().match(/10\.244\.0\.2 \. 8080/g)?.length, 1);
    await told.set(service, [sliceOf('local', [pod(1), pod(4), ending])]);
    assert.equal(localChoice().match(/10\.244\.0\.2 \. 8080/g), null);
    for (const i of [1, 2, 4]) await greeter(t, `10.244.0.${i}`);
    assert.deepEqual(await whoAnswers('10.96.0.28', 80, 30), ['10.244.0.1', '10.244.0.4']);
  });

  it('refuses at once what nobody answers: a Service without pods, and an address that no Service has', async () => {
    const told = await Told.start();
    await told.set(serviceOf('lonely', { clusterIP: '10.96.0.23' }), []);
    assert.equal(await ask('10.96.0.23', 80), 'ECONNREFUSED');
    assert.equal(await ask('10.96.9.9', 80), 'ECONNREFUSED');
  });

  it('keeps silent, instead of refusing, while names are not answered', async (t) => {
    await Told.start();
    const refused: string[] = [];
    const ask = async (address: string): Promise<Socket> => {
      const socket = createSocket('udp4');
      t.after(() => socket.close());
      socket.on('error', () => refused.push(address));
      await new Promise<void>((resolve) => socket.connect(53, address, resolve));
      socket.send('a question');
      return socket;
    };
    await ask('127.0.0.53');
    // Who asks later, elsewhere, is refused: so the first one would have been by then.
    await once(await ask('127.0.0.54'), 'error', { signal: AbortSignal.timeout(10_000) }).catch(() => {});
    assert.deepEqual(refused, ['127.0.0.54']);
  });

  it('answers on the port of the host, and on the address that a pool gave', async (t) => {
    const told = await Told.start();
    ip('route add 198.51.100.9 dev lo src 192.0.2.1');
    const ports = [{ port: 80, nodePort: 30_080 }];
    const status = { loadBalancer: { ingress: [{ ip: '198.51.100.9' }] } };
    await told.set(serviceOf('both', { clusterIP: '10.96.0.24', ports }, status), [sliceOf('both', [pod(4)])]);
    await greeter(t, '10.244.0.4');
    assert.equal(await ask('192.0.2.1', 30_080), '10.244.0.4');
    assert.equal(await ask('198.51.100.9', 80), '10.244.0.4');
  });

  it('answers on addresses that people lead to the hosts themselves, and not on those that a balancer keeps', async (t) => {
    const told = await Told.start();
    for (const i of [7, 8]) ip(`addr add 198.51.100.${i}/32 dev lo`);
    const status = { loadBalancer: { ingress: [{ ip: '198.51.100.8', ipMode: 'Proxy' as const }] } };
    const service = serviceOf('outer', { clusterIP: '10.96.0.31', externalIPs: ['198.51.100.7'] }, status);
    await told.set(service, [sliceOf('outer', [pod(1)])]);
    await greeter(t, '10.244.0.1');
    assert.equal(await ask('198.51.100.7', 80), '10.244.0.1');
    assert.equal(await ask('198.51.100.8', 80), 'ECONNREFUSED');
  });

  it('lets in from outside whom the Service names, and keeps silent to all others', async (t) => {
    const told = await Told.start();
    const before = contents();
    const { client, from } = await clientOutside(t);
    const status = { loadBalancer: { ingress: [{ ip: '198.51.100.9' }] } };
    const admitting = (...loadBalancerSourceRanges: string[]): Service =>
      serviceOf('guarded', { clusterIP: '10.96.0.32', loadBalancerSourceRanges }, status);
    await greeter(t, '10.244.0.1');
    const answers = async (service: Service): Promise<boolean> => {
      await told.set(service, [sliceOf('guarded', [pod(1)])]);
      return (await client.asks('198.51.100.9', 80)) === 'answered';
    };
    assert.equal(await answers(admitting()), true);
    assert.equal(await answers(admitting('203.0.113.0/24')), false);
    assert.equal(await answers(admitting('203.0.113.0/24', `${from}/30`, `${from}/32`)), true);
    assert.equal(await answers(admitting('0.0.0.0/0', '203.0.113.0/24')), true);
    assert.equal(await answers(admitting('203.0.113.0/24', '203.0.113.7/32')), false);
    ip('route replace 198.51.100.9 dev lo src 192.0.2.1');
    const here = { asks: (address: string, port: number) => asks([], address, port) };
    assert.equal(await here.asks('198.51.100.9', 80), 'silence', 'a process of this host is one of all others');
    await answers(admitting('192.0.2.1/32'));
    assert.equal(await here.asks('198.51.100.9', 80), 'answered');
    await told.set(admitting(), undefined);
    assert.deepEqual(contents(), before);
  });

  it('keeps silent to who comes from outside, where only pods of this host may be asked and there is none', async (t) => {
    const told = await Told.start();
    const { client } = await clientOutside(t);
    // Not to be told from what the kernel says by itself, if it were passed on.
    ip('route add unreachable 198.51.100.10');
    t.after(() => ip('route del unreachable 198.51.100.10'));
    const ports = [{ port: 80, nodePort: 30_083 }];
    const status = { loadBalancer: { ingress: [{ ip: '198.51.100.10' }] } };
    const service = serviceOf('absent', { clusterIP: '10.96.0.36', ports, externalTrafficPolicy: 'Local' }, status);
    await told.set(service, [sliceOf('absent', [pod(1)])]);
    await greeter(t, '10.244.0.1');
    assert.equal(await client.asks('198.51.100.10', 80), 'silence');
    assert.equal(await client.asks('192.0.2.1', 30_083), 'silence');
    assert.equal(await ask('192.0.2.1', 30_083), '10.244.0.1', 'this host is not outside');
    await told.set(service, [sliceOf('absent', [pod(1), pod(2)])]);
    await greeter(t, '10.244.0.2');
    assert.equal(await client.asks('198.51.100.10', 80), 'answered');
  });

  it('leads pods of this host everywhere, and those of other hosts to its own ones, where others would answer past it', async (t) => {
    const told = await Told.start();
    const { client, from } = await clientOutside(t);
    const { namespace, address } = podBeside(t);
    const name = client.namespace.slice(client.namespace.lastIndexOf('/') + 1);
    ip(`-n ${name} addr add 10.244.7.7/32 dev eth0`);
    ip(`-n ${name} route replace default via 192.0.2.129 src 10.244.7.7`);
    ip(`route add 10.244.7.7 via ${from}`);
    t.after(() => ip('route flush 10.244.7.7'));
    const ports = [{ port: 80, nodePort: 30_085 }];
    const service = serviceOf('beyond', { clusterIP: '10.96.0.42', ports, externalTrafficPolicy: 'Local' });
    const port = await greetIn(t, namespace);
    const slicePorts = [{ name: '', port }];
    await told.set(service, [
      sliceOf('beyond', [pod(1), pod(3), { addresses: [address], nodeName: 'here' }], slicePorts),
    ]);
    for (let i = 0; i < 8; i += 1) assert.equal(await askFrom(client.namespace, '192.0.2.1', 30_085), '10.244.7.7');
    await told.set(service, [sliceOf('beyond', [pod(1)])]);
    await greeter(t, '10.244.0.1');
    assert.equal(await asks(['nsenter', `--net=${namespace}`], '192.0.2.1', 30_085), 'answered');
    assert.equal(await client.asks('192.0.2.1', 30_085), 'silence');
  });

  it('stands in for whoever comes to a ClusterIP from elsewhere, and for nobody whom it leads to its own pods', async (t) => {
    const told = await Told.start();
    const { client, from } = await clientOutside(t);
    const { namespace, address } = podBeside(t);
    const port = await greetIn(t, namespace);
    const status = { loadBalancer: { ingress: [{ ip: '198.51.100.11' }] } };
    const service = serviceOf('seen', { clusterIP: '10.96.0.37', externalTrafficPolicy: 'Local' }, status);
    const endpoint = { addresses: [address], nodeName: 'here' };
    await told.set(service, [sliceOf('seen', [endpoint], [{ name: '', port }])]);
    assert.equal(await askFrom(client.namespace, '10.96.0.37', 80), '192.0.2.1');
    assert.equal(await askFrom(client.namespace, '198.51.100.11', 80), from);
    assert.equal(await askFrom(namespace, '10.96.0.37', 80), '192.0.2.1', 'a pod does not meet itself');
  });

  it('lets nothing of a pod pass that the kernel counts to no connection: its client would break off', async (t) => {
    const told = await Told.start();
    const { client } = await clientOutside(t);
    const { namespace, address } = podBeside(t);
    const status = { loadBalancer: { ingress: [{ ip: '198.51.100.12' }] } };
    const service = serviceOf('late', { clusterIP: '10.96.0.38', externalTrafficPolicy: 'Local' }, status);
    await told.set(service, [sliceOf('late', [{ addresses: [address], nodeName: 'here' }])]);
    const seen = await strayPackets(t, {
      client: client.namespace,
      pod: namespace,
      from: address,
      to: '198.51.100.12',
    });
    assert.deepEqual(seen, ['198.51.100.12']);
  });

  it('lets everything pass between pods of other hosts and whom they talk to: their answers may take another way', async (t) => {
    const told = await Told.start();
    const { client } = await clientOutside(t);
    const { namespace, address } = podBeside(t);
    ip('link set nlpod group default');
    const status = { loadBalancer: { ingress: [{ ip: '198.51.100.13' }] } };
    const service = serviceOf('passing', { clusterIP: '10.96.0.43', externalTrafficPolicy: 'Local' }, status);
    await told.set(service, [sliceOf('passing', [{ addresses: [address], nodeName: 'here' }])]);
    const seen = await strayPackets(t, {
      client: client.namespace,
      pod: namespace,
      from: address,
      to: '198.51.100.13',
    });
    assert.ok(seen.includes(address), String(seen));
  });

  it('leaves to this host what it has on its loopback, also where a port of hosts leads nowhere', async (t) => {
    const told = await Told.start();
    const server = createServer((socket) => socket.end('my own'));
    server.listen(30_084, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    await told.set(serviceOf('nowhere', { clusterIP: '10.96.0.39', ports: [{ port: 80, nodePort: 30_084 }] }), []);
    assert.equal(await ask('192.0.2.1', 30_084), 'ECONNREFUSED');
    assert.equal(await ask('127.0.0.1', 30_084), 'my own');
  });

  it('knows how many pods of its own a host has for a balancer that asks', () => {
    const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_099 } as const;
    const service = serviceOf('asked', { clusterIP: '10.96.0.33', ...spec });
    const ending = { ...pod(6), conditions: { ready: false, serving: true, terminating: true } };
    const from = { host: 'here', isSilent: () => false };
    const { health } = rulesOf(service, [sliceOf('asked', [pod(1), pod(2), pod(4), ending])], from);
    assert.deepEqual(health, { port: 30_099, backends: 2 });
  });

  it('lets a client of UDP that talks on and on find another pod when its own has gone', async (t) => {
    const told = await Told.start();
    const service = serviceOf('dns', { clusterIP: '10.96.0.25', ports: [{ port: 53, protocol: 'UDP' }] });
    const ports = [{ name: '', protocol: 'UDP' as const, port: 8080 }];
    await told.set(service, [sliceOf('dns', [pod(1)], ports)]);
    for (const i of [1, 2]) await echo(t, `10.244.0.${i}`);
    const socket = createSocket('udp4');
    t.after(() => socket.close());
    socket.bind(0, '192.0.2.1');
    await once(socket, 'listening');
    assert.equal(await say(socket, '10.96.0.25'), '10.244.0.1');
    await told.set(service, [sliceOf('dns', [pod(2)], ports)]);
    assert.equal(await say(socket, '10.96.0.25'), '10.244.0.2');
    // Others talk on as before.
    const before = execFileSync('conntrack', ['-L', '--proto', 'udp'], { stdio: ['ignore', 'pipe', 'ignore'] });
    await told.set(service, [sliceOf('dns', [pod(2), pod(3)], ports)]);
    assert.equal(connectionsIn(String(before)).filter(({ original }) => original.target === '10.96.0.25').length, 1);
    assert.equal(await say(socket, '10.96.0.25'), '10.244.0.2');
  });

  it('lets those be who talk to a pod by way of another Service than the one that it has left', async (t) => {
    const told = await Told.start();
    const udp = (name: string, clusterIP: string): Service =>
      serviceOf(name, { clusterIP, ports: [{ port: 53, protocol: 'UDP' }] });
    const slice = (name: string, ...pods: Endpoint[]): EndpointSlice =>
      sliceOf(name, pods, [{ name: '', protocol: 'UDP', port: 8080 }]);
    const [left, kept] = [udp('left', '10.96.0.40'), udp('kept', '10.96.0.41')];
    await told.set(left, [slice('left', pod(1))]);
    await told.set(kept, [slice('kept', pod(1))]);
    await echo(t, '10.244.0.1');
    const socket = createSocket('udp4');
    t.after(() => socket.close());
    for (const address of ['10.96.0.40', '10.96.0.41']) await say(socket, address);
    const known = (address: string): number =>
      connectionsIn(
        String(execFileSync('conntrack', ['-L', '--proto', 'udp'], { stdio: ['ignore', 'pipe', 'ignore'] })),
      ).filter(({ original }) => original.target === address).length;
    assert.deepEqual(['10.96.0.40', '10.96.0.41'].map(known), [1, 1]);
    await told.set(left, [slice('left', pod(2))]);
    assert.deepEqual(['10.96.0.40', '10.96.0.41'].map(known), [0, 1]);
  });

  it('lets a client of UDP find the first pod that comes, though it was refused before', async (t) => {
    const told = await Told.start();
    const service = serviceOf('first', { clusterIP: '10.96.0.34', ports: [{ port: 53, protocol: 'UDP' }] });
    await told.set(service, []);
    const socket = createSocket('udp4');
    t.after(() => socket.close());
    socket.on('error', () => {});
    socket.bind(0, '192.0.2.1');
    await once(socket, 'listening');
    socket.send('is anybody there?', 53, '10.96.0.34');
    await echo(t, '10.244.0.1');
    await told.set(service, [sliceOf('first', [pod(1)], [{ name: '', protocol: 'UDP', port: 8080 }])]);
    assert.equal(await say(socket, '10.96.0.34'), '10.244.0.1');
  });

  it('tells the kernel as little of one of a thousand pods as of one of ten', async () => {
    const told = await Told.start();
    const service = serviceOf('large', { clusterIP: '10.96.0.26' });
    const operations: number[] = [];
    for (const count of [10, 1_000]) {
      const all = Array.from({ length: count }, (_, i) => ({ addresses: [`10.244.${1 + (i >> 8)}.${i & 255}`] }));
      await told.set(service, [sliceOf('large', all)]);
      operations.push(await kernelChanges(() => told.set(service, [sliceOf('large', all.toSpliced(5, 1))])));
    }
    assert.equal(operations[0], operations[1]);
    assert.ok(operations[0] !== undefined && operations[0] > 0 && operations[0] <= 10, `${operations[0]} operations`);
  });

  it('leads to pods by IPv6 too, on its own and through the port of the host', async (t) => {
    const told = await Told.start();
    const spec = { clusterIP: 'fd00:96::35', ports: [{ port: 80, nodePort: 30_082 }] };
    for (const i of [1, 2]) ip(`-6 addr add fd00:244::${i}/128 dev lo nodad`);
    ip('-6 addr add fd00:2::1/128 dev lo nodad');
    ip('-6 route add fd00:96::/112 dev nl-svc src fd00:2::1');
    const pods = [1, 2].map((i) => ({ addresses: [`fd00:244::${i}`], nodeName: 'here' }));
    await told.set(serviceOf('six', spec), [sliceOf('six', pods)]);
    for (const i of [1, 2]) await greeter(t, `fd00:244::${i}`);
    assert.deepEqual(await whoAnswers('fd00:96::35', 80, 40), ['fd00:244::1', 'fd00:244::2']);
    assert.deepEqual(await whoAnswers('fd00:2::1', 30_082, 40), ['fd00:244::1', 'fd00:244::2']);
    await told.set(serviceOf('six', spec), []);
    assert.equal(await ask('fd00:96::35', 80), 'ECONNREFUSED');
  });

  it('leaves an address to the elder of two Services, whichever it hears of first, and to the other when that goes', async (t) => {
    const told = await Told.start();
    const [first, second] = ['first', 'second'].map((name) => serviceOf(name, { clusterIP: '10.96.0.30' }));
    assert.ok(first && second);
    for (const i of [1, 2]) await greeter(t, `10.244.0.${i}`);
    await told.set(first, [sliceOf('first', [pod(1)])]);
    await told.set(second, [sliceOf('second', [pod(2)])]);
    assert.deepEqual(await whoAnswers('10.96.0.30', 80, 10), ['10.244.0.1']);
    const reached = contents();
    const other = await Told.start();
    await other.set(second, [sliceOf('second', [pod(2)])]);
    await other.set(first, [sliceOf('first', [pod(1)])]);
    assert.deepEqual(contents(), reached);
    await other.set(second, [sliceOf('second', [pod(2), pod(4)])]);
    assert.deepEqual(contents(), reached);
    const elder = { ...second, metadata: { ...second.metadata, creationTimestamp: '2025-12-31T00:00:00Z' } };
    await other.set(elder, [sliceOf('second', [pod(2)])]);
    assert.deepEqual(await whoAnswers('10.96.0.30', 80, 10), ['10.244.0.2'], 'its name does not count');
    const again = await Told.start();
    await again.set(second, [sliceOf('second', [pod(2)])]);
    await again.set(first, [sliceOf('first', [pod(1)])]);
    await again.set(first, undefined);
    assert.deepEqual(again.freed.splice(0), ['second']);
    await again.set(second, [sliceOf('second', [pod(2)])]);
    assert.deepEqual(await whoAnswers('10.96.0.30', 80, 10), ['10.244.0.2']);
  });

  it('takes no words from objects that are not addresses, or not of the family', async (t) => {
    const told = await Told.start();
    const before = contents();
    const status = { loadBalancer: { ingress: [{ ip: '1.2.3.4 . tcp . 80 : drop }; flush ruleset; add element' }] } };
    const service = serviceOf('evil', { clusterIP: '10.96.0.27', ports: [] }, status);
    await told.set(service, [sliceOf('evil', [{ addresses: ['10.0.0.1 }; flush ruleset'] }])]);
    assert.deepEqual(contents(), before);
    const odd = serviceOf('odd', { clusterIP: '10.96.0.28' });
    const slice = { ...sliceOf('odd', [pod(1), { addresses: ['fd00:244::1'] }]), addressType: 'IPv4' as const };
    await told.set(odd, [slice, sliceOf('odd', [pod(2)], [{ name: '', port: 70_000 }])]);
    await greeter(t, '10.244.0.1');
    assert.deepEqual(await whoAnswers('10.96.0.28', 80, 5), ['10.244.0.1']);
  });
});

const POD_LINKS = 244;

/** A table, and what the kernel was told through it. */
class Told {
  /** Hosts that do not answer. */
  readonly silent = new Set<string>();
  /** Services that are to be changed once more. */
  readonly freed: string[] = [];
  readonly #stale = new StaleConnections(silentLog);
  readonly #table = new ProxyTable({
    addresses: { IPv4: '192.0.2.1', IPv6: 'fd00:2::1' },
    serviceCidrs: ['10.96.0.0/16', 'fd00:96::/112'],
    podCidrs: ['10.244.0.0/16', 'fd00:244::/64'],
    podLinks: POD_LINKS,
    resolvers: ['127.0.0.53', 'fd4e:4c00:78:76::1'],
  });

  static async start(): Promise<Told> {
    const told = new Told();
    await runNftScript(told.#table.begin());
    return told;
  }

  /** Without slices the Service is gone. */
  async set(service: Service, slices: EndpointSlice[] | undefined): Promise<string> {
    const rules =
      slices === undefined
        ? NO_RULES
        : rulesOf(service, slices, { host: 'here', isSilent: (host) => this.silent.has(host) });
    const change = this.#table.change(service.metadata.name, rules);
    this.freed.push(...change.freed);
    if (change.script !== '') await runNftScript(change.script);
    this.#stale.forget([change]);
    await this.#stale.settled();
    return change.script;
  }
}

const pod = (number: number): Endpoint => ({
  addresses: [`10.244.0.${number}`],
  nodeName: number % 2 === 0 ? 'here' : 'elsewhere',
});

/** The key of a backend: its entry, and its number. */
interface Numbered {
  readonly concat: readonly unknown[];
}

/** What the kernel has, whatever numbers it gave and in whatever order things came. */
function contents(): string[] {
  const listed: { nftables: Record<string, Record<string, unknown>>[] } = JSON.parse(
    execFileSync('nft', ['-j', 'list', 'table', 'inet', TABLE], { encoding: 'utf8' }),
  );
  return listed.nftables
    .flatMap((entry) => Object.entries(entry))
    .filter(([kind]) => kind !== 'metainfo')
    .map(([kind, { handle: _, elem = [], ...rest }]) => {
      const items = (elem as unknown[]).map((item) => JSON.stringify(item));
      if (kind === 'map' && /^(all|local)-/.test(String(rest['name']))) {
        const byEntry = Map.groupBy(elem as [Numbered, unknown][], ([{ concat }]) =>
          JSON.stringify(concat.slice(0, -1)),
        );
        const entries = [...byEntry].map(([entry, backends]) => {
          const numbers = backends.map(([{ concat }]) => Number(concat.at(-1))).sort((a, b) => a - b);
          assert.deepEqual(numbers, [...numbers.keys()], 'numbers without a hole');
          return `${entry} ${backends.map(([, to]) => JSON.stringify(to)).sort()}`;
        });
        return `${kind} ${JSON.stringify(rest)} ${entries.sort()}`;
      }
      return `${kind} ${JSON.stringify(rest)} ${items.sort()}`;
    })
    .sort();
}

/** How many changes of the table the kernel has been told of by some work: what it says of them itself. */
async function kernelChanges(work: () => Promise<unknown>): Promise<number> {
  const monitor = spawn('nft', ['monitor'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let seen = '';
  monitor.stdout.on('data', (data) => {
    seen += data;
  });
  const sees = async (what: string, within: number): Promise<boolean> => {
    for (let left = within; left > 0 && !seen.includes(what); left -= 10) await sleep(10);
    return seen.includes(what);
  };
  // It does not say when it begins.
  for (let isThere = false; !isThere; isThere = await sees('delete table inet netloom-hello', 200)) {
    await runNftScript('add table inet netloom-hello\ndelete table inet netloom-hello\n');
  }
  await work();
  await runNftScript('add table inet netloom-goodbye\ndelete table inet netloom-goodbye\n');
  assert.ok(await sees('delete table inet netloom-goodbye', 10_000));
  monitor.kill();
  return seen.split('\n').filter((line) => line.includes(TABLE)).length;
}

/** From here to `eth0` in a namespace. One to a namespace that is gone goes some time after it, and would be in the way. */
function cable(link: string, namespace: string): void {
  spawnSync('ip', ['link', 'delete', link], { stdio: 'ignore' });
  ip(`link add ${link} type veth peer name eth0 netns ${namespace}`);
}

/** Somebody on another host, with this one in between. */
async function clientOutside(t: TestContext) {
  const host = temporaryNamespace(t);
  const name = host.slice(host.lastIndexOf('/') + 1);
  cable('nlout', name);
  for (const words of ['addr add 192.0.2.129/30 dev nlout', 'link set nlout up']) ip(words);
  for (const words of ['addr add 192.0.2.130/30 dev eth0', 'link set eth0 up', 'route add default via 192.0.2.129']) {
    ip(`-n ${name} ${words}`);
  }
  ip('route replace default via 192.0.2.130');
  const client = {
    namespace: host,
    asks: (address: string, port: number) => asks(['nsenter', `--net=${host}`], address, port),
  };
  return { client, from: '192.0.2.130' };
}

type Outcome = 'answered' | 'refused' | 'silence';

/** @param prefix words that lead to where it is asked from */
function asks(prefix: readonly string[], address: string, port: number): Promise<Outcome> {
  const script = `exec 3<>/dev/tcp/${address}/${port}`;
  const [program = '', ...words] = [...prefix, 'timeout', '2', 'bash', '-c', script];
  const outcomes = new Map<number | null, Outcome>([
    [0, 'answered'],
    [124, 'silence'],
  ]);
  return new Promise((resolve) => {
    spawn(program, words, { stdio: 'ignore' }).on('close', (code) => resolve(outcomes.get(code) ?? 'refused'));
  });
}

/** A pod of this host that is a network of its own. */
function podBeside(t: TestContext): { namespace: string; address: string } {
  const namespace = temporaryNamespace(t);
  const name = namespace.slice(namespace.lastIndexOf('/') + 1);
  const address = '10.244.0.99';
  cable('nlpod', name);
  for (const words of [
    `link set nlpod up group ${POD_LINKS}`,
    'addr add 169.254.1.1/32 dev nlpod',
    `route add ${address} dev nlpod`,
  ])
    ip(words);
  for (const words of [
    `addr add ${address}/32 dev eth0`,
    'link set eth0 up',
    'route add 169.254.1.1 dev eth0',
    'route add default via 169.254.1.1',
  ]) {
    ip(`-n ${name} ${words}`);
  }
  return { namespace, address };
}

/** A server in a pod sends, between two words, packets that are far from where its connection is. Who the client hears from. */
async function strayPackets(
  t: TestContext,
  { client, pod, from, to }: { client: string; pod: string; from: string; to: string },
): Promise<string[]> {
  const python = (namespace: string, script: string) => {
    const child = spawn('nsenter', [`--net=${namespace}`, 'python3', '-c', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    t.after(() => child.kill('SIGKILL'));
    return child;
  };
  const server = python(pod, STRAY_SERVER.replaceAll('POD', from));
  await once(server.stdout, 'data');
  const listener = python(client, STRAY_CLIENT.replace('SERVICE', to));
  return JSON.parse(await text(listener.stdout));
}

const STRAY_SERVER = `
import socket, struct
server = socket.create_server(('POD', 8080))
print('ready', flush=True)
connection, (client, port) = server.accept()
connection.sendall(b'a')
connection.recv(1)
def checksum(data):
    total = sum(struct.unpack('!%dH' % (len(data) // 2), data))
    total = (total >> 16) + (total & 0xffff)
    return ~(total + (total >> 16)) & 0xffff
pseudo = socket.inet_aton('POD') + socket.inet_aton(client) + struct.pack('!BBH', 0, 6, 20)
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
# What lies behind the connection the kernel takes for said again, and counts it to the connection. One of these lies before it.
for seq in (0x12345678, 0x92345678):
    for ack in (0x23456789, 0xa3456789):
        header = lambda sum: struct.pack('!HHIIBBHHH', 8080, port, seq, ack, 5 << 4, 0x10, 1000, sum, 0)
        raw.sendto(header(checksum(pseudo + header(0))), (client, 0))
connection.sendall(b'b')
connection.recv(1)
`;

const STRAY_CLIENT = `
import json, socket
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
connection = socket.create_connection(('SERVICE', 80), timeout=10)
for word in (b'a', b'b'):
    assert connection.recv(1) == word
    connection.sendall(word)
raw.setblocking(False)
seen = set()
try:
    while True: seen.add(raw.recvfrom(2048)[1][0])
except BlockingIOError: pass
print(json.dumps(sorted(seen)))
`;

/** Says to everybody who it is. */
async function greeter(t: TestContext, address: string): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(address);
  });
  server.listen(8080, address);
  await once(server, 'listening');
  t.after(() => server.close());
  return server;
}

async function echo(t: TestContext, address: string): Promise<void> {
  const socket = createSocket('udp4', (_, from) => socket.send(address, from.port, from.address));
  socket.bind(8080, address);
  await once(socket, 'listening');
  t.after(() => socket.close());
}

async function say(socket: Socket, address: string): Promise<string> {
  socket.send('who are you?', 53, address);
  const [answer] = await once(socket, 'message', { signal: AbortSignal.timeout(5_000) });
  return String(answer);
}

/** Who answers, or why nobody does. */
async function ask(address: string, port: number): Promise<string> {
  const socket = connect({ host: address, port });
  try {
    return await text(socket);
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

async function whoAnswers(address: string, port: number, times: number): Promise<string[]> {
  const answers = await Promise.all(Array.from({ length: times }, () => ask(address, port)));
  return [...new Set(answers)].sort();
}
