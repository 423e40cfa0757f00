import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Json } from '../../src/api/json.ts';
import { at, configMap, DEFINITIONS, EngineInTest, GADGETS, gadget, gadgets, MAPS } from './engine-in-test.ts';

describe('objects of the engine', () => {
  let api: EngineInTest;
  before(async () => {
    api = await EngineInTest.start();
    assert.equal((await api.post(DEFINITIONS, gadgets())).status, 201);
  });
  after(() => api.stop());

  test('what only the server may set is set by the server', async () => {
    const sent = configMap(
      'stamped',
      { a: '1' },
      { uid: 'mine', generation: 9, creationTimestamp: '2001-01-01T00:00:00Z' },
    );
    const { status, body } = await api.post(MAPS, sent);
    assert.equal(status, 201);
    assert.match(String(at(body, 'metadata.uid')), /^[0-9a-f-]{36}$/);
    assert.ok(Date.parse(String(at(body, 'metadata.creationTimestamp'))) > Date.now() - 60_000);
    assert.ok(Number(at(body, 'metadata.resourceVersion')) > 0);
    assert.equal(at(body, 'metadata.managedFields.0.manager'), 'test');
  });

  test('a name that is taken is refused with AlreadyExists', async () => {
    await api.post(MAPS, configMap('taken'));
    const { status, body } = await api.post(MAPS, configMap('taken'));
    assert.equal(status, 409);
    assert.equal(body['reason'], 'AlreadyExists');
    assert.equal(body['message'], 'configmaps "taken" already exists');
  });

  test('generateName makes a name that nobody has', async () => {
    const sent = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'made-' } };
    const [one, two] = [await api.post(MAPS, sent), await api.post(MAPS, sent)];
    assert.match(String(at(one.body, 'metadata.name')), /^made-[bcdfghjklmnpqrstvwxz2-9]{5}$/);
    assert.notEqual(at(one.body, 'metadata.name'), at(two.body, 'metadata.name'));
  });

  test('an object in a namespace that does not exist is refused', async () => {
    const { status, body } = await api.post('/api/v1/namespaces/nope/configmaps', configMap('x'));
    assert.equal(status, 404);
    assert.equal(body['message'], 'namespaces "nope" not found');
  });

  test('an update from an old version is refused as a conflict', async () => {
    const { body: first } = await api.post(MAPS, configMap('raced', { a: '1' }));
    assert.equal((await api.put(`${MAPS}/raced`, { ...first, data: { a: '2' } })).status, 200);
    const { status, body } = await api.put(`${MAPS}/raced`, { ...first, data: { a: '3' } });
    assert.equal(status, 409);
    assert.match(
      String(body['message']),
      /^Operation cannot be fulfilled on configmaps "raced": the object has been modified/,
    );
  });

  test('a write that changes nothing keeps the resourceVersion', async () => {
    const { body: first } = await api.post(MAPS, configMap('same', { a: '1' }));
    const { body: second } = await api.put(`${MAPS}/same`, first);
    const { body: third } = await api.patch(`${MAPS}/same`, 'merge', { data: { a: '1' } });
    assert.equal(at(second, 'metadata.resourceVersion'), at(first, 'metadata.resourceVersion'));
    assert.equal(at(third, 'metadata.resourceVersion'), at(first, 'metadata.resourceVersion'));
  });

  test('a custom object needs its resourceVersion for a PUT; a built-in one does not', async () => {
    await api.post(GADGETS, gadget('put'));
    const refused = await api.put(`${GADGETS}/put`, gadget('put', { size: 4 }));
    assert.equal(refused.status, 422);
    assert.match(
      String(refused.body['message']),
      /metadata\.resourceVersion: Invalid value: .*must be specified for an update/,
    );
    await api.post(MAPS, configMap('put'));
    assert.equal((await api.put(`${MAPS}/put`, configMap('put', { a: '1' }))).status, 200);
  });

  test('custom objects get the defaults of their schema, also inside lists', async () => {
    const { body } = await api.post(GADGETS, gadget('filled', { parts: [{ name: 'wheel' }] }));
    assert.deepEqual(body['spec'], { parts: [{ name: 'wheel', count: 1 }], size: 3 });
    assert.equal(at(body, 'metadata.generation'), 1);
  });

  test('a value that breaks the schema is refused with the field, the value and what would be right', async () => {
    const { status, body } = await api.post(GADGETS, gadget('broken', { size: 'big' }));
    assert.equal(status, 422);
    assert.equal(body['reason'], 'Invalid');
    assert.equal(at(body, 'details.causes.0.field'), 'spec.size');
    assert.match(String(body['message']), /spec\.size in body must be of type integer: "string"/);
  });

  test('unknown fields are dropped with a warning, refused when strict, and kept from view when ignored', async () => {
    const warned = await api.post(GADGETS, gadget('w1', { shape: 'round' }));
    assert.equal(warned.status, 201);
    assert.deepEqual(warned.warnings, ['unknown field "spec.shape"']);
    assert.equal(at(warned.body, 'spec.shape'), undefined);
    const strict = await api.post(`${GADGETS}?fieldValidation=Strict`, gadget('w2', { shape: 'round' }));
    assert.equal(strict.status, 400);
    assert.match(String(strict.body['message']), /strict decoding error: unknown field "spec\.shape"$/);
    const ignored = await api.post(`${GADGETS}?fieldValidation=Ignore`, gadget('w3', { shape: 'round' }));
    assert.deepEqual(ignored.warnings, []);
  });

  test('the status is written by /status alone, and counts no generation', async () => {
    const { body: made } = await api.post(GADGETS, { ...gadget('twofold'), status: { size: 1 } });
    assert.equal(made['status'], undefined);
    const { body: spec } = await api.patch(`${GADGETS}/twofold`, 'merge', { spec: { size: 5 }, status: { size: 5 } });
    assert.equal(spec['status'], undefined);
    assert.equal(at(spec, 'metadata.generation'), 2);
    const { body: status } = await api.patch(`${GADGETS}/twofold/status`, 'merge', {
      spec: { size: 9 },
      status: { size: 5 },
    });
    assert.equal(at(status, 'spec.size'), 5);
    assert.equal(at(status, 'status.size'), 5);
    assert.equal(at(status, 'metadata.generation'), 2);
  });

  test('a dry run answers as if it had stored, and stores nothing', async () => {
    const { status, body } = await api.post(`${MAPS}?dryRun=All`, configMap('dry'));
    assert.equal(status, 201);
    assert.match(String(at(body, 'metadata.uid')), /^[0-9a-f-]{36}$/);
    assert.equal((await api.get(`${MAPS}/dry`)).status, 404);
    const wrong = await api.post(`${MAPS}?dryRun=Some`, configMap('dry'));
    assert.equal(wrong.status, 422);
  });

  test('server-side apply refuses to take what another manager has set, unless forced', async () => {
    const path = `${GADGETS}/applied`;
    const first = await api.patch(`${path}?fieldManager=one`, 'apply', gadget('applied', { color: 'red' }));
    assert.equal(first.status, 201);
    const second = await api.patch(`${path}?fieldManager=two`, 'apply', gadget('applied', { color: 'blue' }));
    assert.equal(second.status, 409);
    assert.deepEqual(at(second.body, 'details.causes'), [
      { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.color' },
    ]);
    const forced = await api.patch(
      `${path}?fieldManager=two&force=true`,
      'apply',
      gadget('applied', { color: 'blue' }),
    );
    assert.equal(at(forced.body, 'spec.color'), 'blue');
    const nobody = await api.patch(path, 'apply', gadget('applied'));
    assert.equal(nobody.status, 422);
    assert.match(String(nobody.body['message']), /fieldManager: Required value/);
  });

  test('what a manager no longer applies goes, as far as nobody else has it', async () => {
    const path = `${GADGETS}/shrinking?fieldManager=one`;
    await api.patch(path, 'apply', gadget('shrinking', { color: 'red', parts: [{ name: 'a' }, { name: 'b' }] }));
    const { body } = await api.patch(path, 'apply', gadget('shrinking', { parts: [{ name: 'b' }] }));
    assert.deepEqual(body['spec'], { parts: [{ name: 'b', count: 1 }], size: 3 });
  });

  test('custom objects take no strategic merge patch', async () => {
    await api.post(GADGETS, gadget('strategic'));
    const { status, body } = await api.patch(`${GADGETS}/strategic`, 'strategic-merge', {});
    assert.equal(status, 415);
    assert.match(String(body['message']), /application\/merge-patch\+json/);
  });

  test('patches of many writers at once are all applied', async () => {
    await api.post(MAPS, configMap('crowded'));
    const writers = Array.from({ length: 30 }, (_, i) =>
      api.patch(`${MAPS}/crowded`, 'merge', { data: { [`k${i}`]: 'v' } }),
    );
    assert.ok((await Promise.all(writers)).every(({ status }) => status === 200));
    const { body } = await api.get(`${MAPS}/crowded`);
    assert.equal(Object.keys(body['data'] as object).length, 30);
  });

  test('the scale of an object is its size by another name', async () => {
    await api.post(GADGETS, gadget('scaled'));
    const { body } = await api.get(`${GADGETS}/scaled/scale`);
    assert.equal(body['kind'], 'Scale');
    assert.equal(at(body, 'spec.replicas'), 3);
    const changed = await api.patch(`${GADGETS}/scaled/scale`, 'merge', { spec: { replicas: 7 } });
    assert.equal(at(changed.body, 'spec.replicas'), 7);
    assert.equal(at((await api.get(`${GADGETS}/scaled`)).body, 'spec.size'), 7);
    const table = await api.get(`${GADGETS}/scaled/scale`, 'application/json;as=Table;g=meta.k8s.io;v=v1');
    const columns = at(table.body, 'columnDefinitions') as { name: string }[];
    assert.deepEqual(
      columns.map(({ name }) => name),
      ['Name', 'Desired', 'Available', 'Age'],
    );
    assert.deepEqual((at(table.body, 'rows.0.cells') as Json[]).slice(0, 3), ['scaled', 7, 0]);
  });

  test('a deletion may say in its body that it is not meant', async () => {
    await api.post(MAPS, configMap('spared', {}, { labels: { spared: 'yes' } }));
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] };
    assert.equal((await api.delete(`${MAPS}/spared`, options)).status, 200);
    const { body } = await api.delete(`${MAPS}?labelSelector=spared`, options);
    assert.equal(at(body, 'items.0.metadata.name'), 'spared');
    assert.equal((await api.get(`${MAPS}/spared`)).status, 200);
  });

  test('a finalizer holds a deleted object until it is taken off', async () => {
    await api.post(GADGETS, { ...gadget('held'), metadata: { name: 'held', finalizers: ['test.example/hold'] } });
    const { status, body } = await api.delete(`${GADGETS}/held`);
    assert.equal(status, 200);
    assert.notEqual(at(body, 'metadata.deletionTimestamp'), undefined);
    assert.equal(at(body, 'metadata.generation'), 2);
    const more = await api.patch(`${GADGETS}/held`, 'merge', {
      metadata: { finalizers: ['test.example/hold', 'test.example/more'] },
    });
    assert.equal(more.status, 422);
    const released = await api.patch(`${GADGETS}/held`, 'merge', { metadata: { finalizers: null } });
    assert.equal(released.status, 200);
    assert.equal((await api.get(`${GADGETS}/held`)).status, 404);
  });

  test('deleting asks for the uid that was meant', async () => {
    const { body } = await api.post(MAPS, configMap('meant'));
    const wrong = await api.delete(`${MAPS}/meant`, { preconditions: { uid: 'other' } });
    assert.equal(wrong.status, 409);
    const right = await api.delete(`${MAPS}/meant`, { preconditions: { uid: at(body, 'metadata.uid') ?? null } });
    assert.equal(right.status, 200);
    assert.equal(right.body['status'], 'Success');
    assert.equal(at(right.body, 'details.uid'), at(body, 'metadata.uid'));
  });

  test('the name in the body must be the name in the path', async () => {
    await api.post(MAPS, configMap('one-name'));
    assert.equal((await api.put(`${MAPS}/one-name`, configMap('other-name'))).status, 400);
    assert.equal((await api.post(MAPS, configMap('x', {}, { namespace: 'kube-system' }))).status, 400);
    const nameless = { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} };
    assert.equal((await api.put(`${MAPS}/one-name`, nameless)).status, 400);
  });

  test('custom objects and what is applied must say what they are', async () => {
    const { apiVersion: _, kind: __, ...unsaid } = gadget('unsaid');
    assert.equal((await api.post(GADGETS, unsaid)).status, 400);
    await api.patch(`${MAPS}/owned?fieldManager=me`, 'apply', configMap('owned', { x: '1' }));
    const nothing = await api.patch(`${MAPS}/owned?fieldManager=me`, 'apply', { metadata: { name: 'owned' } });
    assert.equal(nothing.status, 400);
    assert.deepEqual((await api.get(`${MAPS}/owned`)).body['data'], { x: '1' });
  });

  test('an apply patch with a uid makes nothing new, one with a version does', async () => {
    const withUid = configMap('lost', {}, { uid: 'd7c2aa9c-7bd1-4e0b-9d8b-000000000000' });
    assert.equal((await api.patch(`${MAPS}/lost?fieldManager=me`, 'apply', withUid)).status, 409);
    const withVersion = configMap('lost', {}, { resourceVersion: '5' });
    assert.equal((await api.patch(`${MAPS}/lost?fieldManager=me`, 'apply', withVersion)).status, 201);
  });

  test('force is for apply patches alone', async () => {
    await api.post(MAPS, configMap('gentle'));
    const { status, body } = await api.patch(`${MAPS}/gentle?force=true`, 'merge', {});
    assert.equal(status, 422);
    assert.equal(at(body, 'details.causes.0.field'), 'force');
  });

  test('a custom object is replaced only with its version in hand', async () => {
    await api.post(GADGETS, gadget('versioned'));
    const { status, body } = await api.put(`${GADGETS}/versioned`, gadget('versioned'));
    assert.equal(status, 422);
    assert.match(String(body['message']), /^gadgets\.test\.example "versioned" is invalid: metadata\.resourceVersion/);
  });

  test('what is not served is not found: with a Status in a built-in group, else in plain text', async () => {
    for (const path of ['/apis/nobody.example/v1/things', '/apis/test.example/v1/things', '/apis/nobody.example/v1']) {
      const { status, body } = await api.get(path);
      assert.deepEqual([status, body['message']], [404, '404 page not found']);
    }
    for (const path of ['/api/v1/things', '/apis/apps/v1/things', '/apis/apps/v9', `${MAPS}/x/y`]) {
      const { status, body } = await api.get(path);
      assert.deepEqual([status, body['reason']], [404, 'NotFound'], path);
    }
  });

  test('without a namespace, what lives in one can be listed and nothing else', async () => {
    assert.equal((await api.get('/api/v1/configmaps')).status, 200);
    assert.equal((await api.post('/api/v1/configmaps', configMap('x'))).status, 405);
    assert.equal((await api.delete('/api/v1/configmaps')).status, 405);
    assert.equal((await api.get('/api/v1/configmaps/x')).status, 404);
    assert.equal((await api.post('/apis/test.example/v1/gadgets', gadget('x'))).status, 404);
  });

  test('an empty value of another type is a mistake, not nothing', async () => {
    for (const data of [[], '', 0, false]) {
      assert.equal((await api.post(MAPS, { ...configMap('mistaken'), data })).status, 422, JSON.stringify(data));
    }
  });
});
