import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Faults, storm } from '../../../test/simulation/faults.ts';
import { Deployment, ReplicaSet } from '../../api/apps/workloads.ts';
import { Pod } from '../../api/core/pod.ts';
import { NAMESPACE } from '../lab.fixture.ts';
import { isActive, isTerminating } from '../pod-state.ts';
import { leeway } from './deployment.ts';
import { type DeploymentWishes, Workloads } from './workloads.fixture.ts';

async function lab({ seed = 1, faults = {} }: { seed?: number; faults?: Partial<Faults> } = {}): Promise<Workloads> {
  const workloads = new Workloads({ seed });
  workloads.start({ faults });
  for (const name of ['a', 'b', 'c']) workloads.host(name);
  await workloads.settle();
  return workloads;
}

const REVISION = 'deployment.kubernetes.io/revision';
const rolling = (maxSurge: number | string, maxUnavailable: number | string): DeploymentWishes => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
});

describe('a Deployment', () => {
  it('has its pods, and says so', async () => {
    const workloads = await lab();
    await workloads.deploy('web');
    await workloads.settle(3_000);
    assert.equal(workloads.available().length, 3);
    const { status, metadata } = workloads.deployment('web');
    assert.deepEqual([status?.availableReplicas, status?.updatedReplicas, status?.unavailableReplicas], [3, 3, 0]);
    assert.equal(status?.observedGeneration, metadata.generation);
    assert.equal(metadata.annotations?.[REVISION], '1');
    assert.equal(
      workloads.condition('web', 'Available'),
      'True MinimumReplicasAvailable: Deployment has minimum availability.',
    );
    const [set] = workloads.sets();
    assert.equal(
      workloads.condition('web', 'Progressing'),
      `True NewReplicaSetAvailable: ReplicaSet "${set?.metadata.name}" has successfully progressed.`,
    );
    assert.ok(
      workloads
        .events('web')
        .includes(`Normal ScalingReplicaSet: Scaled up replica set ${set?.metadata.name} from 0 to 3`),
    );
    await workloads.stop();
  });

  it('has nothing to do when nothing changes', async () => {
    const workloads = await lab();
    await workloads.deploy('web');
    await workloads.settle(5_000);
    const asked = () =>
      ['deployments', 'replicasets', 'pods'].flatMap((kind) =>
        ['post', 'patch', 'put', 'delete'].map((verb) => workloads.requests(`${verb} ${kind}`)),
      );
    const before = asked();
    await workloads.settle(120_000);
    assert.deepEqual(asked(), before);
    await workloads.stop();
  });

  it('goes back to a former ReplicaSet when its template comes back, and remembers its revisions', async () => {
    const workloads = await lab();
    await workloads.deploy('web');
    for (const version of ['2', '3', '1']) {
      await workloads.settle(3_000);
      await workloads.change('web', { version });
    }
    await workloads.settle(3_000);
    const revisions = workloads
      .sets()
      .map(({ spec, metadata }) => [
        spec.template?.metadata?.labels?.['version'],
        metadata.annotations?.[REVISION],
        metadata.annotations?.['deployment.kubernetes.io/revision-history'],
      ])
      .sort();
    assert.deepEqual(revisions, [
      ['1', '4', '1'],
      ['2', '2', undefined],
      ['3', '3', undefined],
    ]);
    assert.deepEqual(workloads.versions(), { 1: 3 });
    await workloads.stop();
  });

  it('forgets the oldest revisions beyond its limit', async () => {
    const workloads = await lab();
    await workloads.deploy('web', { revisionHistoryLimit: 2 });
    for (const version of ['2', '3', '4', '5']) {
      await workloads.settle(3_000);
      await workloads.change('web', { version });
    }
    await workloads.settle(3_000);
    assert.deepEqual(
      workloads
        .sets()
        .map(({ metadata }) => metadata.annotations?.[REVISION])
        .sort(),
      ['3', '4', '5'],
    );
    await workloads.stop();
  });

  it('ends all old pods before it makes new ones, where that is wished', async () => {
    const workloads = await lab();
    await workloads.deploy('web', { strategy: { type: 'Recreate' } });
    await workloads.settle(3_000);
    await workloads.change('web', { version: '2' });
    for (let i = 0; i < 100; i += 1) {
      await workloads.settle(20);
      const versions = new Set(workloads.pods().map(({ metadata }) => metadata.labels?.['version']));
      assert.ok(versions.size <= 1, 'of one version at a time, ending ones too');
    }
    assert.deepEqual(workloads.versions(), { 2: 3 });
    await workloads.stop();
  });

  it('grows and shrinks old and new ReplicaSets in proportion while it is paused amid a rollout', async () => {
    const workloads = await lab();
    await workloads.deploy('web', { replicas: 10, ...rolling(3, 2) });
    await workloads.settle(3_000);
    await workloads.change('web', { version: '2' });
    await workloads.settle(10);
    await workloads.change('web', { paused: true });
    await workloads.settle(3_000);
    const sizes = (): number[] => workloads.sets().map(({ spec }) => spec.replicas ?? 0);
    const before = sizes();
    assert.equal(
      before.reduce((a, b) => a + b),
      13,
    );
    await workloads.change('web', { replicas: 20 });
    await workloads.settle(3_000);
    const after = sizes();
    assert.equal(
      after.reduce((a, b) => a + b),
      23,
    );
    for (const [i, size] of after.entries())
      assert.ok(Math.abs(size - ((before[i] ?? 0) * 23) / 13) < 1, `${before} ${after}`);
    assert.equal(workloads.condition('web', 'Progressing'), 'Unknown DeploymentPaused: Deployment is paused');
    await workloads.change('web', { paused: false });
    await workloads.settle(5_000);
    assert.deepEqual(workloads.versions(), { 2: 20 });
    await workloads.stop();
  });

  it('waits for pods to be ready for long enough', async () => {
    const workloads = await lab();
    await workloads.deploy('web', { minReadySeconds: 10 });
    await workloads.settle(5_000);
    assert.equal(workloads.available().length, 3);
    assert.equal(workloads.deployment('web').status?.availableReplicas ?? 0, 0);
    await workloads.settle(10_000);
    assert.equal(workloads.deployment('web').status?.availableReplicas, 3);
    await workloads.stop();
  });

  it('says that it does not get on after its deadline, and that it does when it does', async () => {
    const workloads = await lab();
    await workloads.deploy('web', { progressDeadlineSeconds: 30 });
    await workloads.settle(3_000);
    const annotations = { 'test/unready': 'true' };
    await workloads.change('web', { template: { metadata: { annotations } } } as never);
    await workloads.settle(20_000);
    assert.match(workloads.condition('web', 'Progressing'), /^True ReplicaSetUpdated: /);
    await workloads.settle(20_000);
    assert.match(
      workloads.condition('web', 'Progressing'),
      /^False ProgressDeadlineExceeded: .* has timed out progressing\.$/,
    );
    assert.equal(workloads.available().length, 3, 'those that serve stay');
    await workloads.change('web', { template: { metadata: { annotations: null } } } as never);
    await workloads.settle(5_000);
    assert.match(workloads.condition('web', 'Progressing'), /^True NewReplicaSetAvailable: /);
    await workloads.stop();
  });

  it('replaces pods of a lost host at once, though they hang there', async () => {
    const workloads = await lab();
    await workloads.deploy('web', { template: { spec: impatient } } as never);
    await workloads.settle(3_000);
    const node = workloads.pods()[0]?.spec.nodeName ?? '';
    const lost = workloads.pods().filter(({ spec }) => spec.nodeName === node).length;
    await workloads.cut(node);
    await workloads.settle(30_000);
    assert.equal(workloads.pods().filter(isTerminating).length, lost);
    assert.equal(workloads.available().length, 3);
    await workloads.change('web', { version: '2' });
    await workloads.settle(5_000);
    assert.deepEqual(workloads.versions(), { 2: 3 });
    await workloads.change('web', { version: '3', strategy: { type: 'Recreate', rollingUpdate: null } } as never);
    await workloads.settle(90_000);
    assert.deepEqual(workloads.versions(), { 3: 3 });
    await workloads.stop();
  });

  it('finds another name when its own is taken by another template', async () => {
    const workloads = await lab();
    await workloads.deploy('web', { replicas: 1 });
    await workloads.settle(3_000);
    const [set] = workloads.sets();
    assert.ok(set);
    await workloads.world.client.delete(Deployment, { namespace: NAMESPACE, name: 'web' });
    await workloads.settle(1_000);
    const { name } = set.metadata;
    const foreign = {
      metadata: { name, namespace: NAMESPACE },
      spec: { replicas: 0, selector: { matchLabels: { of: 'x' } } },
    };
    await workloads.world.client.delete(ReplicaSet, { namespace: NAMESPACE, name });
    await workloads.world.client.create(ReplicaSet, foreign);
    await workloads.deploy('web', { replicas: 1 });
    await workloads.settle(3_000);
    assert.equal(workloads.deployment('web').status?.collisionCount, 1);
    assert.equal(workloads.deployment('web').status?.availableReplicas, 1);
    await workloads.stop();
  });

  for (const seed of [1, 2, 3, 4, 5, 6, 37, 85]) {
    it(`never has too many pods or too few that serve, whatever the network does (seed ${seed})`, async () => {
      const calm = { lostRequest: 0, refused: 0, lostAnswer: 0 };
      const workloads = await lab({ seed, faults: { ...storm, silentWatch: 0, ...(seed % 2 === 0 ? calm : {}) } });
      const { clock } = workloads.world;
      const pick = (most: number): number => Math.floor(clock.random() * (most + 1));
      const replicas = 2 + pick(6);
      const [surge, unavailable] = [pick(3), pick(2)];
      await workloads.deploy('web', {
        replicas,
        ...rolling(surge, surge === 0 ? Math.max(1, unavailable) : unavailable),
      });
      // Pods that serve without anybody having heard of it are taken for useless, and go first.
      await settleUntil(workloads, () => workloads.deployment('web').status?.availableReplicas === replicas);
      const { surge: most, unavailable: least } = leeway(workloads.deployment('web'));
      let version = 1;
      for (let i = 0; i < 8; i += 1) {
        // Forwards, and back to a version before the last one has come.
        version = clock.random() < 0.4 && version > 1 ? version - 1 : version + 1;
        await workloads.change('web', { version: String(version) });
        for (let steps = pick(60); steps > 0; steps -= 1) {
          await workloads.settle(100);
          assertWithin(workloads, replicas - least, replicas + most);
        }
      }
      await settleUntil(
        workloads,
        () => workloads.versions()[version] === replicas,
        () => assertWithin(workloads, replicas - least, replicas + most),
      );
      await workloads.settle(60_000);
      assert.deepEqual(workloads.versions(), { [version]: replicas });
      assert.equal(workloads.deployment('web').status?.updatedReplicas, replicas);
      await workloads.stop();
    });
  }

  it('settles at the right number though two believe that they lead', async () => {
    const workloads = await lab({ faults: { ...storm, silentWatch: 0 } });
    workloads.start({ faults: { ...storm, silentWatch: 0 } });
    await workloads.deploy('web', { replicas: 6 });
    await workloads.settle(20_000);
    await workloads.change('web', { version: '2', replicas: 4 });
    await workloads.settle(240_000);
    assert.deepEqual(workloads.versions(), { 2: 4 });
    await workloads.stop();
  });
});

