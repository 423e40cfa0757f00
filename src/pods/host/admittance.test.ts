import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Node } from '../../api/core/node.ts';
import { Pod, type PodSpec } from '../../api/core/pod.ts';
import { ALLOCATABLE } from './pod.fixture.ts';
import { main, NAMESPACE, NODE, SimulatedHost } from './pod-host.fixture.ts';

const asking = (cpu: string) => [main('serve', { resources: { requests: { cpu } } })];
const phaseOf = (host: SimulatedHost, pod: string): string | undefined => host.find(pod)?.status?.phase;
const isRunning = (host: SimulatedHost, pod: string) => () => phaseOf(host, pod) === 'Running';
const isFailed = (host: SimulatedHost, pod: string) => () => phaseOf(host, pod) === 'Failed';

describe('a pod that comes to a host past the scheduler', () => {
  test('fails when the Node has too little left for it, before anything of it is started', async (t) => {
    const host = await SimulatedHost.create(t);
    await host.pod('first', asking('3'));
    await host.pod('second', asking('1500m'));
    await host.pod('third', asking('1'));
    await host.until(isFailed(host, 'second'));
    await host.until(isRunning(host, 'first'));
    // What was refused takes nothing.
    await host.until(isRunning(host, 'third'));
    const { status } = host.the('second');
    const message = "Node didn't have enough resource: cpu, requested: 1500, used: 3000, capacity: 4000";
    assert.deepEqual([status?.reason, status?.message], ['OutOfcpu', `Pod was rejected: ${message}`]);
    assert.equal(status?.containerStatuses, undefined);
    assert.deepEqual(host.events('second'), [`Warning OutOfcpu: ${message}`]);
    assert.ok(!host.runtime.calls.includes('sandbox second'));
    await host.delete('second');
    await host.until(() => host.find('second') === undefined);
  });

  test('fails when it is meant for other labels, or for a port that is taken', async (t) => {
    const host = await SimulatedHost.create(t);
    const web = [main('serve', { ports: [{ containerPort: 80 }] })];
    await host.pod('odd', [main('serve')], { nodeSelector: { disk: 'ssd' } });
    await host.pod('web', web, { hostNetwork: true });
    await host.pod('late', web, { hostNetwork: true });
    await host.pod('own', web);
    await host.until(() => ['odd', 'late'].every((name) => phaseOf(host, name) === 'Failed'));
    assert.equal(host.the('odd').status?.reason, 'NodeAffinity');
    assert.equal(host.the('late').status?.reason, 'NodePorts');
    for (const name of ['web', 'own']) await host.until(isRunning(host, name));
  });

  test('finds the Node as it is by then, and as much room as others have left', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('once', { ends: { after: 1_000, exitCode: 0 } });
    const all = [main('once', { resources: { requests: { cpu: '4' } } })];
    await host.pod('job', all, { restartPolicy: 'Never' });
    await host.until(() => phaseOf(host, 'job') === 'Succeeded');
    await host.pod('after', asking('4'));
    await host.until(isRunning(host, 'after'));
    await host.delete('after');
    await host.until(() => host.find('after') === undefined);
    await host.has({ ...ALLOCATABLE, cpu: '8' }, { disk: 'ssd' });
    await host.pod('large', asking('8'), { nodeSelector: { disk: 'ssd' } });
    await host.until(isRunning(host, 'large'));
  });

  test('waits, and nothing is said of it, while there is no Node or it does not say what it has', async (t) => {
    const host = await SimulatedHost.create(t);
    await host.world.client.delete(Node, { namespace: '', name: NODE });
    await host.pod('web', asking('1'));
    await host.settle(5_000);
    assert.equal(host.the('web').status?.startTime, undefined);
    await host.world.client.create(Node, { metadata: { name: NODE }, spec: {} });
    await host.settle(5_000);
    assert.deepEqual(host.runtime.calls, []);
    await host.has(ALLOCATABLE);
    await host.until(isRunning(host, 'web'));
  });

  test('is not refused for what the Node said under an agent before', async (t) => {
    const host = await SimulatedHost.create(t);
    host.isNodeUpToDate = ({ metadata }) => metadata.labels?.['disk'] === 'ssd';
    await host.pod('large', asking('8'));
    await host.pod('small', asking('1'));
    await host.until(isRunning(host, 'small'));
    assert.equal(phaseOf(host, 'large'), undefined);
    await host.delete('small');
    await host.until(() => host.find('small') === undefined);
    await host.has({ ...ALLOCATABLE, cpu: '8' }, { disk: 'ssd' });
    await host.until(isRunning(host, 'large'));
    await host.pod('larger', asking('9'));
    await host.until(isFailed(host, 'larger'));
  });

  test('may be taken back while it waits', async (t) => {
    const host = await SimulatedHost.create(t);
    await host.world.client.delete(Node, { namespace: '', name: NODE });
    await host.pod('web', asking('1'));
    await host.settle(1_000);
    await host.delete('web');
    await host.until(() => host.find('web') === undefined);
    await host.has(ALLOCATABLE);
    await host.pod('all', asking('4'));
    await host.until(isRunning(host, 'all'));
  });
});

describe('a pod that has begun on a host', () => {
  const begun = async (host: SimulatedHost, spec: Partial<PodSpec> = {}): Promise<void> => {
    await host.pod('web', asking('3'), spec);
    await host.until(isRunning(host, 'web'));
    await host.quit();
  };

  test('goes on under the next agent whatever the Node says by now, and comes before those that are new', async (t) => {
    const host = await SimulatedHost.create(t);
    await host.has(ALLOCATABLE, { disk: 'ssd' });
    await begun(host, { nodeSelector: { disk: 'ssd' } });
    await host.has({ ...ALLOCATABLE, cpu: '3' }, { disk: 'hdd' });
    await host.pod('another', asking('1'));
    await host.begin();
    await host.until(isFailed(host, 'another'));
    assert.equal(host.the('another').status?.reason, 'OutOfcpu');
    await host.settle(10_000);
    assert.equal(host.state('web'), 'Running');
    assert.equal(host.status('web').restartCount, 0);
  });

  test('goes on after the machine was started anew, also if its status tells nothing of it', async (t) => {
    const host = await SimulatedHost.create(t);
    await begun(host);
    host.runtime.lose();
    await host.has({ ...ALLOCATABLE, cpu: '1' });
    const web = { namespace: NAMESPACE, name: 'web' };
    const status = Object.fromEntries(Object.keys(host.the('web').status ?? {}).map((field) => [field, null]));
    await host.world.client.patch(Pod, web, { merge: { status } }, 'status');
    await host.begin();
    await host.until(() => host.runtime.calls.filter((call) => call === 'sandbox web').length === 2);
    await host.settle(1_000);
    assert.equal(phaseOf(host, 'web'), 'Running');
  });
});
