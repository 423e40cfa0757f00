import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  type Informer,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  Watch,
} from '@kubernetes/client-node';
import type { JsonObject } from '../../src/api/json.ts';
import {
  at,
  configMap,
  DEFINITIONS,
  EngineInTest,
  eventually,
  gadget,
  gadgets,
  MAPS,
} from '../engine/engine-in-test.ts';
import { RunningNetloom } from './netloom.ts';

const GADGETS = { group: 'test.example', version: 'v1', namespace: 'default', plural: 'gadgets' };
const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

function configOf(kubeconfig: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  return config;
}

/** Everything an informer has told, and what it holds: `add a`, `update a`, `delete a`. */
function follow(config: KubeConfig, labelSelector?: string) {
  const core = config.makeApiClient(CoreV1Api);
  const list = () =>
    core.listNamespacedConfigMap({ namespace: 'default', ...(labelSelector === undefined ? {} : { labelSelector }) });
  const informer = makeInformer(config, MAPS, list, labelSelector);
  const told: string[] = [];
  const versions: string[] = [];
  for (const verb of ['add', 'update', 'delete'] as const) {
    informer.on(verb, ({ metadata, data }: V1ConfigMap) => {
      if (metadata?.name === 'kube-root-ca.crt') return;
      told.push(`${verb} ${metadata?.name}`);
      versions.push(`${verb} ${metadata?.name} ${data?.['i'] ?? ''}`);
    });
  }
  return {
    informer,
    told,
    versions,
    until: (count: number) =>
      eventually(
        async () => told,
        ({ length }) => length >= count,
      ),
  };
}

/** Starts again whenever the connection is lost, as the documentation of the client says. */
function reviveOnError(informer: Informer<V1ConfigMap>): () => void {
  let isOver = false;
  informer.on('error', () => {
    setTimeout(() => {
      if (!isOver) void informer.start();
    }, 50);
  });
  return () => {
    isOver = true;
  };
}

