import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '../../src/api/json.ts';
import { at, EngineInTest } from './engine-in-test.ts';

const PODS = '/api/v1/namespaces/default/pods';
const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';

const pod = (name: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'none' }], ...spec },
});

describe('the priority of a pod', () => {
  let api: EngineInTest;
  before(async () => {
    api = await EngineInTest.start();
    await makeClass('high', 1000, { preemptionPolicy: 'Never' });
  });
  after(() => api.stop());

  const makeClass = (name: string, value: number, fields: JsonObject = {}) =>
    api.post(CLASSES, {
      ...{ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value },
      ...fields,
    });
  const priorityOf = (body: unknown) =>
    ['priorityClassName', 'priority', 'preemptionPolicy'].map((field) => at(body as JsonObject, `spec.${field}`));

  test('is that of its class, and stays when the pod is written without it', async () => {
    const made = await api.post(PODS, pod('important', { priorityClassName: 'high' }));
    assert.deepEqual(priorityOf(made.body), ['high', 1000, 'Never']);
    const { priority: _, preemptionPolicy: __, ...spec } = made.body['spec'] as JsonObject;
    const written = await api.put(`${PODS}/important`, { ...made.body, spec });
    assert.deepEqual(priorityOf(written.body), ['high', 1000, 'Never'], JSON.stringify(written.body));
    const critical = await api.post(PODS, pod('critical', { priorityClassName: 'system-node-critical' }));
    assert.equal(at(critical.body, 'spec.priority'), 2_000_001_000);
  });

  test('is 0 without a class, and never what somebody else says', async () => {
    assert.deepEqual(priorityOf((await api.post(PODS, pod('plain'))).body), [undefined, 0, 'PreemptLowerPriority']);
    for (const [spec, why] of [
      [{ priorityClassName: 'none' }, 'no PriorityClass with name none was found'],
      [
        { priority: 5 },
        'the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
      ],
      [
        { priorityClassName: 'high', preemptionPolicy: 'PreemptLowerPriority' },
        'the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name',
      ],
    ] as const) {
      const { status, body } = await api.post(PODS, pod('refused', spec));
      assert.equal(status, 403);
      assert.equal(body['message'], `pods "refused" is forbidden: ${why}`);
    }
    assert.equal((await api.post(PODS, pod('repeated', { priorityClassName: 'high', priority: 1000 }))).status, 201);
  });

  test('is that of the class for all who name none, of which there is one', async () => {
    assert.equal((await makeClass('usual', 7, { globalDefault: true })).status, 201);
    assert.deepEqual(priorityOf((await api.post(PODS, pod('usual'))).body), ['usual', 7, 'PreemptLowerPriority']);
    const second = await makeClass('other', 8, { globalDefault: true });
    assert.equal(second.status, 403);
    assert.equal(
      second.body['message'],
      'priorityclasses.scheduling.k8s.io "other" is forbidden: PriorityClass usual is already marked as default. Only one default can exist',
    );
    assert.equal((await api.patch(`${CLASSES}/usual`, 'merge', { description: 'for all' })).status, 200);
  });
});
