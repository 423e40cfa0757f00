import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Node } from '../../src/api/core/node.ts';
import type { Pod } from '../../src/api/core/pod.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { Prefix } from '../../src/api/prefix.ts';
import { LabPlaces } from '../../src/lab/state/places.ts';
import { LabInTest, noLabs } from './lab-in-test.ts';

const labWith = (subnet: string): string => `
switches:
  rack: { subnet: ${subnet} }
hosts:
  '@a': { links: { eth0: rack } }
  '@b': { links: { eth0: rack } }
`;
const CASES = [
  { where: 'hosts that have IPv4 addresses', subnet: '10.91.7.0/24', way: /via fd4e:4c00:4d67::\S+ dev management/ },
  {
    where: 'hosts that have addresses of both, too',
    subnet: "[10.91.8.0/24, 'fd00:91:8::/64']",
    way: /via fd00:91:8::\S+ dev eth0/,
  },
];
const NETWORKS = ['--service-cidr', '10.96.0.0/16,fd00:96::/112', '--pod-cidr', '10.244.0.0/16,fd00:244::/56'];

/** Tells its name to whoever asks, by either family. */
const webServer = (name: string, nodeName: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'web', name } },
  spec: {
    nodeName,
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'web',
        image: 'none',
        command: [
          'sh',
          '-c',
          'cd /tmp && hostname > index.html && echo "$IPS" > ips && exec python3 -m http.server 8080 --bind ::',
        ],
        env: [{ name: 'IPS', valueFrom: { fieldRef: { fieldPath: 'status.podIPs' } } }],
        readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
      },
    ],
  },
});

const service = (name: string, selector: Record<string, string>, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector, ipFamilyPolicy: 'RequireDualStack', ports: [{ port: 80, targetPort: 8080 }], ...more },
});