describe('@kubernetes/client-node on an engine', () => {
  let api: EngineInTest;
  let config: KubeConfig;
  let custom: CustomObjectsApi;
  let core: CoreV1Api;
  before(async () => {
    api = await EngineInTest.start({ limits: { historyEvents: 100 } });
    await api.post(DEFINITIONS, gadgets());
    config = configOf(join(api.directory, 'kubeconfig'));
    custom = config.makeApiClient(CustomObjectsApi);
    core = config.makeApiClient(CoreV1Api);
  });
  after(() => api.stop());

  test('custom objects are made, read, listed, replaced, patched and deleted', async () => {
    const made: JsonObject = await custom.createNamespacedCustomObject({
      ...GADGETS,
      body: gadget('one', { size: 1 }),
    });
    assert.equal(at(made, 'metadata.generation'), 1);
    const spec = { size: 2, color: 'red' };
    const replaced = await custom.replaceNamespacedCustomObject({ ...GADGETS, name: 'one', body: { ...made, spec } });
    assert.deepEqual(at(replaced, 'spec'), spec);
    const body = { spec: { size: 3 } };
    const patched = await custom.patchNamespacedCustomObject({ ...GADGETS, name: 'one', body }, merge);
    assert.deepEqual(at(patched, 'spec'), { size: 3, color: 'red' });
    const status = { status: { size: 3 } };
    await custom.patchNamespacedCustomObjectStatus({ ...GADGETS, name: 'one', body: status }, merge);
    const read = await custom.getNamespacedCustomObject({ ...GADGETS, name: 'one' });
    assert.deepEqual(at(read, 'status'), { size: 3 });
    const scale = await custom.getNamespacedCustomObjectScale({ ...GADGETS, name: 'one' });
    assert.deepEqual(at(scale, 'spec'), { replicas: 3 });
    const applied = await custom.patchNamespacedCustomObject(
      { ...GADGETS, name: 'two', body: gadget('two', { color: 'red' }), fieldManager: 'test', force: true },
      setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply),
    );
    assert.equal(at(applied, 'metadata.managedFields.0.manager'), 'test');
    const list = await custom.listNamespacedCustomObject({ ...GADGETS, limit: 1 });
    assert.equal(at(list, 'items.0.metadata.name'), 'one');
    const rest = await custom.listNamespacedCustomObject({
      ...GADGETS,
      _continue: String(at(list, 'metadata.continue')),
    });
    assert.equal(at(rest, 'items.0.metadata.name'), 'two');
    const deleted = await custom.deleteNamespacedCustomObject({ ...GADGETS, name: 'one' });
    assert.equal(at(deleted, 'status'), 'Success');
    await custom.deleteCollectionNamespacedCustomObject(GADGETS);
    assert.deepEqual(at(await custom.listNamespacedCustomObject(GADGETS), 'items'), []);
  });

  test('built-in objects have their types, dates among them', async () => {
    const { metadata } = await core.createNamespacedConfigMap({
      namespace: 'default',
      body: configMap('typed', { x: '1' }),
    });
    assert.ok(metadata?.creationTimestamp instanceof Date);
    const apps = config.makeApiClient(AppsV1Api);
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
    const body = { metadata: { name: 'web' }, spec: { selector: { matchLabels: labels }, template } };
    const made = await apps.createNamespacedDeployment({ namespace: 'default', body });
    assert.equal(made.spec?.replicas, 1);
    const strategic = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);
    const env = { spec: { template: { spec: { containers: [{ name: 'web', env: [{ name: 'A', value: 'b' }] }] } } } };
    const patched = await apps.patchNamespacedDeployment({ namespace: 'default', name: 'web', body: env }, strategic);
    assert.equal(patched.spec?.template.spec?.containers[0]?.image, 'web:1');
    assert.equal(patched.spec?.template.spec?.containers[0]?.env?.[0]?.value, 'b');
  });

  test('objects of any kind are found by what they say they are', async () => {
    const objects = KubernetesObjectApi.makeApiClient(config);
    await objects.create({ ...gadget('any'), apiVersion: 'test.example/v1', kind: 'Gadget' });
    const read = await objects.read({
      apiVersion: 'test.example/v1',
      kind: 'Gadget',
      metadata: { name: 'any', namespace: 'default' },
    });
    assert.equal(at(read as unknown as JsonObject, 'spec.size'), 3);
    await objects.delete({
      apiVersion: 'test.example/v1',
      kind: 'Gadget',
      metadata: { name: 'any', namespace: 'default' },
    });
  });

  test('what is refused carries a Status', async () => {
    const failure = async (attempt: Promise<unknown>): Promise<ApiException<unknown>> => {
      const error = await attempt.then(
        () => assert.fail('it should have been refused'),
        (reason: unknown) => reason,
      );
      assert.ok(error instanceof ApiException, String(error));
      return error;
    };
    const refusal = async (attempt: Promise<unknown>): Promise<{ code: number; status: JsonObject }> => {
      const { code, body } = await failure(attempt);
      return { code, status: typeof body === 'string' ? JSON.parse(body) : body };
    };
    const missing = await refusal(core.readNamespacedConfigMap({ namespace: 'default', name: 'missing' }));
    assert.equal(missing.code, 404);
    assert.equal(missing.status['kind'], 'Status');
    assert.equal(missing.status['reason'], 'NotFound');
    await core.createNamespacedConfigMap({ namespace: 'default', body: configMap('twice') });
    const again = await refusal(core.createNamespacedConfigMap({ namespace: 'default', body: configMap('twice') }));
    assert.equal(again.status['reason'], 'AlreadyExists');
    const stale = configMap('twice', {}, { resourceVersion: '1' });
    const conflict = await refusal(
      core.replaceNamespacedConfigMap({ namespace: 'default', name: 'twice', body: stale }),
    );
    assert.deepEqual([conflict.code, conflict.status['reason']], [409, 'Conflict']);
    const wrong = await refusal(
      custom.createNamespacedCustomObject({ ...GADGETS, body: gadget('wrong', { size: 'x' }) }),
    );
    assert.equal(wrong.code, 422);
    assert.equal(at(wrong.status, 'details.causes.0.field'), 'spec.size');
    const nowhere = await failure(custom.listNamespacedCustomObject({ ...GADGETS, plural: 'gizmos' }));
    assert.equal(nowhere.code, 404);
  });

  test('a watch ends with a bookmark where it was asked for', async () => {
    const { metadata } = await core.listNamespacedConfigMap({ namespace: 'default' });
    const seen: { type: string; object: JsonObject }[] = [];
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const query = { resourceVersion: metadata?.resourceVersion, allowWatchBookmarks: true, timeoutSeconds: 1 };
    await new Watch(config).watch(MAPS, query, (type, object) => seen.push({ type, object }), resolve);
    await core.createNamespacedConfigMap({ namespace: 'default', body: configMap('watched') });
    assert.equal(await promise, null);
    assert.deepEqual(
      seen.map(({ type }) => type),
      ['ADDED', 'BOOKMARK'],
    );
    assert.equal(seen[1]?.object['kind'], 'ConfigMap');
    assert.ok(
      Number(at(seen[1]?.object, 'metadata.resourceVersion')) >=
        Number(at(seen[0]?.object, 'metadata.resourceVersion')),
    );
  });

  test('an informer tells what is there, what comes, changes and goes', async () => {
    const { informer, told, until } = follow(config, 'informed');
    const labels = { informed: 'yes' };
    await core.createNamespacedConfigMap({ namespace: 'default', body: configMap('before', {}, { labels }) });
    await informer.start();
    assert.deepEqual(await until(1), ['add before']);
    await core.createNamespacedConfigMap({ namespace: 'default', body: configMap('new', {}, { labels }) });
    await core.createNamespacedConfigMap({ namespace: 'default', body: configMap('other') });
    await core.patchNamespacedConfigMap({ namespace: 'default', name: 'new', body: { data: { x: '1' } } }, merge);
    await core.patchNamespacedConfigMap(
      { namespace: 'default', name: 'before', body: { metadata: { labels: { informed: null } } } },
      merge,
    );
    await core.deleteNamespacedConfigMap({ namespace: 'default', name: 'new' });
    await until(5);
    assert.deepEqual(told, ['add before', 'add new', 'update new', 'delete before', 'delete new']);
    assert.deepEqual(informer.list(), []);
    await informer.stop();
  });

  test('an informer that was away for longer than history goes begins again with a list', async () => {
    const { informer, told, until } = follow(config, 'ancient');
    const labels = { ancient: 'yes' };
    const make = (name: string) =>
      core.createNamespacedConfigMap({ namespace: 'default', body: configMap(name, {}, { labels }) });
    await make('stays');
    await make('leaves');
    await informer.start();
    await until(2);
    await informer.stop();
    await core.deleteNamespacedConfigMap({ namespace: 'default', name: 'leaves' });
    for (let i = 0; i < 150; i++) await api.patch(`${MAPS}/stays`, 'merge', { data: { i: String(i) } });
    await make('comes');
    await informer.start();
    await until(5);
    assert.deepEqual(told.slice(0, 2).sort(), ['add leaves', 'add stays']);
    assert.deepEqual(told.slice(2).sort(), ['add comes', 'delete leaves', 'update stays']);
    assert.equal(informer.get('stays', 'default')?.data?.['i'], '149');
    await api.patch(`${MAPS}/stays`, 'merge', { data: { i: 'last' } });
    await until(6);
    assert.equal(informer.get('stays', 'default')?.data?.['i'], 'last');
    await informer.stop();
  });
});

