import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Pod } from '../../src/api/core/pod.ts';
import { LabInTest, noLabs } from './lab-in-test.ts';
import { type Seen, Witness } from './witness.ts';

const LAB = `
switches:
  rack: { subnet: 10.91.2.0/24 }
hosts: ['@a', '@b']
`;

describe('links that are cut', { skip: noLabs }, () => {
  const witness = new Witness();
  let lab: LabInTest;
  let a: string;
  let b: string;
  /** A pod that says `here` to whoever connects to its port 80. */
  let server: { name: string; address: string };
  /** The uid of a pod on the other host. */
  let client: string;
  before(async () => {
    lab = await LabInTest.start(LAB);
    [a, b] = [lab.host('a'), lab.host('b')];
    await lab.ok('create -f -', listening('server', a));
    await lab.ok('create -f -', witness.pod('client', { nodeName: b, ...PATIENT }));
    await lab.ok('wait pod/server pod/client --for=condition=Ready --timeout=60s');
    server = { name: 'server', address: await lab.ok('get pod server -o jsonpath={.status.podIP}') };
    client = await lab.ok('get pod client -o jsonpath={.metadata.uid}');
  });
  after(async () => {
    await lab?.stop();
    witness.remove();
  });
  beforeEach(async () => {
    await lab.run(['lab', 'heal', a]);
    await lab.run(['lab', 'heal', b]);
    for (const host of [a, b]) await lab.becomesReady(host, true);
  });

  /** Asks from the network of the other pod, by no way that leads through the API. */
  const answered = async (): Promise<boolean> => {
    const script = 'import socket, sys; print(socket.create_connection((sys.argv[1], 80), 3).recv(9).decode(), end="")';
    const { stdout } = await lab.inPod(client, ['python3', '-c', script, server.address]);
    return stdout === 'here';
  };
  const livingPods = async (app: string): Promise<Seen[]> =>
    (JSON.parse(await lab.ok(`get pods -l app=${app} -o json`)).items as Pod[])
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata, spec }) => ({ pod: metadata.uid, host: spec.nodeName ?? '' }));

  test('without its management link a host is lost, though its pods and their network go on; nothing begins anew when it is healed', async () => {
    const ran = witness.running();
    await lab.run(['lab', 'cut', a, 'management']);
    await lab.becomesReady(a, false);

    assert.equal(await answered(), true, 'pods do not reach each other any more');
    assert.deepEqual(witness.running(), ran);
    const began = Date.now();
    for (const words of [`logs ${server.name}`, `exec ${server.name} -- true`]) {
      const { code, stderr } = await lab.kubectl(words);
      assert.notEqual(code, 0);
      assert.match(stderr, /the agent at 198[\d.]+:10250 cannot be reached: no connection within 10 s/, words);
    }
    assert.ok(Date.now() - began < 100_000, 'a refusal is to come within seconds');

    const healed = Date.now();
    await lab.run(['lab', 'heal', a, 'management']);
    await lab.becomesReady(a, true);
    assert.ok(Date.now() - healed < 30_000, 'a healed host is to be Ready within 3 s');
    assert.equal(await lab.ok(`exec ${server.name} -- echo back`), 'back\n');
    await lab.ok('wait pod/server pod/client --for=condition=Ready --timeout=60s');
    assert.deepEqual(witness.running(), ran);
    assert.equal(await lab.ok('get pod server -o jsonpath={.status.containerStatuses[0].restartCount}'), '0');
  });

  test('pods that do not wait for a lost host are replaced elsewhere, and end where they were when it is healed', async () => {
    await lab.ok('create -f -', witness.deployment('web', 4));
    await lab.ok('rollout status deployment/web --timeout=60s');
    const old = (await livingPods('web')).filter(({ host }) => host === a).map(({ pod }) => pod);
    assert.ok(old.length > 0, 'the scheduler left a host without pods');
    const runs = (pod: string): boolean => witness.running().some((one) => one.pod === pod);

    await lab.run(['lab', 'cut', a, 'management']);
    const now = await lab.eventually(
      () => livingPods('web'),
      (pods) => pods.length === 4 && pods.every(({ host, pod }) => host === b && runs(pod)),
      150,
    );
    assert.ok(old.every(runs), 'nobody can have told them to end');

    const begun = witness.begun().length;
    await lab.run(['lab', 'heal', a]);
    await lab.eventually(
      async () => old.filter(runs),
      (left) => left.length === 0,
    );
    await lab.becomesReady(a, true);
    await lab.ok(`wait pod --for=delete --timeout=60s -l app=web --field-selector=spec.nodeName=${a}`);
    assert.deepEqual(await livingPods('web'), now);
    assert.equal(witness.begun().length, begun, 'something began that had been replaced');
    await lab.ok('delete deployment web --wait=true');
  });

  test('without its data link a host is Ready, but its pods are out of reach until it is healed', async () => {
    assert.equal(await answered(), true);
    await lab.run(['lab', 'cut', a, 'rack']);
    assert.equal(await answered(), false);
    assert.equal(await lab.ok(`exec ${server.name} -- echo still`), 'still\n');
    assert.match(await lab.run(['lab', 'status', lab.name]), new RegExp(`${a}:rack +rack +no`));
    await lab.run(['lab', 'heal', a, 'rack']);
    await lab.eventually(answered, (is) => is);
    await lab.becomesReady(a, true);
  });

  test('what cannot be cut is refused with what can be', async () => {
    const refusal = async (...words: string[]): Promise<string> => {
      const { code, stderr } = await lab.tried(['lab', ...words]);
      assert.equal(code, 1);
      return stderr;
    };
    assert.match(await refusal('cut', a, 'eth7'), new RegExp(`${a} has no .*eth7.*management, rack`));
    assert.match(await refusal('cut', `${a}x`), new RegExp(`there is no host ${a}x.*Did you mean .*${a}`, 'i'));
    await lab.run(['lab', 'kill', b]);
    assert.match(await refusal('cut', b, 'rack'), new RegExp(`${b} is dead.*lab heal ${b}`));
    assert.match(await refusal('exec', b, '--', 'true'), new RegExp(`${b} is dead.*lab heal ${b}`));
    await lab.run(['lab', 'heal', lab.name]);
    assert.equal((await lab.tried(['lab', 'exec', b, '--', 'sh', '-c', 'exit 7'])).code, 7);
  });

  function listening(name: string, host: string): string {
    const script = [
      'import socket',
      's = socket.create_server(("", 80))',
      'while True:',
      '  c = s.accept()[0]; c.sendall(b"here"); c.close()',
    ].join('\n');
    const container = { name: 'c', image: 'none', command: ['python3', '-c', script] };
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { nodeName: host, containers: [container], terminationGracePeriodSeconds: 0, ...PATIENT },
    });
  }
});

/** It stays on its host, however long nothing is heard of it. */
const PATIENT = { tolerations: [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' }] };