for (const { where, subnet, way } of CASES)
  describe(`pods with addresses of both families on ${where}`, { skip: noLabs }, () => {
    let lab: LabInTest;
    const pods = new Map<string, Pod>();
    const object = async <T>(words: string): Promise<T> => JSON.parse(await lab.ok(`get ${words} -o json`));
    const uidOf = (name: string): string => pods.get(name)?.metadata.uid ?? '';
    const addressesOf = (name: string): string[] => (pods.get(name)?.status?.podIPs ?? []).map(({ ip }) => ip);
    const curl = (from: string, address: string, rest: string) =>
      lab.inPod(uidOf(from), [
        'curl',
        '-gsS',
        '-m',
        '5',
        `http://${address.includes(':') ? `[${address}]` : address}${rest}`,
      ]);
    const get = async (from: string, address: string, rest = '/'): Promise<string> => {
      const { code, stdout, stderr } = await curl(from, address, rest);
      assert.equal(code, 0, `${from} asks ${address}: ${stderr}`);
      return stdout.trim();
    };
    /** What one pod hears from another one, by IPv4 and by IPv6. */
    const heard = (from: string, to: string): Promise<string[]> =>
      Promise.all(addressesOf(to).map((address) => get(from, address, ':8080/')));
    const clusterIps = async (name: string): Promise<string[]> =>
      JSON.parse(await lab.ok(`get service ${name} -o jsonpath={.spec.clusterIPs}`));

    before(async () => {
      lab = await LabInTest.start(labWith(subnet), NETWORKS);
      const items = [
        webServer('one', lab.host('a')),
        webServer('two', lab.host('a')),
        webServer('three', lab.host('b')),
        service('web', { app: 'web' }),
        service('self', { name: 'one' }),
        service('each', { app: 'web' }, { clusterIP: 'None' }),
      ];
      await lab.ok('apply -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
      await lab.ok('wait pod/one pod/two pod/three --for=condition=Ready --timeout=60s');
      for (const pod of (await object<{ items: Pod[] }>('pods')).items) pods.set(pod.metadata.name, pod);
      // Each host hears of others and of endpoints in its own time.
      for (const address of [...(await clusterIps('self')), ...(await clusterIps('web'))]) {
        for (const from of ['one', 'three']) {
          await lab.eventually(
            async () => (await curl(from, address, '/')).code,
            (code) => code === 0,
          );
        }
      }
    });
    after(() => lab.stop());

    test('every node has a range of each, and every pod an address of each', async () => {
      const { items } = await object<{ items: Node[] }>('nodes');
      for (const { spec } of items) {
        assert.equal(spec.podCIDR, spec.podCIDRs?.[0]);
        assert.match(`${spec.podCIDRs}`, /^10\.244\.\d\.0\/24,fd00:244:.*\/64$/);
      }
      for (const [name, { spec, status }] of pods) {
        const ranges = items.find(({ metadata }) => metadata.name === spec.nodeName)?.spec.podCIDRs ?? [];
        const lengths = addressesOf(name).map((ip, i) => `${Prefix.parse(`${ip}/${i === 0 ? 24 : 64}`)}`);
        assert.deepEqual(lengths, ranges);
        assert.equal(status?.podIP, addressesOf(name)[0]);
      }
    });

    test('a pod is told both of its addresses', async () => {
      assert.equal(await get('one', addressesOf('one')[1] ?? '', ':8080/ips'), addressesOf('one').join(','));
      assert.match(await lab.ok('exec one -- cat /etc/hosts'), new RegExp(`^${addressesOf('one')[1]}\\tone$`, 'm'));
    });

    test('pods reach each other by both, on their host and on others', async () => {
      for (const other of ['one', 'two', 'three']) {
        assert.deepEqual(await heard('one', other), [other, other]);
        assert.deepEqual(await heard(other, 'one'), ['one', 'one']);
      }
    });

    test('what is for pods of another host takes the way that its host is known by', async () => {
      const { stdout } = await lab.on(lab.host('a'), ['ip', '-6', 'route', 'get', addressesOf('three')[1] ?? '']);
      assert.match(stdout, way);
    });

    test('a Service leads by either of its addresses to pods everywhere, and to the one that asks', async () => {
      for (const address of await clusterIps('web')) {
        const answers = new Set<string>();
        for (let tries = 0; tries < 200 && answers.size < 3; tries += 1) answers.add(await get('one', address));
        assert.deepEqual([...answers].sort(), ['one', 'three', 'two'], address);
      }
      for (const address of await clusterIps('self')) {
        assert.equal(await get('one', address), 'one');
        assert.equal(await get('three', address), 'one');
      }
    });

    test('the names of a headless Service are addresses of both', async () => {
      const script = `import socket; print(*sorted({found[4][0] for found in socket.getaddrinfo("each", 80)}))`;
      const found = await lab.ok(['exec', 'one', '--', 'python3', '-c', script]);
      const all = [...pods.keys()].flatMap(addressesOf);
      assert.deepEqual(found.trim().split(' ').sort(), all.sort());
    });

    test('what a pod has, the next agent finds, and gives to nobody else', async () => {
      const begun = (): number =>
        readFileSync(new LabPlaces(lab.name).host(lab.host('a')).log, 'utf8').match(/^ready /gm)?.length ?? 0;
      const before = begun();
      await lab.run(['lab', 'kill', lab.host('a'), 'agent']);
      await lab.eventually(
        async () => begun(),
        (times) => times > before,
      );
      await lab.ok('apply -f -', JSON.stringify(webServer('late', lab.host('a'))));
      await lab.ok('wait pod/late --for=condition=Ready --timeout=60s');
      const found = await object<Pod>('pod one');
      assert.deepEqual(
        found.status?.podIPs?.map(({ ip }) => ip),
        addressesOf('one'),
      );
      pods.set('late', await object<Pod>('pod late'));
      assert.deepEqual(new Set([...pods.keys()].flatMap(addressesOf)).size, 2 * pods.size);
      assert.deepEqual(await heard('three', 'one'), ['one', 'one']);
      assert.deepEqual(await heard('late', 'one'), ['one', 'one']);
    });

    test('no Node has anything to say against it', async () => {
      const reasons = '{.items[*].status.conditions[?(@.type=="Ready")].reason}';
      assert.doesNotMatch(await lab.ok(`get nodes -o jsonpath=${reasons}`), /PodRoutesIncomplete|ServicesIncomplete/);
    });
  });
