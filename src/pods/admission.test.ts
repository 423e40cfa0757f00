import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Deployment } from '../api/apps/workloads.ts';
import { type Container, Pod } from '../api/core/pod.ts';
import type { ApiObject, OwnerReference } from '../api/object.ts';
import { podsAdmission } from './admission.ts';

const metadata = { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
const live = { get: async () => undefined, list: async () => [] };
const user = { username: 'ada', groups: [] };

async function warnings(object: ApiObject, oldObject?: ApiObject): Promise<readonly string[]> {
  const operation = oldObject === undefined ? 'CREATE' : 'UPDATE';
  const all = podsAdmission({ evictAfterSeconds: 5 }).filter(({ kind }) => kind.kind === object.kind);
  const request = { operation, namespace: 'shop', name: 'web', dryRun: false, user, object } as const;
  const said = await Promise.all(
    all.map(({ validate }) => validate?.({ ...request, ...(oldObject === undefined ? {} : { oldObject }) }, live)),
  );
  return said.flatMap((each) => each ?? []);
}

const pod = (containers: Container[], ownerReferences: OwnerReference[] = []): ApiObject & { spec: object } => ({
  ...{ apiVersion: 'v1', kind: Pod.kind, metadata: { ...metadata, ownerReferences } },
  spec: { containers },
});

const deployment = (image: string, replicas = 1): Deployment => ({
  ...{ apiVersion: 'apps/v1', kind: Deployment.kind, metadata },
  spec: { replicas, selector: {}, template: { spec: { containers: [{ name: 'main', image, command: ['nginx'] }] } } },
});

describe('who brings along an image', () => {
  test('hears that it is never pulled, and what runs instead', async () => {
    assert.deepEqual(await warnings(pod([{ name: 'main', image: 'nginx:1', command: ['nginx', '-g'] }])), [
      'spec.containers[0].image: the image is never pulled: the container runs the host\'s own "nginx"',
    ]);
    const two = [
      { name: 'a', image: 'a', args: ['python3'] },
      { name: 'b', image: 'b', command: ['b'] },
    ];
    assert.deepEqual(await warnings(pod(two)), [
      'spec.containers[0].image (and 1 more): the image is never pulled: the container runs the host\'s own "python3"',
    ]);
  });

  test('hears that a command is needed', async () => {
    const [, second] = await warnings(pod([{ name: 'main', image: 'nginx' }]));
    assert.equal(
      second,
      'spec.containers[0]: without "command" there is nothing to run: say which program of the host it is',
    );
  });

  test('hears it of a template once, and not again before something of it is new', async () => {
    assert.equal((await warnings(deployment('nginx:1'))).length, 1);
    assert.deepEqual(await warnings(deployment('nginx:1', 5), deployment('nginx:1')), []);
    assert.deepEqual(await warnings(pod([{ name: 'main', image: 'nginx' }], [controller])), []);
  });

  test('hears nothing without one', async () => {
    assert.deepEqual(await warnings(pod([{ name: 'main', command: ['sleep'] }])), []);
  });
});

const controller = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'r', controller: true };
