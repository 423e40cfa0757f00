import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Json, JsonObject } from '../../src/api/json.ts';
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

const NAMESPACES = '/api/v1/namespaces';

describe('what the engine does by itself', () => {
  let api: EngineInTest;
  before(async () => {
    api = await EngineInTest.start();
    await api.post(DEFINITIONS, gadgets());
  });
  after(() => api.stop());

  const isGone = (path: string) =>
    eventually(
      () => api.get(path),
      ({ status }) => status === 404,
    );
  const owner = async (name: string): Promise<{ uid: string; reference: JsonObject }> => {
    const { body } = await api.post(GADGETS, gadget(name));
    const uid = String(at(body, 'metadata.uid'));
    return { uid, reference: { apiVersion: 'test.example/v1', kind: 'Gadget', name, uid } };
  };
  const owned = (name: string, ...references: JsonObject[]) => configMap(name, {}, { ownerReferences: references });

  test('the namespaces of the system are there from the start, furnished', async () => {
    for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
      assert.equal((await api.get(`${NAMESPACES}/${name}`)).status, 200);
    }
    const { body } = await eventually(
      () => api.get(`${MAPS}/kube-root-ca.crt`),
      ({ status }) => status === 200,
    );
    assert.match(String(at(body, 'data.ca') ?? JSON.stringify(body['data'])), /BEGIN CERTIFICATE/);
    await eventually(
      () => api.get(`${NAMESPACES}/default/serviceaccounts/default`),
      ({ status }) => status === 200,
    );
  });

  test('the namespaces of the system cannot be deleted', async () => {
    const { status, body } = await api.delete(`${NAMESPACES}/default`);
    assert.equal(status, 403);
    assert.equal(body['message'], 'namespaces "default" is forbidden: this namespace may not be deleted');
  });

  test('a new namespace is active, labelled with its name, and furnished', async () => {
    const { body } = await api.post(NAMESPACES, { metadata: { name: 'fresh' } });
    assert.equal(at(body, 'status.phase'), 'Active');
    assert.deepEqual(at(body, 'metadata.labels'), { 'kubernetes.io/metadata.name': 'fresh' });
    await eventually(
      () => api.get(`${NAMESPACES}/fresh/serviceaccounts/default`),
      ({ status }) => status === 200,
    );
  });

  test('what was furnished and is removed comes back', async () => {
    await eventually(
      () => api.get(`${MAPS}/kube-root-ca.crt`),
      ({ status }) => status === 200,
    );
    await api.delete(`${MAPS}/kube-root-ca.crt`);
    await eventually(
      () => api.get(`${MAPS}/kube-root-ca.crt`),
      ({ status }) => status === 200,
    );
  });

  test('deleting a namespace deletes all that is in it, then the namespace', async () => {
    await api.post(NAMESPACES, { metadata: { name: 'doomed' } });
    for (let i = 0; i < 20; i++) await api.post(`${NAMESPACES}/doomed/configmaps`, configMap(`m${i}`));
    await api.post('/apis/test.example/v1/namespaces/doomed/gadgets', gadget('g'));
    const { body } = await api.delete(`${NAMESPACES}/doomed`);
    assert.equal(at(body, 'status.phase'), 'Terminating');
    await isGone(`${NAMESPACES}/doomed`);
    assert.deepEqual((await api.get(`${NAMESPACES}/doomed/configmaps`)).body['items'], []);
  });

  test('nothing new may enter a namespace that ends, and its status says what holds it', async () => {
    await api.post(NAMESPACES, { metadata: { name: 'stuck' } });
    const inside = '/apis/test.example/v1/namespaces/stuck/gadgets';
    await api.post(inside, { ...gadget('g'), metadata: { name: 'g', finalizers: ['test.example/hold'] } });
    await api.delete(`${NAMESPACES}/stuck`);
    const refused = await api.post(`${NAMESPACES}/stuck/configmaps`, configMap('late'));
    assert.equal(refused.status, 403);
    assert.equal(at(refused.body, 'details.causes.0.reason'), 'NamespaceTerminating');
    const { body } = await eventually(
      () => api.get(`${NAMESPACES}/stuck`),
      ({ body }) => JSON.stringify(at(body, 'status.conditions') ?? '').includes('test.example/hold'),
    );
    assert.match(JSON.stringify(at(body, 'status.conditions')), /gadgets\.test\.example has 1 resource instances/);
    await api.patch(`${inside}/g`, 'merge', { metadata: { finalizers: null } });
    await isGone(`${NAMESPACES}/stuck`);
  });

  test('what was owned goes with its owner', async () => {
    const { reference } = await owner('parent');
    await api.post(MAPS, owned('child', reference));
    const { body } = await api.get(`${MAPS}/child`);
    const grandchild = { apiVersion: 'v1', kind: 'ConfigMap', name: 'child', uid: String(at(body, 'metadata.uid')) };
    await api.post(MAPS, owned('grandchild', grandchild));
    await api.delete(`${GADGETS}/parent`);
    await isGone(`${MAPS}/child`);
    await isGone(`${MAPS}/grandchild`);
  });

  test('what has another owner stays, and forgets the one that is gone', async () => {
    const [one, two] = [await owner('one'), await owner('two')];
    await api.post(MAPS, owned('shared', one.reference, two.reference));
    await api.delete(`${GADGETS}/one`);
    const { body } = await eventually(
      () => api.get(`${MAPS}/shared`),
      ({ body }) => (at(body, 'metadata.ownerReferences') as Json[]).length === 1,
    );
    assert.equal(at(body, 'metadata.ownerReferences.0.uid'), two.uid);
  });

  test('an object whose owner has gone before it came is collected, also when another has taken the name', async () => {
    const { reference } = await owner('reborn');
    await api.delete(`${GADGETS}/reborn`);
    await api.post(GADGETS, gadget('reborn'));
    await api.post(MAPS, owned('late-child', reference));
    await isGone(`${MAPS}/late-child`);
  });

  test('deleting in the foreground waits for what blocks it', async () => {
    const { reference } = await owner('last');
    const child = owned('first', { ...reference, blockOwnerDeletion: true });
    await api.post(MAPS, {
      ...child,
      metadata: { ...(child['metadata'] as JsonObject), finalizers: ['test.example/hold'] },
    });
    const { body } = await api.delete(`${GADGETS}/last`, { propagationPolicy: 'Foreground' });
    assert.deepEqual(at(body, 'metadata.finalizers'), ['foregroundDeletion']);
    await eventually(
      () => api.get(`${MAPS}/first`),
      ({ body }) => at(body, 'metadata.deletionTimestamp') !== undefined,
    );
    assert.equal((await api.get(`${GADGETS}/last`)).status, 200);
    await api.patch(`${MAPS}/first`, 'merge', { metadata: { finalizers: null } });
    await isGone(`${GADGETS}/last`);
  });

  test('deleting with Orphan leaves what was owned, without its owner', async () => {
    const { reference } = await owner('leaving');
    await api.post(MAPS, owned('orphan', reference));
    await api.delete(`${GADGETS}/leaving`, { propagationPolicy: 'Orphan' });
    await isGone(`${GADGETS}/leaving`);
    const { status, body } = await api.get(`${MAPS}/orphan`);
    assert.equal(status, 200);
    assert.equal(at(body, 'metadata.ownerReferences.0'), undefined);
  });

  test('deleting a definition deletes its objects first, and takes no new ones meanwhile', async () => {
    const definition = gadgets();
    const text = JSON.stringify(definition)
      .replaceAll('gadgets', 'widgets')
      .replaceAll('Gadget', 'Widget')
      .replace('"gd"', '"wd"');
    await api.post(DEFINITIONS, JSON.parse(text));
    const widgets = '/apis/test.example/v1/namespaces/default/widgets';
    const widget = {
      apiVersion: 'test.example/v1',
      kind: 'Widget',
      metadata: { name: 'w', finalizers: ['test.example/hold'] },
      spec: {},
    };
    assert.equal((await api.post(widgets, widget)).status, 201);
    await api.delete(`${DEFINITIONS}/widgets.test.example`);
    await eventually(
      () => api.get(`${widgets}/w`),
      ({ body }) => at(body, 'metadata.deletionTimestamp') !== undefined,
    );
    assert.equal((await api.post(widgets, { ...widget, metadata: { name: 'x' } })).status, 405);
    await api.patch(`${widgets}/w`, 'merge', { metadata: { finalizers: null } });
    await isGone(`${DEFINITIONS}/widgets.test.example`);
    assert.equal((await api.get(widgets)).status, 404);
  });

  test('a definition is established by the write that brings it; one whose names are taken is not', async () => {
    const { body } = await api.get(`${DEFINITIONS}/gadgets.test.example`);
    assert.equal(at(body, 'status.conditions.1.type'), 'Established');
    assert.equal(at(body, 'status.conditions.1.status'), 'True');
    const rival = JSON.parse(JSON.stringify(gadgets()).replaceAll('gadgets', 'gizmos'));
    const made = await api.post(DEFINITIONS, rival);
    assert.equal(made.status, 201);
    assert.equal(at(made.body, 'status.conditions.0.status'), 'False');
    assert.match(String(at(made.body, 'status.conditions.0.message')), /"gadget" is already in use/);
  });

  test('a new default shows up in objects that were stored before', async () => {
    await api.post(GADGETS, gadget('before'));
    const added = JSON.parse(
      JSON.stringify(gadgets()).replace('"color":{"type":"string"}', '"color":{"type":"string","default":"grey"}'),
    );
    const { body } = await api.get(`${DEFINITIONS}/gadgets.test.example`);
    const { status } = await api.put(`${DEFINITIONS}/gadgets.test.example`, {
      ...added,
      metadata: body['metadata'] ?? {},
    });
    assert.equal(status, 200);
    const shown = await api.get(`${GADGETS}/before`);
    assert.equal(at(shown.body, 'spec.color'), 'grey');
    const list = await api.get(`${GADGETS}?fieldSelector=metadata.name%3Dbefore`);
    assert.equal(at(list.body, 'items.0.spec.color'), 'grey');
  });

  test('everything is there again after a restart, and versions go on rising', async () => {
    const first = await EngineInTest.start();
    await first.post(DEFINITIONS, gadgets());
    const { body: made } = await first.post(GADGETS, gadget('kept', { size: 8 }));
    await first.engine.close();
    const second = await EngineInTest.start({ directory: first.directory });
    try {
      const { body: kept } = await second.get(`${GADGETS}/kept`);
      assert.deepEqual(kept, made);
      const { body: next } = await second.post(GADGETS, gadget('next'));
      assert.ok(Number(at(next, 'metadata.resourceVersion')) > Number(at(made, 'metadata.resourceVersion')));
      const [event] = await second.events(
        `${GADGETS}?watch=1&resourceVersion=${at(made, 'metadata.resourceVersion')}`,
        1,
      );
      assert.equal(at(event?.['object'], 'metadata.name'), 'next');
    } finally {
      await second.stop();
    }
  });
});
