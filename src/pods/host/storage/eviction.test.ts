import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '../../../api/core/pod.ts';
import { Places } from '../places.ts';
import { podWith, ROOMY } from '../pod.fixture.ts';
import { scarceOn } from './disk-space.ts';
import { type Held, whoMustGo } from './eviction.ts';
import { storageLimitsOf } from './storage-limits.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

const holding = (amount: number, spec: Partial<PodSpec> = {}): Held => ({ pod: podWith(spec), amount });
const asking = (storage: string): Partial<PodSpec> => ({
  containers: [{ name: 'main', resources: { requests: { 'ephemeral-storage': storage } } }],
});

test('a disk has too little of something before it has nothing of it', () => {
  assert.equal(scarceOn(ROOMY), undefined);
  assert.equal(scarceOn({ ...ROOMY, diskAvailable: 2 * GIB - 1 }), 'bytes');
  assert.equal(scarceOn({ ...ROOMY, diskBytes: GIB, diskAvailable: 100 * MIB }), 'bytes');
  assert.equal(scarceOn({ ...ROOMY, inodesFree: 10_000 }), 'inodes');
  assert.equal(scarceOn({ ...ROOMY, inodes: 0, inodesFree: 0 }), undefined);
});

test('who keeps to what was asked for goes last, then who matters more, then who has less', () => {
  const modest = holding(9 * GIB, asking('10Gi'));
  const important = holding(8 * GIB, { priority: 1000 });
  const [large, small] = [holding(2 * GIB), holding(GIB)];
  const left = [modest, important, large, small];
  const order: Held[] = [];
  for (let next = whoMustGo(left, 'bytes'); next !== undefined; next = whoMustGo(left, 'bytes')) {
    order.push(...left.splice(left.indexOf(next), 1));
  }
  assert.deepEqual(order, [large, small, important, modest]);
});

test('nobody has to go whose end would be of no use', () => {
  assert.equal(whoMustGo([holding(MIB)], 'bytes'), undefined);
  assert.equal(whoMustGo([holding(100)], 'inodes'), undefined);
  assert.ok(whoMustGo([holding(100_000)], 'inodes'));
});

test('the limits of containers hold for all that the pod writes', () => {
  const limits = { 'ephemeral-storage': '1Gi' };
  const containers = [
    { name: 'a', resources: { limits } },
    { name: 'b', resources: { limits } },
  ];
  const volumes = [
    { name: 'disk', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory' } },
  ];
  const places = new Places('/state');
  const found = storageLimitsOf(podWith({ containers, volumes }), places, (name) => `run-of-${name}`).at(-1);
  assert.equal(found?.bytes, 2 * GIB);
  assert.equal(found?.message, 'Pod ephemeral local storage usage exceeds the total limit of containers 2Gi.');
  assert.deepEqual(found?.folders.slice(-1), [places.volume('uid-of-web', 'disk')]);
  assert.ok(found?.folders.includes(places.layer('run-of-b')));
  assert.deepEqual(
    storageLimitsOf(podWith({ volumes }), places, () => undefined),
    [],
  );
});
