import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '../../src/api/json.ts';
import { at, configMap, gadget, gadgets } from '../engine/engine-in-test.ts';
import { EngineWithKubectl } from './engine-with-kubectl.ts';

const SMALL_IF_RED = { rule: 'self.color != "red" || self.size < 10', message: 'red gadgets are small' };

/** Who owns a field, as `manager operation`. */
function ownersOf(object: JsonObject, field: string): string[] {
  const entries = at(object, 'metadata.managedFields') as JsonObject[];
  return entries.flatMap((entry) =>
    JSON.stringify(entry['fieldsV1']).includes(`"f:${field}"`) ? [`${entry['manager']} ${entry['operation']}`] : [],
  );
}

describe('what kubectl applies to an engine', { concurrency: 4 }, () => {
  let api: EngineWithKubectl;
  before(async () => {
    api = await EngineWithKubectl.start();
    await api.ok('create -f -', gadgets({ 'x-kubernetes-validations': [SMALL_IF_RED] }));
  });
  after(() => api.stop());

  const red = (name: string, size: number) => gadget(name, { size, color: 'red' });

  test('apply creates, leaves alone and updates, built-in and custom objects alike', async () => {
    const ns = await api.namespace('applying');
    const first = [configMap('a', { x: '1', y: '2' }), red('a', 1)];
    assert.equal(await ns.ok('apply -f -', first), 'configmap/a created\ngadget.test.example/a created\n');
    assert.equal(await ns.ok('apply -f -', first), 'configmap/a unchanged\ngadget.test.example/a unchanged\n');
    const second = [configMap('a', { x: '2' }), gadget('a', { size: 2 })];
    assert.equal(await ns.ok('apply -f -', second), 'configmap/a configured\ngadget.test.example/a configured\n');
    const { items } = (await ns.json('get configmap/a gadget/a')) as { items: JsonObject[] };
    assert.deepEqual(items[0]?.['data'], { x: '2' });
    assert.deepEqual(items[1]?.['spec'], { size: 2 });
    assert.equal(at(items[1], 'metadata.generation'), 2);
  });

  test('apply merges lists of built-in kinds by their keys, and keeps what others have added', async () => {
    const ns = await api.namespace('merging');
    const deployment = (image: string, ...env: string[]): JsonObject => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'web', image, env: env.map((name) => ({ name, value: 'x' })) }] },
        },
      },
    });
    await ns.ok('apply -f -', deployment('web:1', 'ONE', 'TWO'));
    await ns.ok('set env deployment/web OTHER=y');
    assert.equal(await ns.ok('apply -f -', deployment('web:2', 'TWO')), 'deployment.apps/web configured\n');
    const container = at(await ns.json('get deployment web'), 'spec.template.spec.containers.0') as JsonObject;
    assert.equal(container['image'], 'web:2');
    assert.deepEqual(container['env'], [
      { name: 'TWO', value: 'x' },
      { name: 'OTHER', value: 'y' },
    ]);
  });

  test('apply takes a List, and names a kind that nobody serves', async () => {
    const ns = await api.namespace('listing');
    const list = { apiVersion: 'v1', kind: 'List', items: [configMap('a'), red('a', 1)] };
    assert.equal(await ns.ok('apply -f -', list), 'configmap/a created\ngadget.test.example/a created\n');
    for (const apiVersion of ['test.example/v1', 'v1', 'other.example/v1']) {
      const refused = await ns.refused('apply -f -', { apiVersion, kind: 'Gizmo', metadata: { name: 'a' } });
      assert.match(refused, new RegExp(`no matches for kind "Gizmo" in version "${apiVersion}"`));
    }
  });

  test('a field that the kind does not have is refused by its path', async () => {
    const ns = await api.namespace('strict');
    const wrong = { ...configMap('a'), date: { x: '1' } };
    const refused = await ns.refused('apply -f -', wrong);
    assert.match(
      refused,
      /ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "date"/,
    );
    for (const words of ['apply -f -', 'create -f -', 'apply --server-side -f -']) {
      const text = await ns.refused(words, gadget('a', { sise: 1 }));
      assert.match(
        text,
        /strict decoding error: unknown field "spec\.sise"|\.spec\.sise: field not declared in schema/,
      );
    }
    const { stderr, stdout } = await ns.run('create --validate=warn -f -', gadget('a', { sise: 1 }));
    assert.equal(stderr, 'Warning: unknown field "spec.sise"\n');
    assert.equal(stdout, 'gadget.test.example/a created\n');
  });

  test('values that are not possible are refused one by one', async () => {
    const ns = await api.namespace('invalid');
    const [shape, rule, name, label, service] = await Promise.all([
      ns.refused('apply -f -', gadget('a', { size: 'large', parts: [{ count: 1 }] })),
      ns.refused('apply -f -', red('a', 10)),
      ns.refused('apply -f -', configMap('Not_A_Name')),
      ns.refused('apply -f -', configMap('a', {}, { labels: { tier: 'not possible' } })),
      ns.refused('apply -f -', {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'a' },
        spec: { type: 'Any', ports: [{ port: 80 }] },
      }),
    ]);
    assert.match(shape, /^The Gadget "a" is invalid:/);
    assert.match(
      shape,
      /^\* spec\.size: Invalid value: "string": spec\.size in body must be of type integer: "string"$/m,
    );
    assert.match(shape, /^\* spec\.parts\[0\]\.name: Required value$/m);
    assert.equal(rule, 'The Gadget "a" is invalid: spec: Invalid value: "object": red gadgets are small\n');
    assert.match(
      name,
      /^The ConfigMap "Not_A_Name" is invalid: metadata\.name: Invalid value: "Not_A_Name": a lowercase RFC 1123/,
    );
    assert.match(
      label,
      /^The ConfigMap "a" is invalid: metadata\.labels: Invalid value: "not possible": a valid label/,
    );
    assert.match(service, /spec\.type: Unsupported value: "Any": supported values: "ClusterIP"/);
  });

  test('apply --server-side refuses what another owns, shares what is equal, and takes by force', async () => {
    const ns = await api.namespace('owners');
    const apply = 'apply --server-side -f -';
    assert.equal(await ns.ok(apply, red('a', 1)), 'gadget.test.example/a serverside-applied\n');
    assert.equal(
      await ns.ok(`${apply} --field-manager=other`, red('a', 1)),
      'gadget.test.example/a serverside-applied\n',
    );
    const refused = await ns.refused(`${apply} --field-manager=third`, gadget('a', { color: 'green' }));
    assert.match(refused, /^error: Apply failed with 2 conflicts: conflicts? with "kubectl"/);
    assert.match(refused, /^conflicts? with "other":\n- \.spec\.color$/m);
    await ns.ok(`${apply} --field-manager=third --force-conflicts`, gadget('a', { color: 'green' }));
    const object = await ns.json('get gadget a --show-managed-fields');
    assert.equal(at(object, 'spec.color'), 'green');
    assert.deepEqual(ownersOf(object, 'color'), ['third Apply']);
    assert.deepEqual(ownersOf(object, 'size').sort(), ['kubectl Apply', 'other Apply']);
  });

  test('apply --server-side takes over what was applied by the client, and drops what is left out later', async () => {
    const ns = await api.namespace('migrating');
    for (const [object, less, field] of [
      [red('a', 1), gadget('a', { size: 1 }), 'color'],
      [configMap('a', { x: '1', color: 'red' }), configMap('a', { x: '1' }), 'color'],
    ] as const) {
      await ns.ok('apply -f -', object);
      await ns.ok('apply --server-side -f -', object);
      const kind = String(object['kind']);
      const taken = await ns.json(`get ${kind} a --show-managed-fields`);
      assert.deepEqual(ownersOf(taken, field), ['kubectl Apply']);
      await ns.ok('apply --server-side -f -', less);
      const { spec, data } = await ns.json(`get ${kind} a`);
      assert.equal(JSON.stringify(spec ?? data).includes('red'), false, `${kind} ${JSON.stringify(spec ?? data)}`);
    }
  });

  test('diff and --dry-run=server show what would be, and change nothing', async () => {
    const ns = await api.namespace('dry');
    const objects = [red('a', 1), configMap('a', { x: '1' })];
    await ns.ok('apply -f -', objects);
    const before = await ns.ok('get gadget/a configmap/a -o jsonpath={.items[*].metadata.resourceVersion}');
    const same = await ns.run('diff -f -', objects);
    assert.deepEqual(same, { code: 0, stdout: '', stderr: '' });
    const changed = [red('a', 2), configMap('a', { x: '2' })];
    const [different, serverSide, dry] = await Promise.all([
      ns.run('diff -f -', changed),
      ns.run('diff --server-side --force-conflicts -f -', changed),
      ns.ok('apply --dry-run=server -f -', [...changed, configMap('b')]),
    ]);
    for (const { code, stdout } of [different, serverSide]) {
      assert.equal(code, 1);
      assert.match(stdout, /^- {2}size: 1\n\+ {2}size: 2$/m);
      assert.match(stdout, /^- {2}x: "1"\n\+ {2}x: "2"$/m);
    }
    assert.match(
      dry,
      /^gadget\.test\.example\/a configured \(server dry run\)\n.*\nconfigmap\/b created \(server dry run\)\n$/,
    );
    assert.equal(await ns.ok('get gadget/a configmap/a -o jsonpath={.items[*].metadata.resourceVersion}'), before);
    assert.match(await ns.refused('apply --dry-run=server -f -', red('a', 10)), /red gadgets are small/);
  });
});
