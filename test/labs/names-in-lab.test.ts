import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Asked } from './ask-names.ts';
import { LabInTest, noLabs, processesIn } from './lab-in-test.ts';

const ASK = fileURLToPath(new URL('ask-names.ts', import.meta.url));
const SERVER = '192.168.122.80';
const SECOND = '192.168.122.85';
const HOST = 'edpm-compute-0.ctlplane';
const SERVICE = 'keystone-internal.default.svc';

/** The processes of a pod, as they are called: not what starts them again. */
const SERVER_PROGRAM = /^dnsmasq /;
const HELPER = /^\S*node \S+ dns-hosts /;

const LAB = `
switches:
  rack: { subnet: 192.168.122.0/24 }
hosts:
  '@worker-0': { links: { eth0: rack } }
  '@worker-1': { links: { eth0: rack } }
  '@edpm-0': { links: { eth0: rack }, taints: [role=compute:NoSchedule] }
`;

describe('names in a lab, from a real dnsmasq in pods', { skip: noLabs }, () => {
  let lab: LabInTest;
  before(async () => {
    lab = await LabInTest.start(LAB);
    await lab.ok('apply -f examples/dns/');
    await lab.ok('wait dnsmasq/dns --for=condition=Ready --timeout=60s');
    await lab.ok('rollout status deployment/dnsmasq-dns --timeout=60s');
  });
  after(() => lab.stop());

  /** Asks from the compute host while something is done, and a moment longer. */
  const askingWhile = async (name: string, work: () => Promise<unknown>): Promise<Asked> => {
    const end = new AbortController();
    const { promise: asks, resolve: began } = Promise.withResolvers<void>();
    const asking = ask(name, 120, { signal: end.signal, began });
    await Promise.race([asks, asking]);
    await work().finally(() => end.abort());
    return asking;
  };
  const ask = async (
    name: string,
    seconds: number,
    { server = SERVER, ...options }: Parameters<LabInTest['on']>[2] & { server?: string } = {},
  ): Promise<Asked> => {
    const words = [process.execPath, ASK, server, name, String(seconds)];
    const { stdout } = await lab.on(lab.host('edpm-0'), words, options);
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  };
  /** Asked often enough that every server behind the address has its say. */
  const answerOf = async (name: string): Promise<string> => Object.keys((await ask(name, 0.15)).answers).join(' ');
  const becomes = (name: string, wanted: string): Promise<string> =>
    lab.eventually(
      () => answerOf(name),
      (found) => found === wanted,
    );
  const pods = async (): Promise<string> =>
    (await lab.ok('get pods -l service=dnsmasq -o jsonpath={.items[*].metadata.uid}')).split(' ').sort().join(' ');
  const nodeOf = (pod: string): Promise<string> => lab.ok(`get pod ${pod} -o jsonpath={.spec.nodeName}`);
  /** One of the two that there are when those of an earlier roll are gone. */
  const somePod = async (): Promise<string> => {
    const names = await lab.eventually(
      () => lab.ok('get pods -l service=dnsmasq -o jsonpath={.items[*].metadata.name}'),
      (found) => found.split(' ').length === 2,
    );
    return names.split(' ')[0] ?? '';
  };

  test('a compute host resolves a Service to its balanced address, a pod to its ClusterIP', async () => {
    await becomes(SERVICE, '192.168.122.81');
    await lab.ok(
      'apply -f -',
      `{apiVersion: v1, kind: Pod, metadata: {name: asker}, spec: {containers: [{name: a, image: none, command: [sleep, infinity]}]}}`,
    );
    await lab.ok('wait pod/asker --for=condition=Ready --timeout=60s');
    const cluster = await lab.ok('get service keystone-internal -o jsonpath={.spec.clusterIP}');
    const seen = await lab.ok(`exec asker -- getent ahostsv4 ${SERVICE}`);
    assert.deepEqual(
      new Set(
        seen
          .trim()
          .split('\n')
          .map((line) => line.split(/\s+/)[0]),
      ),
      new Set([cluster]),
    );
  });

  test('a changed record is answered without a roll, and no question is lost', async () => {
    await becomes(HOST, '192.168.122.100');
    const before = await pods();
    const patch = (ip: string): Promise<string> =>
      lab.ok(`patch dnsdata somehosts --type=json -p [{"op":"replace","path":"/spec/hosts/0/ip","value":"${ip}"}]`);
    const { answers } = await askingWhile(HOST, async () => {
      await patch('192.168.122.150');
      await becomes(HOST, '192.168.122.150');
    });
    assert.deepEqual(Object.keys(answers).sort(), ['192.168.122.100', '192.168.122.150']);
    assert.equal(await pods(), before);
    await patch('192.168.122.100');
    await becomes(HOST, '192.168.122.100');
  });

  test('changed options roll the pods one by one, and every question is answered', async () => {
    const before = await pods();
    const options = JSON.stringify([{ key: 'host-record', values: ['extra.example.com', '192.0.2.7'] }]);
    const { asked, answers } = await askingWhile(HOST, async () => {
      await lab.ok(`patch dnsmasq dns --type=merge -p {"spec":{"options":${options}}}`);
      await becomes('extra.example.com', '192.0.2.7');
      await lab.ok('rollout status deployment/dnsmasq-dns --timeout=60s');
    });
    assert.deepEqual(answers, { '192.168.122.100': asked });
    assert.notEqual(await pods(), before);
    // Each is on a host of its own again, or both would go with one.
    const hosts = await lab.eventually(
      () => lab.ok('get pods -l service=dnsmasq -o jsonpath={.items[*].spec.nodeName}'),
      (found) => found.split(' ').length === 2,
    );
    assert.equal(new Set(hosts.split(' ')).size, 2);
  });

  test('options that dnsmasq refuses are in the condition in its own words, and the running ones go on', async () => {
    const condition = '{.status.conditions[?(@.type=="DeploymentReady")].message}';
    const { asked, answers } = await askingWhile(HOST, async () => {
      for (const [key, value, words] of [
        ['cname', 'lonely', 'bad CNAME'],
        // This one it takes when it is asked, and refuses when it starts.
        ['auth-zone', 'example.com', '--auth-server required'],
      ]) {
        const options = JSON.stringify([{ key, values: [value] }]);
        await lab.ok(`patch dnsmasq dns --type=merge -p {"spec":{"options":${options}}}`);
        await lab.eventually(
          () => lab.ok(`get dnsmasq dns -o jsonpath=${condition}`),
          (found) => found.includes('dnsmasq does not take the options') && found.includes(`${words}`),
        );
      }
    });
    assert.deepEqual(answers, { '192.168.122.100': asked });
    await lab.ok('patch dnsmasq dns --type=merge -p {"spec":{"options":[]}}');
    await lab.ok('wait dnsmasq/dns --for=condition=Ready --timeout=60s');
    await lab.ok('rollout status deployment/dnsmasq-dns --timeout=60s');
  });

  const onlyRight = ({ answers }: Asked): void => {
    const wrong = Object.keys(answers).filter((answer) => answer !== '192.168.122.100' && /^[0-9]/.test(answer));
    assert.deepEqual(wrong, [], 'an answer was wrong');
    assert.equal(answers['ENOTFOUND'], undefined, 'a host was said not to exist');
  };

  /** Answers go on, or are back before somebody who asks notices. */
  const goOn = ({ longestSilence }: Asked): void =>
    assert.ok(longestSilence < 2_000, `nobody answered for ${longestSilence} ms`);

  test('an agent, the engine: whoever dies, answers go on, and are never wrong', async () => {
    const host = await nodeOf(await somePod());
    const asked = await askingWhile(HOST, async () => {
      await lab.run(['lab', 'kill', host, 'agent']);
      await lab.restartNetloom();
    });
    onlyRight(asked);
    goOn(asked);
    // It is not only the old answers that are still given.
    await lab.ok(
      'patch dnsdata somehosts --type=json -p [{"op":"replace","path":"/spec/hosts/2/ip","value":"192.168.122.177"}]',
    );
    await becomes('edpm-compute-1.ctlplane', '192.168.122.177');
  });

  test('a host that dies takes its dnsmasq with it: the other answers, and another one comes', async () => {
    const host = await nodeOf(await somePod());
    const asked = await askingWhile(HOST, async () => {
      await lab.run(['lab', 'kill', host]);
      await lab.eventually(
        () => lab.ok(`get node ${host} -o jsonpath={.status.conditions[?(@.type=="Ready")].status}`),
        (status) => status !== 'True',
        100,
      );
      await lab.eventually(
        () => lab.ok('get deployment dnsmasq-dns -o jsonpath={.status.readyReplicas}'),
        (ready) => ready === '2',
        100,
      );
    });
    onlyRight(asked);
    goOn(asked);
    await lab.run(['lab', 'heal', host]);
    await lab.becomesReady(host, true);
  });

  test('the only dnsmasq and its helper, killed again and again, are back at once, and answers are never wrong', async () => {
    await lab.ok('patch dnsmasq dns --type=merge -p {"spec":{"replicas":1}}');
    const [pod = ''] = await lab.eventually(
      async () => (await lab.ok('get pods -l service=dnsmasq -o jsonpath={.items[*].metadata.uid}')).split(' '),
      (found) => found.length === 1,
    );
    const running = (words: RegExp): number[] =>
      processesIn(pod).flatMap(({ pid, command }) => (words.test(command) ? [pid] : []));
    const asked = await askingWhile(HOST, async () => {
      for (const words of [SERVER_PROGRAM, HELPER, SERVER_PROGRAM, HELPER, SERVER_PROGRAM, HELPER]) {
        const [killed] = running(words);
        assert.ok(killed !== undefined);
        process.kill(killed, 'SIGKILL');
        const isBack = (): boolean => running(words).some((pid) => pid !== killed);
        await lab.eventually(
          async () => isBack(),
          (found) => found,
        );
        // Soon after one another, but not so soon that it would be a program that cannot start.
        await sleep(2_500);
      }
    });
    onlyRight(asked);
    goOn(asked);
    await lab.ok(
      'patch dnsdata somehosts --type=json -p [{"op":"replace","path":"/spec/hosts/2/ip","value":"192.168.122.178"}]',
    );
    await becomes('edpm-compute-1.ctlplane', '192.168.122.178');
  });

  test('another DNSMasq of the namespace, in the newer form, has its own address, pods and hosts', async () => {
    const override = `{metadata: {annotations: {metallb.io/loadBalancerIPs: ${SECOND}}}, spec: {type: LoadBalancer}}`;
    await lab.ok(
      'apply -f -',
      `{apiVersion: network.openstack.org/v1beta1, kind: DNSMasq, metadata: {name: second}, spec: {dnsDataLabelSelectorValue: Second, override: {service: ${override}}}}`,
    );
    await lab.ok(
      'apply -f -',
      '{apiVersion: network.openstack.org/v1beta1, kind: DNSData, metadata: {name: others}, spec: {dnsDataLabelSelectorValue: SECOND, hosts: [{ip: 192.168.122.200, hostnames: [only.second.example.com]}]}}',
    );
    await lab.ok('wait dnsmasq/second --for=condition=Ready --timeout=60s');
    assert.equal(await lab.ok('get dnsmasq second -o jsonpath={.status.dnsAddresses[*]}'), SECOND);
    const answers = async (server: string, name: string): Promise<string> =>
      Object.keys((await ask(name, 0.15, { server })).answers).join(' ');
    await lab.eventually(
      () => answers(SECOND, 'only.second.example.com'),
      (found) => found === '192.168.122.200',
    );
    assert.equal(await answers(SECOND, HOST), 'EREFUSED');
    assert.equal(await answers(SERVER, 'only.second.example.com'), 'EREFUSED');
    assert.equal(await answers(SECOND, SERVICE), '192.168.122.81');
  });
});