test('an informer of @kubernetes/client-node outlives kill -9 of the engine and misses nothing', async () => {
  let engine = await RunningNetloom.start('engine');
  const listen = new URL(engine.url).host;
  const config = configOf(engine.kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const { informer, versions } = follow(config);
  const endRevival = reviveOnError(informer);
  const make = (name: string, i: number) =>
    core.createNamespacedConfigMap({ namespace: 'default', body: configMap(name, { i: String(i) }) });
  await informer.start();
  for (let round = 0; round < 3; round++) {
    await make(`before-${round}`, round);
    await engine.kill();
    engine = await RunningNetloom.start('engine', { directory: engine.directory, listen });
    // Without the informer, or before it is back: both must come to it.
    await make(`after-${round}`, round);
    await core.deleteNamespacedConfigMap({ namespace: 'default', name: `before-${round}` });
    await eventually(
      async () => versions,
      (all) => all.includes(`delete before-${round} ${round}`) && all.includes(`add after-${round} ${round}`),
    );
  }
  assert.deepEqual(
    informer
      .list()
      .map(({ metadata }) => metadata?.name)
      .filter((name) => name !== 'kube-root-ca.crt')
      .sort(),
    ['after-0', 'after-1', 'after-2'],
  );
  assert.equal(new Set(versions).size, versions.length, `something was told twice: ${versions}`);
  endRevival();
  await informer.stop();
  await engine.stopAndRemove();
});
