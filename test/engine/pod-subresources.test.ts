import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '../../src/api/json.ts';
import { at, EngineInTest } from './engine-in-test.ts';

const PODS = '/api/v1/namespaces/default/pods';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';

const pod = (name: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: { containers: [{ name: 'c', image: 'none' }], ...spec },
});
const binding = (name: string, node: string, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Binding',
  metadata: { name, ...metadata },
  target: { kind: 'Node', name: node },
});
const eviction = (name: string, fields: JsonObject = {}): JsonObject => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name },
  ...fields,
});

describe('the subresources of pods', () => {
  let api: EngineInTest;
  before(async () => {
    api = await EngineInTest.start();
  });
  after(() => api.stop());

  /** A pod that is ready on a node. */
  const running = async (name: string, spec: JsonObject = {}): Promise<void> => {
    await api.post(PODS, pod(name, { nodeName: 'n', ...spec }));
    const conditions = [{ type: 'Ready', status: 'True' }];
    await api.patch(`${PODS}/${name}/status`, 'merge', { status: { phase: 'Running', conditions } });
  };

  test('binding places a pod once, and says so in its status', async () => {
    await api.post(PODS, pod('placed'));
    const bound = await api.post(`${PODS}/placed/binding`, binding('placed', 'node-1', { annotations: { why: 'x' } }));
    assert.equal(bound.status, 201);
    assert.equal(bound.body['status'], 'Success');
    const { body } = await api.get(`${PODS}/placed`);
    assert.equal(at(body, 'spec.nodeName'), 'node-1');
    assert.equal(at(body, 'metadata.annotations.why'), 'x');
    assert.equal(at(body, 'status.conditions.0.type'), 'PodScheduled');
    assert.equal(at(body, 'status.conditions.0.status'), 'True');
    const again = await api.post(`${PODS}/placed/binding`, binding('placed', 'node-2'));
    assert.equal(again.status, 409);
    assert.equal(
      again.body['message'],
      'Operation cannot be fulfilled on pods/binding "placed": pod placed is already assigned to node "node-1"',
    );
  });

  test('binding is refused for what is not there, gated, another pod, or no node', async () => {
    assert.equal((await api.post(`${PODS}/none/binding`, binding('none', 'n'))).status, 404);
    await api.post(PODS, pod('gated', { schedulingGates: [{ name: 'a.example/b' }] }));
    assert.equal((await api.post(`${PODS}/gated/binding`, binding('gated', 'n'))).status, 409);
    assert.equal((await api.post(`${PODS}/gated/binding`, binding('other', 'n'))).status, 400);
    assert.equal((await api.post(`${PODS}/gated/binding`, binding('gated', ''))).status, 422);
    const stranger = binding('gated', 'n', { uid: 'somebody-else' });
    assert.match(String((await api.post(`${PODS}/gated/binding`, stranger)).body['message']), /UID in precondition/);
  });

  test('a pod on no node goes at once; one on a node has its time, which a later request only shortens', async () => {
    await api.post(PODS, pod('unplaced'));
    await api.delete(`${PODS}/unplaced`);
    assert.equal((await api.get(`${PODS}/unplaced`)).status, 404);

    await running('slow', { terminationGracePeriodSeconds: 60 });
    const first = await api.delete(`${PODS}/slow`);
    assert.equal(at(first.body, 'metadata.deletionGracePeriodSeconds'), 60);
    const end = Date.parse(String(at(first.body, 'metadata.deletionTimestamp')));

    const unasked = await api.delete(`${PODS}/slow`);
    assert.equal(at(unasked.body, 'metadata.deletionGracePeriodSeconds'), 60);
    const longer = await api.delete(`${PODS}/slow`, { gracePeriodSeconds: 90 });
    assert.equal(at(longer.body, 'metadata.deletionGracePeriodSeconds'), 60);

    const shorter = await api.delete(`${PODS}/slow`, { gracePeriodSeconds: 20 });
    assert.equal(at(shorter.body, 'metadata.deletionGracePeriodSeconds'), 20);
    // The time counts from the first request.
    assert.equal(Date.parse(String(at(shorter.body, 'metadata.deletionTimestamp'))), end - 40_000);

    const gone = await api.delete(`${PODS}/slow`, { gracePeriodSeconds: 0 });
    assert.equal(gone.status, 200);
    assert.equal((await api.get(`${PODS}/slow`)).status, 404);
  });

  test('a pod that had longer than it asks for keeps its time when it is deleted again', async () => {
    await running('patient', { terminationGracePeriodSeconds: 5 });
    await api.delete(`${PODS}/patient`, { gracePeriodSeconds: 50 });
    const again = await api.delete(`${PODS}/patient`);
    assert.equal(at(again.body, 'metadata.deletionGracePeriodSeconds'), 50);
  });

  test('eviction begins the deletion of a pod and says why', async () => {
    await running('evicted');
    const asked = { deleteOptions: { gracePeriodSeconds: 7 } };
    assert.equal((await api.post(`${PODS}/evicted/eviction`, eviction('evicted', asked))).status, 201);
    const { body } = await api.get(`${PODS}/evicted`);
    assert.equal(at(body, 'metadata.deletionGracePeriodSeconds'), 7);
    assert.equal(at(body, 'status.conditions.1.type'), 'DisruptionTarget');
    assert.equal(at(body, 'status.conditions.1.reason'), 'EvictionByEvictionAPI');
    assert.equal((await api.post(`${PODS}/none/eviction`, eviction('none'))).status, 404);
    assert.equal((await api.post(`${PODS}/evicted/eviction`, eviction('other'))).status, 400);
  });

  test('a disruption budget lets as many pods go as it allows, and refuses the next with 429', async () => {
    for (const name of ['guarded-1', 'guarded-2']) {
      await running(name);
      await api.patch(`${PODS}/${name}`, 'merge', { metadata: { labels: { app: 'guarded' } } });
    }
    const made = await api.post(BUDGETS, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'guard' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));

    const early = await api.post(`${PODS}/guarded-1/eviction`, eviction('guarded-1'));
    assert.equal(early.status, 429);
    assert.equal(at(early.body, 'details.retryAfterSeconds'), 10);

    const status = {
      observedGeneration: 1,
      disruptionsAllowed: 1,
      currentHealthy: 2,
      desiredHealthy: 1,
      expectedPods: 2,
    };
    assert.equal((await api.patch(`${BUDGETS}/guard/status`, 'merge', { status })).status, 200);
    const tried = await api.post(`${PODS}/guarded-1/eviction?dryRun=All`, eviction('guarded-1'));
    assert.equal(tried.status, 201);
    assert.equal((await api.post(`${PODS}/guarded-1/eviction`, eviction('guarded-1'))).status, 201);
    const budget = (await api.get(`${BUDGETS}/guard`)).body;
    assert.equal(at(budget, 'status.disruptionsAllowed'), 0);
    assert.ok(at(budget, 'status.disruptedPods.guarded-1'));

    const refused = await api.post(`${PODS}/guarded-2/eviction`, eviction('guarded-2'));
    assert.equal(refused.status, 429);
    assert.equal(refused.body['message'], "Cannot evict pod as it would violate the pod's disruption budget.");
    assert.equal(
      at(refused.body, 'details.causes.0.message'),
      'The disruption budget guard needs 1 healthy pods and has 2 currently',
    );
    assert.equal(at((await api.get(`${PODS}/guarded-2`)).body, 'metadata.deletionTimestamp'), undefined);
  });

  test('of many pods that are evicted at the same moment, as many go as the budget allows', async () => {
    const names = ['crowd-1', 'crowd-2', 'crowd-3', 'crowd-4', 'crowd-5'];
    for (const name of names) {
      await running(name);
      await api.patch(`${PODS}/${name}`, 'merge', { metadata: { labels: { app: 'crowd' } } });
    }
    const spec = { minAvailable: 2, selector: { matchLabels: { app: 'crowd' } } };
    const kind = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' };
    await api.post(BUDGETS, { ...kind, metadata: { name: 'crowd' }, spec });
    const numbers = { disruptionsAllowed: 3, currentHealthy: 5, desiredHealthy: 2, expectedPods: 5 };
    await api.patch(`${BUDGETS}/crowd/status`, 'merge', { status: { observedGeneration: 1, ...numbers } });
    const answers = await Promise.all(names.map((name) => api.post(`${PODS}/${name}/eviction`, eviction(name))));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 201, 429, 429]);
    const { body } = await api.get(`${BUDGETS}/crowd`);
    assert.equal(at(body, 'status.disruptionsAllowed'), 0);
    assert.equal(Object.keys(at(body, 'status.disruptedPods') as JsonObject).length, 3);
  });

  test('the classes of the system are there, and stay', async () => {
    const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
    const found = await api.get(`${classes}/system-node-critical`);
    assert.equal(found.body['value'], 2_000_001_000);
    assert.equal((await api.delete(`${classes}/system-node-critical`)).status, 403);
  });
});
