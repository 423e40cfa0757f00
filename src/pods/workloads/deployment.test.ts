import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Workloads } from './workloads.fixture.ts';

async function lab(seed = 1): Promise<Workloads> {
  const workloads = new Workloads({ seed });
  workloads.start();
  for (const name of ['a', 'b', 'c']) workloads.host(name);
  await workloads.settle();
  return workloads;
}

describe('a Deployment', () => {
  it('has its pods, and says so', async () => {
    const workloads = await lab();
    await workloads.deploy('web');
    await workloads.settle(3_000);
    assert.equal(workloads.available().length, 3);
    const { status, metadata } = workloads.deployment('web');
    assert.equal(status?.availableReplicas, 3);
    assert.equal(status?.updatedReplicas, 3);
    assert.equal(metadata.annotations?.['deployment.kubernetes.io/revision'], '1');
    assert.equal(
      workloads.condition('web', 'Available'),
      'True MinimumReplicasAvailable: Deployment has minimum availability.',
    );
    const [set] = workloads.sets();
    assert.equal(
      workloads.condition('web', 'Progressing'),
      `True NewReplicaSetAvailable: ReplicaSet "${set?.metadata.name}" has successfully progressed.`,
    );
    await workloads.stop();
  });

  it('replaces them step by step', async () => {
    const workloads = await lab();
    await workloads.deploy('web', { replicas: 4 });
    await workloads.settle(3_000);
    await workloads.change('web', { version: '2' });
    let [least, most] = [99, 0];
    for (let i = 0; i < 200; i += 1) {
      await workloads.settle(20);
      least = Math.min(least, workloads.available().length);
      most = Math.max(most, workloads.active().length);
    }
    assert.deepEqual(workloads.versions(), { 2: 4 });
    assert.ok(least >= 3, `${least} served`);
    assert.ok(most <= 5, `there were ${most}`);
    assert.equal(workloads.deployment('web').metadata.annotations?.['deployment.kubernetes.io/revision'], '2');
    await workloads.stop();
  });
});
