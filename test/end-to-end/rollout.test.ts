import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '../../src/api/json.ts';
import { PretendedCluster } from './pretended-cluster.ts';

const deployment = (name: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image: 'web:1' }] },
    },
    ...spec,
  },
});

/** Where nobody else is, as long as there is room. */
const spread = {
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 100,
          preference: {
            matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['drained'] }],
          },
        },
      ],
    },
  },
};

describe('rollouts under kubectl', { concurrency: 4 }, () => {
  let cluster: PretendedCluster;
  before(async () => {
    cluster = await PretendedCluster.start(['a', 'b', 'drained']);
  });
  after(() => cluster.stop());

  test('rollout status waits for a new Deployment, and wait for its being available', async () => {
    await cluster.ok('apply -f -', deployment('new'));
    const [status, wait] = await Promise.all([
      cluster.ok('rollout status deployment/new --timeout=30s'),
      cluster.ok('wait deployment/new --for=condition=Available --timeout=30s'),
    ]);
    assert.match(status, /deployment "new" successfully rolled out\n$/);
    assert.equal(wait, 'deployment.apps/new condition met\n');
    assert.match(await cluster.ok('get deployment new'), /^new +3\/3 +3 +3 /m);
    assert.match(
      await cluster.ok('describe deployment new'),
      /ScalingReplicaSet +\d+s +deployment-controller +Scaled up replica set new-\w+ from 0 to 3/,
    );
  });

  test('drain takes no more pods at a time than a disruption budget allows, and comes to its end', async () => {
    const alone = {
      template: {
        metadata: { labels: { app: 'calm' } },
        spec: { ...spread, containers: [{ name: 'main', image: 'web:1' }] },
      },
    };
    await cluster.ok('apply -f -', deployment('calm', alone));
    const spec = { minAvailable: 2, selector: { matchLabels: { app: 'calm' } } };
    const kind = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' };
    await cluster.ok('apply -f -', { ...kind, metadata: { name: 'calm' }, spec });
    await cluster.ok('rollout status deployment/calm --timeout=30s');
    await cluster.ok('wait pdb/calm --for=jsonpath={.status.disruptionsAllowed}=1 --timeout=30s');
    assert.match(await cluster.ok('get pdb calm'), /^calm +2 +N\/A +1 /m);
    const there = () => cluster.ok('get pods -l app=calm --field-selector spec.nodeName=drained -o name');
    assert.match(await there(), /pod\/calm/);
    await cluster.ok('drain drained --timeout=60s --pod-selector=app=calm');
    assert.equal(await there(), '');
    await cluster.ok('uncordon drained');
  });

  test('set image makes a revision, history tells of it, undo goes back', async () => {
    await cluster.ok('apply -f -', deployment('history'));
    await cluster.ok('rollout status deployment/history --timeout=30s');
    await cluster.ok('set image deployment/history main=web:2');
    await cluster.ok('annotate deployment/history kubernetes.io/change-cause=second');
    await cluster.ok('rollout status deployment/history --timeout=30s');
    assert.match(await cluster.ok('rollout history deployment/history'), /^1 +<none>\n2 +second$/m);
    assert.match(await cluster.ok('rollout history deployment/history --revision=2'), /Image:\s+web:2/);
    await cluster.ok('rollout undo deployment/history');
    await cluster.ok('rollout status deployment/history --timeout=30s');
    const image = 'jsonpath={.items[*].spec.containers[0].image}';
    assert.equal(await cluster.ok(['get', 'pods', '-l', 'app=history', '-o', image]), 'web:1 web:1 web:1');
    assert.match(await cluster.ok('rollout history deployment/history'), /^2 +second\n3 /m);
    await cluster.ok('rollout undo deployment/history --to-revision=2');
    await cluster.ok('rollout status deployment/history --timeout=30s');
    assert.equal(await cluster.ok(['get', 'pods', '-l', 'app=history', '-o', image]), 'web:2 web:2 web:2');
  });

  test('restart replaces every pod', async () => {
    await cluster.ok('apply -f -', deployment('again'));
    await cluster.ok('rollout status deployment/again --timeout=30s');
    const names = async () => (await cluster.ok('get pods -l app=again -o name')).trim().split('\n');
    const before = new Set(await names());
    await cluster.ok('rollout restart deployment/again');
    await cluster.ok('rollout status deployment/again --timeout=30s');
    await cluster.ok('wait pods -l app=again --for=condition=Ready --timeout=30s');
    const after = (await names()).filter((name) => before.has(name));
    assert.deepEqual(after, []);
  });

  test('pause holds changes back, resume lets them go, scale works in between', async () => {
    await cluster.ok('apply -f -', deployment('pausing'));
    await cluster.ok('rollout status deployment/pausing --timeout=30s');
    await cluster.ok('rollout pause deployment/pausing');
    await cluster.ok('set env deployment/pausing COLOR=blue');
    await cluster.ok('scale deployment/pausing --replicas=5');
    await cluster.ok('wait deployment/pausing --for=jsonpath={.status.availableReplicas}=5 --timeout=30s');
    const colors = () => cluster.ok(['get', 'pods', '-l', 'app=pausing', '-o', 'jsonpath={..env}']);
    assert.equal(await colors(), '');
    assert.match(await cluster.ok('get deployment pausing -o yaml'), /reason: DeploymentPaused/);
    await cluster.ok('rollout resume deployment/pausing');
    assert.match(await cluster.ok('rollout status deployment/pausing --timeout=30s'), /successfully rolled out/);
    assert.equal((await colors()).match(/blue/g)?.length, 5);
  });

  test('a rollout that makes no progress is told of', async () => {
    const unready = { metadata: { labels: { app: 'stuck' }, annotations: { 'test/unready': 'true' } } };
    const { template } = deployment('stuck')['spec'] as { template: JsonObject };
    await cluster.ok(
      'apply -f -',
      deployment('stuck', { progressDeadlineSeconds: 2, template: { ...template, ...unready } }),
    );
    const { code, stderr } = await cluster.run('rollout status deployment/stuck --timeout=30s');
    assert.equal(code, 1);
    assert.match(stderr, /deployment "stuck" exceeded its progress deadline/);
    assert.match(
      await cluster.ok('describe deployment stuck'),
      /Available +False +MinimumReplicasUnavailable\n +Progressing +False +ProgressDeadlineExceeded/,
    );
  });

  test('what goes with a Deployment is gone with it', async () => {
    await cluster.ok('apply -f -', deployment('gone'));
    await cluster.ok('rollout status deployment/gone --timeout=30s');
    await cluster.ok('delete deployment gone --cascade=foreground --timeout=30s');
    assert.equal(await cluster.ok('get pods,replicasets -l app=gone -o name'), '');
  });

  test('why pods cannot be made stands on the Deployment, and is gone when they can', async () => {
    await cluster.ok('apply -f -', deployment('refused', { replicas: 1 }));
    await cluster.ok('rollout status deployment/refused --timeout=30s');
    const refused = (is: string | null) =>
      JSON.stringify({ spec: { template: { metadata: { annotations: { 'test/refused': is } } } } });
    await cluster.ok(['patch', 'deployment', 'refused', '-p', refused('yes')]);
    await cluster.ok('wait deployment/refused --for=condition=ReplicaFailure --timeout=30s');
    const path = 'jsonpath={.status.conditions[?(@.type=="ReplicaFailure")].message}';
    assert.match(
      await cluster.ok(['get', 'deployment', 'refused', '-o', path]),
      /^pods "refused-\w+-\w+" is forbidden: exceeded quota: test$/,
    );
    assert.match(
      await cluster.ok('get events'),
      /FailedCreate +replicaset\/refused-\w+ +Error creating: pods "refused-/,
    );
    await cluster.ok(['patch', 'deployment', 'refused', '-p', refused(null)]);
    assert.match(await cluster.ok('rollout status deployment/refused --timeout=30s'), /successfully rolled out/);
  });

  test('a StatefulSet is rolled out in order, has a history, and goes back', async () => {
    const { spec } = deployment('db') as { spec: JsonObject };
    const set = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db' },
      spec: { ...spec, serviceName: 'db' },
    };
    await cluster.ok('apply -f -', set);
    const rolled = /(statefulset rolling update complete|partitioned roll out complete)/;
    assert.match(await cluster.ok('rollout status statefulset/db --timeout=30s'), rolled);
    assert.match(
      await cluster.ok('describe statefulset db'),
      /SuccessfulCreate +\d+s +statefulset-controller +create Pod db-2 in StatefulSet db successful/,
    );
    await cluster.ok('set image statefulset/db main=web:2');
    assert.match(await cluster.ok('rollout status statefulset/db --timeout=60s'), rolled);
    const pods = ['get', 'pods', '-l', 'app=db', '--sort-by=.metadata.name', '-o'];
    const images = 'jsonpath={range .items[*]}{.metadata.name} {.spec.containers[0].image} {end}';
    assert.equal(await cluster.ok([...pods, images]), 'db-0 web:2 db-1 web:2 db-2 web:2 ');
    assert.match(await cluster.ok('rollout history statefulset/db'), /^1 +<none>\n2 +<none>$/m);
    await cluster.ok('rollout undo statefulset/db');
    assert.match(await cluster.ok('rollout status statefulset/db --timeout=60s'), rolled);
    assert.equal(await cluster.ok([...pods, images]), 'db-0 web:1 db-1 web:1 db-2 web:1 ');
    await cluster.ok('scale statefulset/db --replicas=1');
    await cluster.ok('wait pod/db-1 --for=delete --timeout=30s');
    assert.equal(await cluster.ok([...pods, 'name']), 'pod/db-0\n');
  });

  test('endpoints follow the pods of a Service', async () => {
    await cluster.ok('apply -f -', deployment('served', { replicas: 2 }));
    await cluster.ok('expose deployment served --port=80 --target-port=8080');
    await cluster.ok('rollout status deployment/served --timeout=30s');
    const addresses = async (kind: string, path: string) =>
      (await cluster.ok(['get', kind, '-l', 'kubernetes.io/service-name=served', '-o', `jsonpath={${path}}`]))
        .split(' ')
        .sort();
    const pods = (await cluster.ok(['get', 'pods', '-l', 'app=served', '-o', 'jsonpath={.items[*].status.podIP}']))
      .split(' ')
      .sort();
    assert.deepEqual(
      await addresses('endpointslices', '.items[*].endpoints[?(@.conditions.ready)].addresses[0]'),
      pods,
    );
  });
});
