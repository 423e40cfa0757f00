import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ConfigMap } from '../../src/api/core/config.ts';
import { customResourceDefinition } from '../../src/api/crd.ts';
import { allKinds } from '../../src/api/kinds.ts';
import { DNSData } from '../../src/api/network.openstack.org/dnsdata.ts';
import { DNSMasq } from '../../src/api/network.openstack.org/dnsmasq.ts';
import { keepHosts } from '../../src/dns/helper/hosts-helper.ts';
import { dnsAdmission, dnsControllers } from '../../src/dns/index.ts';
import { CustomResourceDefinition } from '../../src/runtime/builtin.ts';
import { Client } from '../../src/runtime/client.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { Manager } from '../../src/runtime/manager.ts';
import { system } from '../../src/runtime/system.ts';
import { DnsmasqInTest } from './dnsmasq-in-test.ts';
import { EngineInTest, eventually } from './engine-in-test.ts';

const NAMESPACE = 'default';

describe('names on the real engine, with a real dnsmasq', () => {
  let api: EngineInTest;
  let client: Client;
  let manager: Manager;
  let dnsmasq: DnsmasqInTest;
  let stopHelper: () => Promise<void>;

  before(async () => {
    api = await EngineInTest.start({ kinds: allKinds, admission: dnsAdmission });
    client = new Client({ transport: api.transport, fieldManager: 'test' });
    for (const kind of allKinds) {
      await client.apply(CustomResourceDefinition, customResourceDefinition(kind), { force: true });
    }
    manager = new Manager({
      transport: api.transport,
      controllers: dnsControllers(),
      system,
      log: silentLog,
      fieldManager: 'netloom',
      instance: 'test',
    });
    manager.start();
    dnsmasq = await DnsmasqInTest.prepare();
    stopHelper = await keepHosts({
      client,
      system,
      log: silentLog,
      namespace: NAMESPACE,
      selector: 'dnsmasqhosts=dnsdata',
      folder: dnsmasq.folder,
    });
    const spec = { replicas: 1, dnsDataLabelSelectorValue: 'dnsdata' };
    const dnsMasq = await client.create(DNSMasq, { metadata: { name: 'dns', namespace: NAMESPACE }, spec });
    dnsmasq.start(dnsMasq.spec);
    await eventually(
      () => dnsmasq.answer('nobody.example.com'),
      (found) => found === 'ENOTFOUND' || found === 'EREFUSED',
    );
  });

  after(async () => {
    await stopHelper();
    await manager.stop({ within: 1_000 });
    await api.stop();
    await dnsmasq.stop();
  });

  const hosts = (name: string, entries: [ip: string, hostname: string][]) => ({
    metadata: { name, namespace: NAMESPACE },
    spec: {
      dnsDataLabelSelectorValue: 'dnsdata',
      hosts: entries.map(([ip, hostname]) => ({ ip, hostnames: [hostname] })),
    },
  });

  test('a record is answered, forward and backward, and a changed one at once', async () => {
    await client.apply(DNSData, hosts('one', [['192.168.122.100', 'edpm-compute-0.ctlplane']]));
    await eventually(
      () => dnsmasq.answer('edpm-compute-0.ctlplane'),
      (found) => found === '192.168.122.100',
    );
    assert.equal(await dnsmasq.reverse('192.168.122.100'), 'edpm-compute-0.ctlplane');
    await client.apply(DNSData, hosts('one', [['192.168.122.101', 'edpm-compute-0.ctlplane']]));
    await eventually(
      () => dnsmasq.answer('edpm-compute-0.ctlplane'),
      (found) => found === '192.168.122.101',
    );
    await client.delete(DNSData, { namespace: NAMESPACE, name: 'one' });
    await eventually(
      () => dnsmasq.answer('edpm-compute-0.ctlplane'),
      (found) => found !== '192.168.122.101',
    );
  });

  test('while records change a hundred times, every query is answered, and truly', async () => {
    await client.apply(DNSData, hosts('steady', [['10.0.0.1', 'steady.example.com']]));
    await eventually(
      () => dnsmasq.answer('steady.example.com'),
      (found) => found === '10.0.0.1',
    );
    const wrong: string[] = [];
    let asked = 0;
    let isOver = false;
    const asking = (async () => {
      while (!isOver) {
        const found = await dnsmasq.answer('steady.example.com');
        asked += 1;
        if (found !== '10.0.0.1') wrong.push(found);
      }
    })();
    for (let i = 0; i < 100; i += 1) {
      await client.apply(DNSData, hosts('moving', [[`10.0.1.${i}`, 'moving.example.com']]));
    }
    await eventually(
      () => dnsmasq.answer('moving.example.com'),
      (found) => found === '10.0.1.99',
    );
    isOver = true;
    await asking;
    assert.deepEqual(wrong, []);
    assert.ok(asked > 100);
  });

  test('a record that two say stays when one of them says it no longer, forward and backward', async () => {
    await client.apply(DNSData, hosts('first', [['10.0.4.4', 'both.example.com']]));
    await eventually(
      () => dnsmasq.answer('both.example.com'),
      (found) => found === '10.0.4.4',
    );
    const second = hosts('second', [
      ['10.0.4.4', 'both.example.com'],
      ['10.0.4.5', 'second.example.com'],
    ]);
    await client.apply(DNSData, second);
    await eventually(
      () => dnsmasq.answer('second.example.com'),
      (found) => found === '10.0.4.5',
    );
    await client.apply(DNSData, hosts('first', [['10.0.4.6', 'first.example.com']]));
    await eventually(
      () => dnsmasq.answer('first.example.com'),
      (found) => found === '10.0.4.6',
    );
    assert.equal(await dnsmasq.answer('both.example.com'), '10.0.4.4');
    assert.equal(await dnsmasq.reverse('10.0.4.4'), 'both.example.com');
  });

  test('thousands of records that come at once, and a name among them that moves, keep no question waiting', async () => {
    const steady = 'steady-too.example.com';
    await client.apply(DNSData, hosts('steady-too', [['10.0.5.1', steady]]));
    await eventually(
      () => dnsmasq.answer(steady),
      (found) => found === '10.0.5.1',
    );
    const many = (shift: number): [string, string][] =>
      Array.from({ length: 5_000 }, (_, i) => [
        `10.1.${(i + shift) >> 8}.${(i + shift) & 255}`,
        `many-${i}.example.com`,
      ]);
    let isOver = false;
    const answers = new Set<string>();
    const asking = (async () => {
      while (!isOver) answers.add(await dnsmasq.answer(steady));
    })();
    try {
      for (const shift of [0, 1, 5_000]) {
        await client.apply(DNSData, hosts('many', many(shift)));
        for (const i of [0, 2_500, 4_999]) {
          await eventually(
            () => dnsmasq.answer(`many-${i}.example.com`),
            (found) => found === many(shift)[i]?.[0],
          );
        }
      }
    } finally {
      isOver = true;
      await asking;
    }
    assert.deepEqual([...answers], ['10.0.5.1']);
    await client.delete(DNSData, { namespace: NAMESPACE, name: 'many' });
  });

  test('what is no host is left out, also where somebody wrote the ConfigMap, and the rest is served', async () => {
    const metadata = { name: 'mine', namespace: NAMESPACE, labels: { dnsmasqhosts: 'dnsdata' } };
    const text = 'nonsense bad.example.com\n10.0.2.2 good.example.com b\u0000d\n';
    await client.create(ConfigMap, { metadata, data: { mine: text } });
    await eventually(
      () => dnsmasq.answer('good.example.com'),
      (found) => found === '10.0.2.2',
    );
    assert.notEqual(await dnsmasq.answer('bad.example.com'), '10.0.2.2');
  });

  test('names of Services that nobody has are answered here, by the option that admission adds', async () => {
    const { spec } = (await client.get(DNSMasq, 'dns', NAMESPACE)) ?? assert.fail();
    assert.deepEqual(spec.options, [{ key: 'local', values: [`/${NAMESPACE}.svc/`] }]);
    assert.equal(await dnsmasq.answer('nothing.default.svc'), 'ENOTFOUND');
  });

  test('a DNSData with a name longer than labels are is served as any other', async () => {
    const name = 'long'.repeat(20);
    await client.apply(DNSData, hosts(name, [['10.0.6.6', 'long.example.com']]));
    await eventually(
      () => dnsmasq.answer('long.example.com'),
      (found) => found === '10.0.6.6',
    );
  });

  test('what the server would never accept is in the condition, in its words', async () => {
    const messageOf = async (kind: typeof DNSMasq | typeof DNSData, name: string): Promise<string> =>
      (await client.get<DNSMasq | DNSData>(kind, name, NAMESPACE))?.status?.conditions?.[0]?.message ?? '';
    const spec = { replicas: 1, dnsDataLabelSelectorValue: 'none' };
    const override = { service: { spec: { type: 'Nonsense' as never } } };
    await client.create(DNSMasq, { metadata: { name: 'odd', namespace: NAMESPACE }, spec: { ...spec, override } });
    const dnsDataLabelSelectorValue = 'no label!';
    const unlabelled = { ...spec, dnsDataLabelSelectorValue };
    await client.create(DNSMasq, { metadata: { name: 'unlabelled', namespace: NAMESPACE }, spec: unlabelled });
    await client.create(DNSData, {
      metadata: { name: 'lost', namespace: NAMESPACE },
      spec: { dnsDataLabelSelectorValue },
    });
    for (const [kind, name, words] of [
      [DNSMasq, 'odd', /Service "dnsmasq-odd" is invalid: spec.type: Unsupported value: "Nonsense"/],
      [DNSMasq, 'unlabelled', /spec.dnsDataLabelSelectorValue: "no label!": a valid label must/],
      [DNSData, 'lost', /ConfigMap "lost" is invalid: metadata.labels: Invalid value: "no label!"/],
    ] as const) {
      await eventually(
        () => messageOf(kind, name),
        (message) => words.test(message),
      );
    }
  });

  test('a helper that starts anew removes what has gone meanwhile', async () => {
    await client.apply(DNSData, hosts('passing', [['10.0.3.3', 'passing.example.com']]));
    await eventually(
      () => dnsmasq.answer('passing.example.com'),
      (found) => found === '10.0.3.3',
    );
    await stopHelper();
    await client.delete(DNSData, { namespace: NAMESPACE, name: 'passing' });
    assert.equal(await dnsmasq.answer('passing.example.com'), '10.0.3.3');
    const selector = 'dnsmasqhosts=dnsdata';
    await eventually(
      () => client.list(ConfigMap, NAMESPACE),
      (all) => all.every(({ metadata }) => metadata.name !== 'passing'),
    );
    stopHelper = await keepHosts({
      client,
      system,
      log: silentLog,
      namespace: NAMESPACE,
      selector,
      folder: dnsmasq.folder,
    });
    await eventually(
      () => dnsmasq.answer('passing.example.com'),
      (found) => found !== '10.0.3.3',
    );
    assert.equal(await dnsmasq.answer('steady.example.com'), '10.0.0.1');
  });
});