describe('a ReplicaSet', () => {
  it('takes over pods that it selects and nobody controls, and lets go of those it does not select any more', async () => {
    const workloads = await lab();
    await workloads.pod('stray', {}, { app: 'web', version: '1' });
    await workloads.settle();
    await workloads.world.client.create(ReplicaSet, {
      metadata: { name: 'web', namespace: NAMESPACE },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'web' }] } },
      },
    });
    await workloads.settle(3_000);
    const ownerOf = (name: string) => workloads.find(name).metadata.ownerReferences?.[0]?.name;
    assert.equal(workloads.active().length, 2);
    assert.equal(ownerOf('stray'), 'web');
    const ref = { namespace: NAMESPACE, name: 'stray' };
    await workloads.world.client.patch(Pod, ref, { merge: { metadata: { labels: { app: 'other' } } } });
    await workloads.settle(3_000);
    assert.equal(ownerOf('stray'), undefined);
    assert.equal(workloads.active().length, 3);
    await workloads.stop();
  });

  it('dispenses first with pods that do not serve', async () => {
    const workloads = await lab();
    await workloads.deploy('web', { replicas: 4 });
    await workloads.settle(3_000);
    const [weak] = workloads.pods();
    assert.ok(weak);
    const ref = { namespace: NAMESPACE, name: weak.metadata.name };
    await workloads.world.client.patch(Pod, ref, { merge: { metadata: { annotations: { 'test/unready': 'true' } } } });
    const conditions = (weak.status?.conditions ?? []).map((each) => ({ ...each, status: 'False' as const }));
    await workloads.world.client.patch(
      Pod,
      ref,
      { merge: { status: { conditions: JSON.parse(JSON.stringify(conditions)) } } },
      'status',
    );
    await workloads.settle(100);
    await workloads.change('web', { replicas: 3 });
    await workloads.settle(3_000);
    assert.ok(!workloads.pods().some(({ metadata }) => metadata.uid === weak.metadata.uid));
    assert.equal(workloads.pods().filter(isActive).length, 3);
    await workloads.stop();
  });
});

const impatient = {
  tolerations: ['not-ready', 'unreachable'].map((what) => ({
    ...{ key: `node.kubernetes.io/${what}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 },
  })),
};

function assertWithin(workloads: Workloads, least: number, most: number): void {
  const [serving, present] = [workloads.available().length, workloads.active().length];
  assert.ok(serving >= least, `only ${serving} of at least ${least} served`);
  assert.ok(present <= most, `there were ${present}, and at most ${most} may be`);
}

async function settleUntil(workloads: Workloads, isSo: () => boolean, check: () => void = () => {}): Promise<void> {
  for (let i = 0; i < 6_000 && !isSo(); i += 1) {
    await workloads.settle(100);
    check();
  }
  assert.ok(isSo(), `it did not come to that in ten minutes: ${JSON.stringify(workloads.versions())}`);
}
