import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Namespace } from '../api/core/namespace.ts';
import { Node } from '../api/core/node.ts';
import { Pod } from '../api/core/pod.ts';
import { Lab, NAMESPACE } from './lab.fixture.ts';
import { conditionOf } from './pod-state.ts';

const asks = (cpu: string) => ({ containers: [{ name: 'main', resources: { requests: { cpu } } }] });

async function labOf(...hosts: string[]): Promise<Lab> {
  const lab = new Lab();
  lab.start();
  for (const name of hosts) lab.host(name, { allocatable: { cpu: '1', memory: '1Gi', pods: '10' } });
  await lab.settle();
  return lab;
}

describe('the scheduler', () => {
  it('gives a pod a node, and says so', async () => {
    const lab = await labOf('a');
    await lab.pod('web');
    await lab.settle();
    assert.equal(lab.place('web'), 'a');
    assert.equal(conditionOf(lab.find('web'), 'PodScheduled')?.status, 'True');
    assert.deepEqual(lab.events('web'), ['Normal Scheduled: Successfully assigned default/web to a']);
    await lab.stop();
  });

  it('says why a pod fits nowhere, once, and looks again as soon as there is room', async () => {
    const lab = await labOf('a', 'b');
    await lab.pod('one', asks('800m'));
    await lab.pod('two', asks('800m'));
    await lab.settle();
    await lab.pod('three', asks('500m'));
    await lab.settle();
    const sentence = '0/2 nodes are available: 2 Insufficient cpu.';
    assert.equal(lab.place('three'), sentence);
    assert.equal(conditionOf(lab.find('three'), 'PodScheduled')?.reason, 'Unschedulable');
    assert.deepEqual(lab.events('three'), [`Warning FailedScheduling: ${sentence}`]);
    const before = lab.requests('patch pods');
    await lab.settle(600_000);
    assert.equal(lab.requests('patch pods') - before, 0, 'nothing is tried while nothing changes');
    const freed = String(lab.find('one').spec.nodeName);
    await lab.world.client.delete(Pod, { namespace: NAMESPACE, name: 'one' });
    await lab.settle();
    assert.equal(lab.place('three'), freed);
    await lab.stop();
  });

  it('keeps away from cordoned nodes, and comes back when they are open again', async () => {
    const lab = await labOf('a');
    const cordon = (unschedulable: boolean | null) =>
      lab.world.client.patch(Node, { namespace: '', name: 'a' }, { merge: { spec: { unschedulable } } });
    await cordon(true);
    await lab.settle();
    assert.deepEqual(
      lab.node('a').spec.taints?.map(({ key, effect }) => `${key}:${effect}`),
      ['node.kubernetes.io/unschedulable:NoSchedule'],
    );
    await lab.pod('web');
    await lab.settle();
    assert.equal(lab.place('web'), '0/1 nodes are available: 1 node(s) were unschedulable.');
    await cordon(null);
    await lab.settle();
    assert.equal(lab.place('web'), 'a');
    assert.equal(lab.node('a').spec.taints, undefined);
    await lab.stop();
  });

  it('takes those of higher priority first', async () => {
    const lab = new Lab();
    await lab.pod('low', asks('800m'));
    await lab.pod('high', { ...asks('800m'), priority: 10 });
    lab.start();
    lab.host('a', { allocatable: { cpu: '1', memory: '1Gi', pods: '10' } });
    await lab.settle(5_000);
    assert.equal(lab.place('high'), 'a');
    assert.equal(lab.place('low'), '0/1 nodes are available: 1 Insufficient cpu.');
    await lab.stop();
  });

  it('leaves pods alone that wait at a gate, and those of other schedulers', async () => {
    const lab = await labOf('a');
    await lab.pod('gated', { schedulingGates: [{ name: 'quota' }] });
    await lab.pod('foreign', { schedulerName: 'other' });
    await lab.settle();
    assert.equal(conditionOf(lab.find('gated'), 'PodScheduled')?.reason, 'SchedulingGated');
    assert.equal(lab.place('foreign'), 'nothing said');
    await lab.world.client.patch(
      Pod,
      { namespace: NAMESPACE, name: 'gated' },
      { merge: { spec: { schedulingGates: null } } },
    );
    await lab.settle();
    assert.equal(lab.place('gated'), 'a');
    await lab.stop();
  });

  it('joins a pod to the company that it waits for', async () => {
    const lab = await labOf('a', 'b');
    const term = { labelSelector: { matchLabels: { app: 'db' } }, topologyKey: 'kubernetes.io/hostname' };
    await lab.pod('web', { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } });
    await lab.settle();
    assert.equal(lab.place('web'), "0/2 nodes are available: 2 node(s) didn't match pod affinity rules.");
    await lab.pod('db', {}, { app: 'db' });
    await lab.settle();
    assert.equal(lab.place('web'), lab.place('db'));
    await lab.stop();
  });

  it('looks again when another namespace gets the label of those whose company a pod wants', async () => {
    const lab = await labOf('a', 'b');
    const { client } = lab.world;
    await client.create(Namespace, { metadata: { name: 'data' } });
    await client.create(Pod, {
      metadata: { name: 'db', namespace: 'data', labels: { app: 'db' } },
      spec: { nodeName: 'b', containers: [{ name: 'main' }] },
    });
    const namespaceSelector = { matchLabels: { open: 'yes' } };
    const labelSelector = { matchLabels: { app: 'db' } };
    const term = { labelSelector, namespaceSelector, topologyKey: 'kubernetes.io/hostname' };
    await lab.pod('web', { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } });
    await lab.settle();
    assert.equal(lab.place('web'), "0/2 nodes are available: 2 node(s) didn't match pod affinity rules.");
    const merge = { metadata: { labels: { open: 'yes' } } };
    await client.patch(Namespace, { namespace: '', name: 'data' }, { merge });
    await lab.settle();
    assert.equal(lab.place('web'), 'b');
    await lab.stop();
  });

  it('looks again at those that gave way to a pod which is gone before it is there', async () => {
    const lab = new Lab();
    lab.start({ faults: { delay: [50, 50] } });
    lab.host('a', { allocatable: { cpu: '1', memory: '1Gi', pods: '10' } });
    await lab.settle(5_000);
    await lab.pod('before', asks('800m'));
    await lab.settle();
    await lab.pod('first', { ...asks('800m'), priority: 10 });
    await lab.pod('second', asks('800m'));
    await lab.settle();
    await lab.world.client.delete(Pod, { namespace: NAMESPACE, name: 'before' });
    while (lab.pods().length > 2) await lab.settle(1);
    // The place is for the first one, and its binding on its way.
    await lab.settle(20);
    assert.equal(lab.find('first').spec.nodeName, undefined);
    await lab.world.client.delete(Pod, { namespace: NAMESPACE, name: 'first' });
    await lab.settle();
    assert.equal(lab.place('second'), 'a');
    await lab.stop();
  });

  it('of two schedulers one places a pod', async () => {
    const lab = await labOf('a', 'b');
    lab.start();
    await lab.settle();
    for (let i = 0; i < 10; i += 1) await lab.pod(`p${i}`);
    await lab.settle();
    for (let i = 0; i < 10; i += 1) assert.match(lab.place(`p${i}`), /^[ab]$/);
    await lab.stop();
  });
});
