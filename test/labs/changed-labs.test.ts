import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { RunningNetloom } from '../end-to-end/netloom.ts';
import { LabInTest, noLabs } from './lab-in-test.ts';
import { Witness } from './witness.ts';

const LAB = `
switches:
  rack: { subnet: 10.91.7.0/24 }
hosts:
  '@a': { links: { eth0: rack, eth1: { switch: rack, address: none } }, labels: { role: old, zone: x } }
  '@b': { links: { eth0: rack } }
`;

const OTHER = `
switches:
  rack: { subnet: 10.91.7.0/24 }
  spine:
hosts:
  '@a':
    links: { eth0: { switch: rack, rate: 50mbit, loss: 2% }, eth1: { switch: spine, address: 10.91.8.1/24 } }
    labels: { role: new }
    taints: [busy=yes:PreferNoSchedule]
    resources: { cpu: 3, pods: 7, example.com/cards: 2 }
  '@b': { links: { eth0: rack } }
  '@c': { links: { eth0: rack } }
`;

describe('labs whose files say something else', { skip: noLabs }, () => {
  const witness = new Witness();
  let lab: LabInTest;
  let a: string;
  let b: string;
  let c: string;
  before(async () => {
    lab = await LabInTest.start(LAB);
    [a, b, c] = [lab.host('a'), lab.host('b'), lab.host('c')];
    for (const host of [a, b]) await lab.ok('create -f -', witness.pod(`on-${host}`, { nodeName: host }));
    await lab.ok(`wait pod/on-${a} pod/on-${b} --for=condition=Ready --timeout=60s`);
  });
  after(async () => {
    await lab?.stop();
    witness.remove();
  });

  const node = async (name: string) => JSON.parse(await lab.ok(`get node ${name} -o json`));
  /** Somebody answers there, if only that nobody listens. */
  const reaches = async (from: string, to: string): Promise<boolean> =>
    /ConnectionRefused/.test((await lab.on(from, ['python3', '-c', CONNECT, to])).stderr);

  const taintsOf = async (name: string): Promise<string[]> =>
    ((await node(name)).spec.taints ?? []).map(({ key }: { key: string }) => key).sort();

  test('become what the file says, and pods on hosts that stay run on', async () => {
    const ran = witness.running();
    await lab.ok(`taint node ${a} by-hand=yes:PreferNoSchedule`);
    await lab.upAgain(OTHER);
    assert.deepEqual(witness.running(), ran);

    const { metadata, spec } = await node(a);
    assert.equal(metadata.labels.role, 'new');
    assert.equal(metadata.labels.zone, undefined);
    assert.ok(spec.taints.some(({ key, value }: { key: string; value: string }) => key === 'busy' && value === 'yes'));
    assert.deepEqual(await taintsOf(a), ['busy', 'by-hand']);
    const { allocatable } = await lab.eventually(
      async () => (await node(a)).status,
      (status) => status.allocatable.pods === '7',
    );
    assert.deepEqual([allocatable.cpu, allocatable['example.com/cards']], ['3', '2']);
    assert.notEqual((await node(b)).status.allocatable.pods, '7');

    assert.match(
      await lab.run(['lab', 'status', lab.name]),
      new RegExp(`^${a}:eth0 +rack +yes .* rate 50mbit, loss 2%`, 'm'),
    );
    assert.match((await lab.on(a, ['ip', '-o', 'address', 'show', 'eth1'])).stdout, /inet 10\.91\.8\.1\/24/);
    await lab.becomesReady(c, true);
    await lab.ok('create -f -', witness.pod('on-c', { nodeName: c }));
    await lab.ok('wait pod/on-c --for=condition=Ready --timeout=60s');
    assert.ok(await reaches(c, '10.91.7.10'));
  });

  test('lose what is gone, links, switches and hosts, with all that ran there', async () => {
    const ran = witness.running().filter(({ host }) => host !== c);
    await lab.upAgain();
    assert.deepEqual(witness.running(), ran);
    assert.deepEqual((await lab.kubectl(`get node,lease,pods ${c} on-c`)).stdout, '');
    const names = (await lab.on(a, ['ls', '/proc/sys/net/ipv4/conf'])).stdout.split('\n');
    assert.ok(names.includes('eth1') && !names.includes('spine'));
    assert.equal((await lab.on(a, ['ip', '-4', '-o', 'address', 'show', 'eth1'])).stdout, '');
    assert.doesNotMatch(await lab.run(['lab', 'status', lab.name]), /rate|loss|spine/);
    assert.ok(await reaches(a, '10.91.7.11'));
    assert.equal((await node(a)).metadata.labels.role, 'old');
    assert.deepEqual(await taintsOf(a), ['by-hand']);
  });

  test('have the Nodes that somebody deletes again', async () => {
    await lab.ok(`delete node ${a}`);
    await lab.eventually(
      () => lab.run(['lab', 'status', lab.name]),
      (status) => new RegExp(`^${a} +Ready `, 'm').test(status),
    );
    await lab.upAgain();
    assert.equal((await node(a)).metadata.labels.role, 'old');
    await lab.ok('create -f -', witness.pod('afterwards', { nodeName: a }));
    await lab.ok('wait pod/afterwards --for=condition=Ready --timeout=60s');
  });

  test('may be beside another one with hosts of the same names, when that has an API of its own', async () => {
    const twin = `${lab.name}-2`;
    const text = `lab: ${twin}\nhosts: [${a}]`;
    const { code, stderr } = await lab.tried(['lab', 'up', '-'], text);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`the host ${a} of the lab ${lab.name} is a Node of the same cluster: rename one`));
    assert.doesNotMatch(stderr, /kubectl delete node/);

    const ran = witness.running();
    const other = await RunningNetloom.start('up');
    try {
      await lab.run(['lab', 'up', '-', '--kubeconfig', other.kubeconfig], text);
      const ambiguous = await lab.tried(['lab', 'exec', a, '--', 'true']);
      assert.match(
        ambiguous.stderr,
        new RegExp(`several labs have a host ${a}: say which of ${lab.name}/${a}, ${twin}/${a} is meant`),
      );
      assert.equal(await lab.run(['lab', 'exec', `${twin}/${a}`, '--', 'sh', '-c', 'echo $NETLOOM_LAB']), `${twin}\n`);
      await lab.run(['lab', 'kill', `${twin}/${a}`]);
      assert.match(await lab.run(['lab', 'status', twin]), new RegExp(`^${a} +Dead `, 'm'));
      assert.deepEqual(witness.running(), ran);
    } finally {
      await lab.run(['lab', 'down', twin]);
      await other.stopAndRemove();
    }
    assert.deepEqual(witness.running(), ran);
    assert.equal(await lab.ok('exec afterwards -- echo here'), 'here\n');
  });
});

const CONNECT = 'import socket, sys; socket.create_connection((sys.argv[1], 1), 10)';
