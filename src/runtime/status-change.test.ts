import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Net, net, Port, port, type World, world } from '../../test/simulation/world.ts';
import type { Kind } from '../api/kind.ts';
import { controller } from './controller.ts';
import { Manager } from './manager.ts';
import { done } from './outcome.ts';
import { ownedBy } from './owner.ts';
import { refOf } from './ref.ts';

/** How often a controller that watches nets is asked whom to wake by what a test does to one. */
async function wakesOf(watched: Kind<Net>, act: (lab: World, net: Net) => Promise<unknown>) {
  const lab = world({ level: 'error' });
  let wakes = 0;
  const counting = controller({
    name: 'counting',
    for: Net,
    watches: [
      {
        kind: watched,
        wakes: (object) => {
          wakes += 1;
          return [refOf(object)];
        },
      },
    ],
    reconcile: async () => done(),
  });
  const manager = new Manager({
    transport: lab.api.transport({}),
    controllers: [counting],
    system: lab.clock,
    log: lab.log,
    fieldManager: 'test',
    instance: 'test',
  });
  manager.start();
  const created = await lab.client.create(Net, net('a'));
  await lab.clock.advance(1_000);
  wakes = 0;
  await act(lab, created);
  await lab.clock.advance(1_000);
  await lab.clock.run(manager.stop({ within: 1_000 }));
  return wakes;
}

const Report: Kind<Net> = { ...Net, statusIsReport: true };
const writeStatus = (lab: World, object: Net) => lab.client.updateStatus(Net, { ...object, status: { state: 'up' } });

test('a status wakes those who watch the kind', async () => {
  assert.notEqual(await wakesOf(Net, writeStatus), 0);
});

test('a status that is only a report wakes nobody who watches the kind', async () => {
  assert.equal(await wakesOf(Report, writeStatus), 0);
});

test('everything else about an object whose status is a report wakes them', async () => {
  assert.notEqual(
    await wakesOf(Report, ({ client }, object) => client.update(Net, { ...object, spec: { size: 2 } })),
    0,
  );
  assert.notEqual(
    await wakesOf(Report, ({ client }, object) =>
      client.patch(Net, refOf(object), { merge: { metadata: { labels: { a: 'b' } } } }),
    ),
    0,
  );
  assert.notEqual(await wakesOf(Report, ({ client }, object) => client.delete(Net, refOf(object))), 0);
});

test('a status that is only a report wakes nobody who owns the object, and its end does', async () => {
  const lab = world({ level: 'error' });
  let passes = 0;
  const owner = controller({
    for: Port,
    owns: [Report],
    reconcile: async () => {
      passes += 1;
      return done();
    },
  });
  const manager = new Manager({
    ...{ transport: lab.api.transport({}), controllers: [owner], system: lab.clock, log: lab.log },
    ...{ fieldManager: 'test', instance: 'test' },
  });
  manager.start();
  const { metadata, spec } = net('a');
  const owned = ownedBy(await lab.client.create(Port, port('p', 'a')));
  const child = await lab.client.create(Net, { metadata: { ...metadata, ownerReferences: [owned] }, spec });
  const passesAfter = async (act: Promise<unknown>): Promise<number> => {
    await act;
    await lab.clock.advance(1_000);
    const count = passes;
    passes = 0;
    return count;
  };
  assert.notEqual(await passesAfter(Promise.resolve()), 0);
  assert.equal(await passesAfter(writeStatus(lab, child)), 0);
  assert.notEqual(await passesAfter(lab.client.delete(Net, refOf(child))), 0);
  await lab.clock.run(manager.stop({ within: 1_000 }));
});
