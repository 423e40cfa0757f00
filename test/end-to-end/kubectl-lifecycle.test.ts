import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '../../src/api/json.ts';
import { at, configMap, gadget, gadgets } from '../engine/engine-in-test.ts';
import { EngineWithKubectl } from './engine-with-kubectl.ts';

const READY = JSON.stringify({ status: { conditions: [{ type: 'Ready', status: 'True' }] } });
const HOLD = ['test.example/hold'];
const releases = (what: string) => [
  'patch',
  ...what.split(' '),
  '--type=merge',
  '-p',
  '{"metadata":{"finalizers":null}}',
];

/** The same definition under other names, so that tests that run at the same time do not meet. */
const named = (plural: string, kind: string, scope = 'Namespaced'): JsonObject =>
  JSON.parse(
    JSON.stringify(gadgets())
      .replaceAll('gadgets', plural)
      .replaceAll('Gadget', kind)
      .replace('"gd"', `"${plural.slice(0, 3)}"`)
      .replace('"scope":"Namespaced"', `"scope":"${scope}"`),
  );

describe('how objects come and go under kubectl', { concurrency: 4 }, () => {
  let api: EngineWithKubectl;
  before(async () => {
    api = await EngineWithKubectl.start();
    await api.ok('create -f -', gadgets());
  });
  after(() => api.stop());

  test('get --watch prints what comes, changes and goes', async () => {
    const ns = await api.namespace('watching');
    await ns.ok('create -f -', gadget('there'));
    const all = await ns.follow('get gadgets --watch --output-watch-events');
    const names = await ns.follow('get configmaps --watch -o name');
    const some = await ns.follow('get configmaps -l tier --watch --output-watch-events');
    // What is there already is printed first, and from then on nothing is missed.
    await Promise.all([all.lines(2), names.lines(1)]);
    await ns.ok('create configmap first');
    await ns.ok('label configmap first tier=one');
    await some.lines(2);
    await ns.ok('create -f -', gadget('new', { size: 1 }));
    await ns.ok(['patch', 'gadget', 'new', '--subresource=status', '--type=merge', '-p', READY]);
    await ns.ok('label configmap first tier-');
    await ns.ok('delete gadget new');
    const words = (line: string) => line.trim().split(/ +/).slice(0, 4).join(' ');
    assert.deepEqual((await all.lines(5)).map(words), [
      'EVENT NAME SIZE READY',
      'ADDED there 3',
      'ADDED new 1',
      'MODIFIED new 1 True',
      'DELETED new 1 True',
    ]);
    const first = 'configmap/first';
    assert.deepEqual(await names.lines(4), ['configmap/kube-root-ca.crt', first, first, first]);
    assert.deepEqual(
      (await some.lines(3)).map((line) => words(line).split(' ').slice(0, 2).join(' ')),
      ['EVENT NAME', 'ADDED first', 'DELETED first'],
    );
    await Promise.all([all.stop(), names.stop(), some.stop()]);
  });

  test('wait ends when the object comes, has the condition or the value, and when it is gone', async () => {
    const ns = await api.namespace('waiting');
    const comes = ns.ok('wait gadget/a --for=create --timeout=30s');
    await ns.ok('create -f -', gadget('a', { size: 1 }));
    assert.equal(await comes, 'gadget.test.example/a condition met\n');
    const [ready, sized, gone] = [
      ns.ok('wait gadget/a --for=condition=Ready --timeout=30s'),
      ns.ok('wait gadget/a --for=jsonpath={.spec.size}=2 --timeout=30s'),
      ns.ok('wait gadget/a --for=delete --timeout=30s'),
    ];
    await ns.ok(['patch', 'gadget', 'a', '--subresource=status', '--type=merge', '-p', READY]);
    await ns.ok('scale gadget a --replicas=2');
    assert.equal(await ready, 'gadget.test.example/a condition met\n');
    assert.equal(await sized, 'gadget.test.example/a condition met\n');
    await ns.ok('delete gadget a');
    await gone;
  });

  test('wait gives up after its time', async () => {
    const ns = await api.namespace('patience');
    await ns.ok('create -f -', gadget('a'));
    const refused = await ns.refused('wait gadget/a --for=condition=Ready --timeout=300ms');
    assert.match(refused, /^error: timed out waiting for the condition on gadgets\/a$/m);
    assert.match(
      await ns.refused('wait gadget/b --for=condition=Ready --timeout=1s'),
      /gadgets\.test\.example "b" not found/,
    );
  });

  test('delete takes names, files, labels, or everything', async () => {
    const ns = await api.namespace('deleting');
    const labelled = (name: string, tier: string) => ({ ...gadget(name), metadata: { name, labels: { tier } } });
    const file = [configMap('a'), gadget('a')];
    await ns.ok('create -f -', [...file, labelled('b', 'x'), labelled('c', 'x'), labelled('d', 'y'), gadget('e')]);
    assert.match(await ns.ok('delete -f -', file), /^configmap "a" deleted.*\ngadget\.test\.example "a" deleted.*\n$/);
    assert.match(await ns.ok('delete gadgets -l tier=x'), /^gadget\.test\.example "b" deleted.*\n.*"c" deleted.*\n$/);
    assert.equal(await ns.ok('get gadgets -o name'), 'gadget.test.example/d\ngadget.test.example/e\n');
    await ns.ok('delete gadgets --all --dry-run=server');
    await ns.ok('delete gadgets --all');
    assert.equal(await ns.ok('get gadgets -o name'), '');
    assert.equal(
      await ns.refused('delete gadget a'),
      'Error from server (NotFound): gadgets.test.example "a" not found\n',
    );
    assert.equal(await ns.ok('delete gadget a --ignore-not-found'), '');
  });

  test('delete waits for the finalizers of an object, or says that it did not', async () => {
    const ns = await api.namespace('finalizers');
    await ns.ok('create -f -', { ...gadget('a'), metadata: { name: 'a', finalizers: HOLD } });
    await ns.ok('delete gadget a --wait=false');
    const object = await ns.json('get gadget a');
    assert.equal(typeof at(object, 'metadata.deletionTimestamp'), 'string');
    assert.match(
      await ns.refused('delete gadget a --timeout=200ms'),
      /timed out waiting for the condition on gadgets\/a/,
    );
    const waiting = await ns.follow('delete gadget a --timeout=30s');
    const [said] = await waiting.lines(1);
    assert.match(String(said), /^gadget\.test\.example "a" deleted/);
    await ns.ok(releases('gadget a'));
    assert.equal(await waiting.ended, 0);
    assert.match(await ns.refused('get gadget a'), /not found/);
  });

  test('a Pod on a host ends gracefully, or at once by force', async () => {
    const ns = await api.namespace('grace');
    const pod = (name: string, spec: JsonObject = {}): JsonObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { containers: [{ name: 'main', image: 'web:1' }], ...spec },
    });
    await ns.ok('create -f -', [pod('unscheduled'), pod('a', { nodeName: 'host' }), pod('b', { nodeName: 'host' })]);
    await ns.ok('delete pod unscheduled');
    await ns.ok('delete pod a --wait=false');
    await ns.ok('delete pod a --grace-period=7 --wait=false');
    await ns.ok('delete pod b --now --wait=false');
    assert.equal(await ns.ok('get pods -o jsonpath={.items[*].metadata.deletionGracePeriodSeconds}'), '7 1');
    assert.match(await ns.ok('get pods'), /^a +0\/1 +Terminating/m);
    await ns.ok('delete pods --all --grace-period=0 --force');
    assert.equal(await ns.ok('get pods -o name'), '');
  });

  test('what was owned goes with its owner, first, or stays, as --cascade says', async () => {
    const ns = await api.namespace('owning');
    await ns.ok('create -f -', [gadget('background'), gadget('foreground'), gadget('orphan')]);
    const { items } = (await ns.json('get gadgets')) as { items: JsonObject[] };
    const owned = items.map((owner) => {
      const { name, uid } = owner['metadata'] as { name: string; uid: string };
      const reference = { apiVersion: 'test.example/v1', kind: 'Gadget', name, uid, blockOwnerDeletion: true };
      return configMap(`of-${name}`, {}, { ownerReferences: [reference] });
    });
    await ns.ok('create -f -', owned);
    await Promise.all([
      ns.ok('delete gadget foreground --cascade=foreground --timeout=30s'),
      ns.ok('delete gadget orphan --cascade=orphan --timeout=30s'),
      ns.ok('delete gadget background'),
    ]);
    assert.match(await ns.refused('get configmap of-foreground'), /not found/);
    await ns.ok('wait configmap/of-background --for=delete --timeout=30s');
    assert.equal(at(await ns.json('get configmap of-orphan'), 'metadata.ownerReferences'), undefined);
  });

  test('deleting a namespace ends all that is in it, and takes nothing new', async () => {
    const ns = await api.namespace('ending');
    await ns.ok('create -f -', [configMap('a'), { ...gadget('held'), metadata: { name: 'held', finalizers: HOLD } }]);
    const ending = api.ok('delete namespace ending --timeout=60s');
    await ns.ok('wait configmap/a --for=delete --timeout=30s');
    assert.match(await api.ok('get namespace ending'), /^ending +Terminating/m);
    assert.match(
      await ns.refused('create configmap late'),
      /unable to create new content in namespace ending because it is being terminated/,
    );
    await api.ok('wait namespace/ending --for=condition=NamespaceFinalizersRemaining --timeout=30s');
    assert.match(await api.ok('describe namespace ending'), /gadgets\.test\.example has 1 resource instances/);
    await ns.ok(releases('gadget held'));
    assert.match(await ending, /^namespace "ending" deleted/);
    assert.match(await api.refused('get namespace ending'), /not found/);
  });

  test('the namespaces of the system stay', async () => {
    for (const name of ['default', 'kube-system']) {
      const refused = await api.refused(`delete namespace ${name}`);
      assert.equal(
        refused,
        `Error from server (Forbidden): namespaces "${name}" is forbidden: this namespace may not be deleted\n`,
      );
    }
  });

  test('a definition serves its kind with the write that brings it, and ends its objects with it', async () => {
    const ns = await api.namespace('defining');
    const both = [named('widgets', 'Widget'), { ...gadget('a'), kind: 'Widget' }];
    const [definition, object] = both;
    assert.ok(definition !== undefined && object !== undefined);
    await ns.ok('apply -f -', definition);
    assert.equal(await ns.ok('apply -f -', object), 'widget.test.example/a created\n');
    await ns.ok('wait crd/widgets.test.example --for=condition=Established --timeout=5s');
    assert.match(await ns.ok('get wid'), /^a +3/m);
    assert.match(await ns.ok('delete crd widgets.test.example'), /widgets\.test\.example" deleted/);
    assert.match(
      await ns.refused('get widgets'),
      /the server could not find the requested resource|doesn't have a resource type/,
    );
    await ns.ok('apply -f -', definition);
    assert.equal(await ns.ok('get widgets -o name'), '');
  });

  test('objects of a cluster-scoped kind live in no namespace', async () => {
    await api.ok('create -f -', named('planets', 'Planet', 'Cluster'));
    await api.ok('create -f -', { ...gadget('earth'), kind: 'Planet' });
    assert.equal(await api.ok('get planets --namespace=default -o name'), 'planet.test.example/earth\n');
    assert.equal(at(await api.json('get planet earth'), 'metadata.namespace'), undefined);
    assert.match(await api.ok('delete planet earth'), /^planet\.test\.example "earth" deleted/);
  });

  test('a definition that makes no sense is refused with the field', async () => {
    const definition = JSON.parse(
      JSON.stringify(named('wrongs', 'Wrong')).replace('"size":{"type":"integer"', '"size":{"kind":"integer"'),
    );
    const refused = await api.refused('create --validate=false -f -', definition);
    assert.match(refused, /^The CustomResourceDefinition "wrongs\.test\.example" is invalid/);
    assert.match(refused, /openAPIV3Schema\.properties\[spec\]\.properties\[size\]\.type: Required value/);
  });
});
