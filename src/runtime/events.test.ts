import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Faults } from '../../test/simulation/faults.ts';
import { Net, net, world } from '../../test/simulation/world.ts';
import { Event } from './builtin.ts';
import { EventRecorder } from './events.ts';

async function recording(faults: Partial<Faults> = {}) {
  const all = world({ kinds: [Net, Event] });
  const { clock, log } = all;
  const object = await all.client.create(Net, net('a'));
  const client = all.clientWith(faults);
  const recorder = new EventRecorder({ client, system: clock, log, component: 'nets', instance: 'host-1' });
  const told = (): string[] =>
    all.api.objects(Event).map(({ reason, count, message }) => `${reason} x${count}: ${message}`);
  return { ...all, object, recorder, told };
}

describe('events', () => {
  it('tell what happened to which object, and who says so', async () => {
    const { api, clock, object, recorder } = await recording();
    recorder.warning(object, 'PoolFull', 'no address is left in 10.0.0.0/24');
    await clock.run(recorder.flushed());
    const [event] = api.objects(Event);
    const { metadata: _, ...content } = event ?? assert.fail('no event');
    assert.match(event?.metadata.name ?? '', /^a\.[0-9a-f]{16}$/);
    const { uid, resourceVersion } = object.metadata;
    assert.deepEqual(content, {
      apiVersion: 'v1',
      kind: 'Event',
      involvedObject: {
        apiVersion: 'sim.netloom.test/v1',
        kind: 'Net',
        namespace: 'default',
        name: 'a',
        uid,
        resourceVersion,
      },
      type: 'Warning',
      reason: 'PoolFull',
      message: 'no address is left in 10.0.0.0/24',
      count: 1,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      source: { component: 'nets', host: 'host-1' },
      reportingComponent: 'nets',
      reportingInstance: 'host-1',
    });
  });

  it('are counted when the same is said again, and begin anew after ten minutes', async () => {
    const { clock, object, recorder, told, api } = await recording();
    for (let i = 0; i < 3; i += 1) recorder.normal(object, 'Bound', 'bound');
    await clock.advance(60_000);
    recorder.normal(object, 'Bound', 'bound');
    recorder.normal(object, 'Bound', 'bound elsewhere');
    await clock.advance(0);
    assert.deepEqual(told().sort(), ['Bound x1: bound elsewhere', 'Bound x4: bound']);
    assert.equal(api.requests.get('post events'), 2);
    await clock.advance(601_000);
    recorder.normal(object, 'Bound', 'bound');
    await clock.advance(0);
    assert.deepEqual(told().sort(), ['Bound x1: bound', 'Bound x1: bound elsewhere', 'Bound x4: bound']);
  });

  it('are written anew when the server has dropped them', async () => {
    const { clock, object, recorder, told, client, api } = await recording();
    recorder.normal(object, 'Bound', 'bound');
    await clock.advance(0);
    for (const { metadata } of api.objects(Event))
      await client.delete(Event, { namespace: 'default', name: metadata.name });
    recorder.normal(object, 'Bound', 'bound');
    await clock.advance(0);
    assert.deepEqual(told(), ['Bound x2: bound']);
  });

  it('do not flood: an object has 25, and then one every five minutes', async () => {
    const { clock, object, recorder, told, client } = await recording();
    for (let i = 0; i < 100; i += 1) recorder.normal(object, 'Flap', `change ${i}`);
    recorder.normal(await client.create(Net, net('b')), 'Calm', 'of another object');
    await clock.advance(0);
    assert.equal(told().length, 26);
    assert.equal(recorder.dropped, 75);
    await clock.advance(300_000);
    recorder.normal(object, 'Flap', 'later');
    recorder.normal(object, 'Flap', 'too much again');
    await clock.advance(0);
    assert.equal(told().length, 27);
  });

  it('are written once the server is back, be it after ten minutes, and dropped when it stays away', async () => {
    const { clock, object, recorder, told, api } = await recording();
    api.stop();
    recorder.normal(object, 'Bound', 'bound');
    await clock.advance(600_000);
    api.start();
    await clock.advance(60_000);
    assert.deepEqual(told(), ['Bound x1: bound']);
    api.stop();
    recorder.normal(object, 'Lost', 'lost');
    await clock.advance(3_600_000);
    assert.equal(recorder.dropped, 1);
    assert.equal(clock.pending, 0);
  });

  it('of objects outside of namespaces go to the namespace default', async () => {
    const { clock, object, recorder, api } = await recording();
    const { namespace: _, ...metadata } = object.metadata;
    recorder.normal({ ...object, metadata }, 'Bound', 'bound');
    await clock.advance(0);
    const [event] = api.objects(Event);
    assert.deepEqual([event?.metadata.namespace, event?.involvedObject.namespace], ['default', undefined]);
  });

  it('hold nobody up who stops', async () => {
    const { clock, object, recorder, api } = await recording();
    api.stop();
    recorder.normal(object, 'Bound', 'bound');
    await clock.advance(100);
    await recorder.stop();
    assert.equal(clock.pending, 0);
  });
});
