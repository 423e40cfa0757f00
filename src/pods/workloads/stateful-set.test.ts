import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storm } from '../../../test/simulation/faults.ts';
import { ControllerRevision } from '../../api/apps/workloads.ts';
import { Pod } from '../../api/core/pod.ts';
import { NAMESPACE } from '../lab.fixture.ts';
import { isReady } from '../pod-state.ts';
import { Workloads } from './workloads.fixture.ts';

async function lab(seed = 1): Promise<Workloads> {
  const workloads = new Workloads({ seed });
  workloads.start();
  for (const name of ['a', 'b', 'c']) workloads.host(name);
  await workloads.settle();
  return workloads;
}

describe('a StatefulSet', () => {
  it('makes its pods in order, with names for life', async () => {
    const workloads = await lab();
    await workloads.serveStateful('db');
    const seen: string[] = [];
    for (let i = 0; i < 100; i += 1) {
      await workloads.settle(20);
      const unready = workloads.pods().filter((pod) => !isReady(pod));
      assert.ok(unready.length <= 1, 'one at a time');
      for (const { metadata } of workloads.pods()) if (!seen.includes(metadata.name)) seen.push(metadata.name);
    }
    assert.deepEqual(seen, ['db-0', 'db-1', 'db-2']);
    const { spec, metadata } = workloads.find('db-1');
    assert.deepEqual([spec.hostname, spec.subdomain], ['db-1', 'db']);
    assert.equal(metadata.labels?.['statefulset.kubernetes.io/pod-name'], 'db-1');
    assert.equal(metadata.labels?.['apps.kubernetes.io/pod-index'], '1');
    const { status } = workloads.statefulSet('db');
    assert.deepEqual([status?.readyReplicas, status?.updatedReplicas, status?.currentReplicas], [3, 3, 3]);
    await workloads.stop();
  });

  it('makes them all at once where that is wished, and numbers them from where it is told', async () => {
    const workloads = await lab();
    await workloads.serveStateful('db', { podManagementPolicy: 'Parallel', ordinals: { start: 5 } });
    await workloads.settle(30);
    assert.deepEqual(workloads.names(), ['db-5 1', 'db-6 1', 'db-7 1']);
    await workloads.stop();
  });

  it('renews them from the last on, one by one, down to the partition', async () => {
    const workloads = await lab();
    await workloads.serveStateful('db', { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } });
    await workloads.settle(3_000);
    await workloads.changeStateful('db', { version: '2' });
    const order: string[] = [];
    for (let i = 0; i < 200; i += 1) {
      await workloads.settle(20);
      assert.ok(workloads.available().length >= 2, 'one at a time');
      for (const name of workloads.names()) if (name.endsWith(' 2') && !order.includes(name)) order.push(name);
    }
    assert.deepEqual(order, ['db-2 2', 'db-1 2']);
    assert.deepEqual(workloads.names(), ['db-0 1', 'db-1 2', 'db-2 2']);
    await workloads.world.client.delete(Pod, { namespace: NAMESPACE, name: 'db-0' });
    await workloads.settle(3_000);
    assert.deepEqual(workloads.names(), ['db-0 1', 'db-1 2', 'db-2 2'], 'below it they stay as they were');
    await workloads.changeStateful('db', {
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    });
    await workloads.settle(3_000);
    assert.deepEqual(workloads.names(), ['db-0 2', 'db-1 2', 'db-2 2']);
    const { status } = workloads.statefulSet('db');
    assert.equal(status?.currentRevision, status?.updateRevision);
    assert.deepEqual(
      workloads.world.api.objects(ControllerRevision).map(({ revision }) => revision),
      [1, 2],
    );
    await workloads.stop();
  });

  it('leaves it to people to delete them where that is wished', async () => {
    const workloads = await lab();
    await workloads.serveStateful('db', { updateStrategy: { type: 'OnDelete' } });
    await workloads.settle(3_000);
    await workloads.changeStateful('db', { version: '2' });
    await workloads.settle(3_000);
    assert.deepEqual(workloads.names(), ['db-0 1', 'db-1 1', 'db-2 1']);
    await workloads.world.client.delete(Pod, { namespace: NAMESPACE, name: 'db-1' });
    await workloads.settle(3_000);
    assert.deepEqual(workloads.names(), ['db-0 1', 'db-1 2', 'db-2 1']);
    await workloads.stop();
  });

  it('ends them from the last on', async () => {
    const workloads = await lab();
    await workloads.serveStateful('db');
    await workloads.settle(3_000);
    await workloads.changeStateful('db', { replicas: 1 });
    const seen = new Set<string>();
    for (let i = 0; i < 100; i += 1) {
      await workloads.settle(20);
      seen.add(workloads.names().join(', '));
    }
    assert.deepEqual(
      [...seen],
      [
        'db-0 1, db-1 1, db-2 1 ending',
        'db-0 1, db-1 1, db-2 1',
        'db-0 1, db-1 1',
        'db-0 1, db-1 1 ending',
        'db-0 1',
      ].filter((state) => seen.has(state)),
    );
    assert.deepEqual(workloads.names(), ['db-0 1']);
    await workloads.stop();
  });

  it('gets over a broken template when that is taken back', async () => {
    const workloads = await lab();
    await workloads.serveStateful('db');
    await workloads.settle(3_000);
    const broken = { template: { metadata: { annotations: { 'test/unready': 'true' } } } };
    await workloads.changeStateful('db', broken as never);
    await workloads.settle(3_000);
    assert.equal(workloads.available().length, 2);
    await workloads.changeStateful('db', { template: { metadata: { annotations: null } } } as never);
    await workloads.settle(3_000);
    assert.equal(workloads.available().length, 3);
    await workloads.stop();
  });

  it('has no successor run beside a pod whose host is silent, and says what that waits for', async () => {
    const workloads = await lab();
    await workloads.serveStateful('db');
    await workloads.settle(3_000);
    const { spec, metadata } = workloads.find('db-1');
    const node = spec.nodeName ?? '';
    await workloads.cut(node);
    await workloads.world.client.delete(Pod, { namespace: NAMESPACE, name: 'db-1' }, { gracePeriodSeconds: 5 });
    await workloads.settle(120_000);
    assert.equal(workloads.find('db-1').metadata.uid, metadata.uid);
    assert.match(
      workloads.events('db').join('\n'),
      new RegExp(`Warning PodMayStillRun: Pod db-1 should have ended, but nothing is heard of its node ${node}`),
    );
    workloads.host(node);
    await workloads.settle(60_000);
    assert.notEqual(workloads.find('db-1').metadata.uid, metadata.uid);
    assert.equal(workloads.available().length, 3);
    await workloads.stop();
  });

  it('refuses volumes that nobody here gives, in words', async () => {
    const workloads = await lab();
    await workloads.serveStateful('db', { volumeClaimTemplates: [{ metadata: { name: 'data' } }] });
    await workloads.settle(3_000);
    assert.deepEqual(workloads.names(), []);
    assert.match(workloads.events('db').join(), /Warning FailedCreate: spec\.volumeClaimTemplates asks for volumes/);
    assert.equal(workloads.statefulSet('db').status?.conditions?.[0]?.reason, 'VolumesNotSupported');
    await workloads.stop();
  });

  for (const seed of [1, 2, 3]) {
    it(`comes to its end in a storm, though two believe that they lead (seed ${seed})`, async () => {
      const workloads = new Workloads({ seed });
      const { clock } = workloads.world;
      // Whoever leads without hearing anything for minutes believes in the past for minutes: that is not for here.
      const faults = { ...storm, silentWatch: 0 };
      workloads.start({ faults });
      workloads.start({ faults });
      for (const name of ['a', 'b', 'c']) workloads.host(name);
      await workloads.settle(5_000);
      await workloads.serveStateful('db');
      for (let i = 1; i <= 6; i += 1) {
        await workloads.settle(Math.floor(clock.random() * 20_000));
        await workloads.changeStateful('db', { version: String(i), replicas: Math.floor(clock.random() * 5) });
      }
      await workloads.settle(240_000);
      const wanted = workloads.statefulSet('db').spec.replicas ?? 0;
      assert.deepEqual(
        workloads.names(),
        Array.from({ length: wanted }, (_, i) => `db-${i} 6`),
      );
      await workloads.stop();
    });
  }
});
