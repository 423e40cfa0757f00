import assert from 'node:assert/strict';
import { test } from 'node:test';
import { main, SimulatedHost } from './pod-host.fixture.ts';

test('a pod that is bound to the host runs, and says so', async (t) => {
  const host = await SimulatedHost.create(t);
  await host.pod('web', [main('serve')]);
  await host.until(() => host.find('web')?.status?.phase === 'Running');

  const { status } = host.the('web');
  assert.equal(host.state('web'), 'Running');
  assert.equal(status?.podIP, '10.244.7.1');
  assert.equal(status?.hostIP, '192.0.2.7');
  for (const type of ['PodReadyToStartContainers', 'Initialized', 'ContainersReady', 'Ready']) {
    assert.equal(host.condition('web', type), 'True');
  }
  assert.match(host.status('web').containerID ?? '', /^netloom:\/\/[0-9a-f]{32}$/);
});

test('a pod that is deleted is asked to end, and gone when it has', async (t) => {
  const host = await SimulatedHost.create(t);
  host.behaviours.set('slow', { stopsWithin: 5_000 });
  await host.pod('web', [main('slow')]);
  await host.until(() => host.find('web')?.status?.phase === 'Running');
  await host.delete('web');
  await host.settle(4_000);
  assert.equal(host.state('web'), 'Running');
  await host.until(() => host.find('web') === undefined);
  assert.deepEqual(host.runtime.calls.slice(2), ['SIGTERM main 0', `remove ${host.runtime.calls.at(-1)?.slice(7)}`]);
  assert.deepEqual([...host.network.attached], []);
});

test('a new agent takes over what runs, without a restart', async (t) => {
  const host = await SimulatedHost.create(t);
  await host.pod('web', [main('serve')]);
  await host.until(() => host.find('web')?.status?.phase === 'Running');
  const before = host.the('web').status;
  await host.quit();
  await host.begin();
  await host.settle(5_000);
  assert.deepEqual(host.the('web').status, before);
  assert.deepEqual(host.runtime.calls, ['sandbox web', 'start main 0']);
});
