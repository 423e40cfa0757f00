import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isJsonObject, type Json, type JsonObject } from '../../src/api/json.ts';
import {
  at,
  configMap,
  DEFINITIONS,
  EngineInTest,
  eventually,
  GADGETS,
  gadget,
  gadgets,
  MAPS,
} from './engine-in-test.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const names = (body: JsonObject): Json[] =>
  (Array.isArray(body['items']) ? body['items'] : []).map((item) => at(item, 'metadata.name') ?? null);
const inNamespace = (name: string) => `/api/v1/namespaces/${name}/configmaps`;

describe('lists and watches of the engine', () => {
  let api: EngineInTest;
  before(async () => {
    api = await EngineInTest.start({ limits: { historyEvents: 200 } });
    await api.post(DEFINITIONS, gadgets());
  });
  after(() => api.stop());

  const namespace = async (name: string): Promise<string> => {
    await api.post('/api/v1/namespaces', { metadata: { name } });
    await eventually(
      () => api.get(inNamespace(name)),
      ({ body }) => names(body).includes('kube-root-ca.crt'),
    );
    return inNamespace(name);
  };

  test('the pages of a list all show the moment of the first one', async () => {
    const path = await namespace('paged');
    for (const name of ['a', 'b', 'c', 'd']) await api.post(path, configMap(name));
    const first = await api.get(`${path}?limit=2`);
    assert.deepEqual(names(first.body), ['a', 'b']);
    assert.equal(at(first.body, 'metadata.remainingItemCount'), 3);
    await api.post(path, configMap('bb'));
    await api.delete(`${path}/c`);
    const token = String(at(first.body, 'metadata.continue'));
    const second = await api.get(`${path}?limit=10&continue=${token}`);
    assert.deepEqual(names(second.body), ['c', 'd', 'kube-root-ca.crt']);
    assert.equal(at(second.body, 'metadata.resourceVersion'), at(first.body, 'metadata.resourceVersion'));
    assert.equal(at(second.body, 'metadata.continue'), undefined);
  });

  test('a list goes on over the newest objects when its moment is forgotten', async () => {
    const path = await namespace('forgotten');
    for (const name of ['a', 'b', 'c']) await api.post(path, configMap(name));
    const first = await api.get(`${path}?limit=1`);
    for (let i = 0; i < 250; i++) await api.patch(`${path}/a`, 'merge', { data: { i: String(i) } });
    const gone = await api.get(`${path}?limit=1&continue=${at(first.body, 'metadata.continue')}`);
    assert.equal(gone.status, 410);
    assert.equal(gone.body['reason'], 'Expired');
    const goOn = await api.get(`${path}?continue=${at(gone.body, 'metadata.continue')}`);
    assert.deepEqual(names(goOn.body), ['b', 'c', 'kube-root-ca.crt']);
  });

  test('a continue token that is not ours is refused', async () => {
    for (const token of [
      'nonsense',
      Buffer.from('{"v":"meta.k8s.io/v1","rv":99999999,"start":"a/b\\u0000"}').toString('base64url'),
    ]) {
      assert.equal((await api.get(`${MAPS}?continue=${token}`)).status, 400);
    }
  });

  test('labels and fields select what a list shows', async () => {
    const path = await namespace('selected');
    await api.post(path, configMap('front', {}, { labels: { tier: 'front' } }));
    await api.post(path, configMap('back', {}, { labels: { tier: 'back' } }));
    const list = async (query: string) => names((await api.get(`${path}?${query}`)).body);
    assert.deepEqual(await list('labelSelector=tier'), ['back', 'front']);
    assert.deepEqual(await list('labelSelector=tier%3Dfront'), ['front']);
    assert.deepEqual(await list('labelSelector=tier%20notin%20(front)'), ['back', 'kube-root-ca.crt']);
    assert.deepEqual(await list('fieldSelector=metadata.name%3Dback'), ['back']);
    assert.deepEqual(await list('limit=1&labelSelector=tier%3Dfront'), ['front']);
    const unknown = await api.get(`${path}?fieldSelector=data.x%3D1`);
    assert.equal(unknown.status, 400);
    assert.equal(unknown.body['message'], 'field label not supported: data.x');
  });

  test('custom kinds can be selected by the fields that their definition names', async () => {
    await api.post(GADGETS, gadget('red', { color: 'red' }));
    await api.post(GADGETS, gadget('blue', { color: 'blue' }));
    assert.deepEqual(names((await api.get(`${GADGETS}?fieldSelector=spec.color%3Dred`)).body), ['red']);
  });

  test('a table has the columns of the definition, with cells of the right type', async () => {
    await api.post(GADGETS, gadget('tabled', { size: 12 }));
    const { body } = await api.get(`${GADGETS}/tabled`, TABLE);
    assert.equal(body['kind'], 'Table');
    const columns = Array.isArray(body['columnDefinitions']) ? body['columnDefinitions'] : [];
    assert.deepEqual(
      columns.map((column) => at(column, 'name')),
      ['Name', 'Size', 'Ready'],
    );
    assert.deepEqual(at(body, 'rows.0.cells'), ['tabled', 12, null]);
    assert.equal(at(body, 'rows.0.object.kind'), 'PartialObjectMetadata');
    await api.patch(`${GADGETS}/tabled/status`, 'merge', {
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
    assert.deepEqual(at((await api.get(`${GADGETS}/tabled`, TABLE)).body, 'rows.0.cells'), ['tabled', 12, 'True']);
  });

  test('metadata alone can be listed', async () => {
    const { body } = await api.get(MAPS, METADATA);
    assert.equal(body['kind'], 'PartialObjectMetadataList');
    assert.equal(at(body, 'items.0.kind'), 'PartialObjectMetadata');
    assert.equal(at(body, 'items.0.data'), undefined);
  });

  test('an answer in a form that nobody can give is refused with the forms there are', async () => {
    const { status, body } = await api.get(MAPS, 'text/html');
    assert.equal(status, 406);
    assert.match(String(body['message']), /application\/json, application\/yaml/);
  });

  test('a watch shows what was there, then every change in order', async () => {
    const path = await namespace('watched');
    await api.post(path, configMap('old'));
    const watching = api.events(`${path}?watch=1`, 5);
    await api.post(path, configMap('new'));
    await api.patch(`${path}/new`, 'merge', { data: { a: '1' } });
    await api.delete(`${path}/new`);
    const events = await watching;
    assert.deepEqual(
      events.map(({ type, object }) => [type, at(object, 'metadata.name')]),
      [
        ['ADDED', 'kube-root-ca.crt'],
        ['ADDED', 'old'],
        ['ADDED', 'new'],
        ['MODIFIED', 'new'],
        ['DELETED', 'new'],
      ],
    );
    const versions = events.slice(2).map(({ object }) => Number(at(object, 'metadata.resourceVersion')));
    assert.deepEqual(
      versions,
      versions.toSorted((a, b) => a - b),
    );
  });

  test('a watch from a version shows what has happened since, and nothing twice', async () => {
    const path = await namespace('resumed');
    const { body } = await api.post(path, configMap('a'));
    await api.post(path, configMap('b'));
    const watching = api.events(`${path}?watch=1&resourceVersion=${at(body, 'metadata.resourceVersion')}`, 2);
    await api.post(path, configMap('c'));
    assert.deepEqual(
      (await watching).map(({ object }) => at(object, 'metadata.name')),
      ['b', 'c'],
    );
  });

  test('a watch from a version that is forgotten ends with 410', async () => {
    const path = await namespace('too-old');
    const { body } = await api.post(path, configMap('a'));
    for (let i = 0; i < 250; i++) await api.patch(`${path}/a`, 'merge', { data: { i: String(i) } });
    const [event] = await api.events(`${path}?watch=1&resourceVersion=${at(body, 'metadata.resourceVersion')}`, 1);
    assert.equal(event?.['type'], 'ERROR');
    assert.equal(at(event?.['object'], 'code'), 410);
    assert.match(String(at(event?.['object'], 'message')), /^too old resource version: \d+ \(\d+\)$/);
  });

  test('to a watch with a selector, an object that comes to match appears and one that ceases to vanishes', async () => {
    const path = await namespace('matching');
    const watching = api.events(`${path}?watch=1&labelSelector=on&resourceVersion=`, 3);
    await api.post(path, configMap('a'));
    await api.patch(`${path}/a`, 'merge', { metadata: { labels: { on: 'yes' } } });
    await api.patch(`${path}/a`, 'merge', { data: { x: '1' } });
    const { body } = await api.patch(`${path}/a`, 'merge', { metadata: { labels: { on: null } } });
    const events = await watching;
    assert.deepEqual(
      events.map(({ type }) => type),
      ['ADDED', 'MODIFIED', 'DELETED'],
    );
    const last = events[2]?.['object'];
    assert.equal(at(last, 'metadata.labels.on'), 'yes', 'it vanishes as it last was to this client');
    assert.equal(at(last, 'metadata.resourceVersion'), at(body, 'metadata.resourceVersion'));
  });

  test('a streamed list ends its beginning with a bookmark that says so', async () => {
    const path = await namespace('streamed');
    await api.post(path, configMap('a'));
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const events = await api.events(`${path}?${query}`, 3);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['ADDED', 'ADDED', 'BOOKMARK'],
    );
    const annotations = at(events[2]?.['object'], 'metadata.annotations');
    assert.equal(isJsonObject(annotations) ? annotations['k8s.io/initial-events-end'] : undefined, 'true');
  });

  test('a watch as tables names the columns once', async () => {
    const path = await namespace('tables');
    const [first, second] = await api.events(`${path}?watch=1`, 1, TABLE).then(async (one) => {
      const watching = api.events(`${path}?watch=1`, 2, TABLE);
      await api.post(path, configMap('zz'));
      return [one[0], (await watching)[1]];
    });
    assert.ok(Array.isArray(at(first?.['object'], 'columnDefinitions')));
    assert.equal(at(second?.['object'], 'columnDefinitions'), null);
  });

  test('a version from the future is waited for, but not long', async () => {
    const began = Date.now();
    const { status, body } = await api.get(`${MAPS}?resourceVersion=99999999&resourceVersionMatch=NotOlderThan`);
    assert.equal(status, 504);
    assert.match(String(body['message']), /^Too large resource version: 99999999, current: \d+$/);
    assert.ok(Date.now() - began >= 2_500);
  });

  test('wishes about versions that contradict each other are refused together', async () => {
    const { status, body } = await api.get(`${MAPS}?resourceVersionMatch=Sometimes`);
    assert.equal(status, 422);
    assert.equal((at(body, 'details.causes') as Json[]).length, 2);
  });

  test('a watch of one name shows only that', async () => {
    await api.post(MAPS, configMap('only'));
    const [event] = await api.events(`${MAPS}/only?watch=1`, 1);
    assert.equal(at(event?.['object'], 'metadata.name'), 'only');
  });

  test('a watch ends when its kind is not served any more', async () => {
    const text = JSON.stringify(gadgets())
      .replaceAll('gadgets', 'doodads')
      .replaceAll('Gadget', 'Doodad')
      .replace('"gd"', '"dd"');
    await api.post(DEFINITIONS, JSON.parse(text));
    const path = '/apis/test.example/v1/doodads?watch=1';
    const ended = (async () => {
      for await (const _ of api.transport.stream({ method: 'GET', path }));
      return 'ended';
    })();
    await api.delete(`${DEFINITIONS}/doodads.test.example`);
    assert.equal(await ended, 'ended');
  });
});
