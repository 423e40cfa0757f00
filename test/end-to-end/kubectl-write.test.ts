import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '../../src/api/json.ts';
import { at, configMap, gadget, gadgets } from '../engine/engine-in-test.ts';
import { EngineWithKubectl } from './engine-with-kubectl.ts';

describe('what kubectl writes to an engine', { concurrency: 4 }, () => {
  let api: EngineWithKubectl;
  before(async () => {
    api = await EngineWithKubectl.start();
    await api.ok('create -f -', gadgets());
  });
  after(() => api.stop());

  const red = (name: string, size: number) => gadget(name, { size, color: 'red' });

  test('create makes objects of typed kinds, which it sends as protobuf', async () => {
    const ns = await api.namespace('creating');
    const [map, secret, account, deployment, service, pod] = await Promise.all([
      ns.ok('create configmap a --from-literal=x=1'),
      ns.ok('create secret generic a --from-literal=password=secret'),
      ns.ok('create serviceaccount a'),
      ns.ok('create deployment a --image=web:1 --replicas=2 --port=80'),
      ns.ok('create service clusterip a --tcp=80:8080'),
      ns.ok('run a --image=web:1 --env=MODE=test'),
      ns.ok('create configmap dry --dry-run=server'),
    ]);
    assert.equal(map, 'configmap/a created\n');
    assert.equal(secret, 'secret/a created\n');
    assert.equal(account, 'serviceaccount/a created\n');
    assert.equal(deployment, 'deployment.apps/a created\n');
    assert.equal(service, 'service/a created\n');
    assert.equal(pod, 'pod/a created\n');
    const { items } = (await ns.json('get configmap/a secret/a deployment/a service/a pod/a')) as {
      items: JsonObject[];
    };
    const [aMap, aSecret, aDeployment, aService, aPod] = items;
    assert.deepEqual(aMap?.['data'], { x: '1' });
    assert.deepEqual(aSecret?.['data'], { password: 'c2VjcmV0' });
    assert.equal(at(aDeployment, 'spec.replicas'), 2);
    assert.deepEqual(at(aDeployment, 'spec.template.spec.containers.0.ports'), [
      { containerPort: 80, protocol: 'TCP' },
    ]);
    assert.deepEqual(at(aService, 'spec.ports.0'), { name: '80-8080', port: 80, protocol: 'TCP', targetPort: 8080 });
    assert.deepEqual(at(aPod, 'spec.containers.0.env'), [{ name: 'MODE', value: 'test' }]);
    assert.equal(at(aPod, 'spec.restartPolicy'), 'Always');
    assert.match(
      await ns.refused('create configmap a'),
      /^error: failed to create configmap: configmaps "a" already exists$/m,
    );
    assert.match(await ns.refused('get configmap dry'), /not found/);
    assert.match(await api.refused('create configmap a -n nowhere'), /namespaces "nowhere" not found/);
  });

  test('replace needs the object to be there, unless it is by force', async () => {
    const ns = await api.namespace('replacing');
    assert.match(await ns.refused('replace -f -', configMap('a')), /configmaps "a" not found/);
    await ns.ok('create -f -', [configMap('a', { x: '1', y: '2' }), red('a', 1)]);
    assert.match(
      await ns.refused('create -f -', configMap('a')),
      /^Error from server \(AlreadyExists\).*configmaps "a" already exists$/m,
    );
    const replaced = await ns.ok('replace -f -', [configMap('a', { x: '2' }), gadget('a')]);
    assert.equal(replaced, 'configmap/a replaced\ngadget.test.example/a replaced\n');
    const { items } = (await ns.json('get configmap/a gadget/a')) as { items: JsonObject[] };
    assert.deepEqual(items[0]?.['data'], { x: '2' });
    assert.deepEqual(items[1]?.['spec'], { size: 3 });
    const uid = at(items[1], 'metadata.uid');
    assert.match(await ns.ok('replace --force -f -', gadget('a')), /deleted.*\ngadget\.test\.example\/a replaced\n$/);
    assert.notEqual(at(await ns.json('get gadget a'), 'metadata.uid'), uid);
    const stale = { ...gadget('a'), metadata: { name: 'a', resourceVersion: '1' } };
    assert.match(
      await ns.refused('replace -f -', stale),
      /^Error from server \(Conflict\).*the object has been modified/,
    );
  });

  test('patch changes an object in three ways, and its status alone', async () => {
    const ns = await api.namespace('patching');
    await ns.ok('create -f -', [configMap('a', { x: '1' }), red('a', 1)]);
    const patch = (what: string, type: string, document: object, ...more: string[]) =>
      ns.run(['patch', ...what.split(' '), `--type=${type}`, '-p', JSON.stringify(document), ...more]);
    const said = async (result: Promise<{ stdout: string; stderr: string }>) => {
      const { stdout, stderr } = await result;
      return stdout + stderr;
    };
    assert.equal(await said(patch('cm a', 'strategic', { data: { y: '2' } })), 'configmap/a patched\n');
    assert.equal(await said(patch('cm a', 'strategic', { data: { y: '2' } })), 'configmap/a patched (no change)\n');
    assert.equal(await said(patch('gadget a', 'merge', { spec: { color: null } })), 'gadget.test.example/a patched\n');
    const add = [{ op: 'add', path: '/spec/parts', value: [{ name: 'wheel' }] }];
    assert.equal(await said(patch('gadget a', 'json', add)), 'gadget.test.example/a patched\n');
    const status = { status: { size: 7 }, spec: { size: 9 } };
    assert.equal(
      await said(patch('gadget a', 'merge', status, '--subresource=status')),
      'gadget.test.example/a patched\n',
    );
    const object = await ns.json('get gadget a');
    assert.deepEqual(object['spec'], { size: 1, parts: [{ name: 'wheel', count: 1 }] });
    assert.deepEqual(object['status'], { size: 7 });
    assert.equal(at(object, 'metadata.generation'), 3);
    assert.match(
      await said(patch('gadget a', 'strategic', { spec: {} })),
      /strategic-merge-patch\+json is not supported/,
    );
    assert.match(
      await said(patch('gadget a', 'json', [{ op: 'test', path: '/spec/size', value: 5 }])),
      /^The request is invalid/,
    );
    assert.match(await said(patch('gadget a', 'merge', { spec: { size: 'x' } })), /must be of type integer: "string"/);
    assert.match(await said(patch('gadget b', 'merge', { spec: {} })), /gadgets\.test\.example "b" not found/);
  });

  test('label and annotate set, change on demand, and remove', async () => {
    const ns = await api.namespace('labels');
    await ns.ok('create -f -', [configMap('a'), red('a', 1)]);
    assert.equal(
      await ns.ok('label configmap/a gadget/a tier=one'),
      'configmap/a labeled\ngadget.test.example/a labeled\n',
    );
    assert.equal(await ns.ok('label configmap/a tier=one'), 'configmap/a not labeled\n');
    assert.match(
      await ns.refused('label gadget/a tier=two'),
      /'tier' already has a value \(one\), and --overwrite is false/,
    );
    assert.equal(await ns.ok('label gadget a tier=two --overwrite'), 'gadget.test.example/a labeled\n');
    assert.equal(await ns.ok('label configmap a tier-'), 'configmap/a unlabeled\n');
    assert.equal(await ns.ok('annotate gadget a note=kept'), 'gadget.test.example/a annotated\n');
    const { metadata } = await ns.json('get gadget a');
    assert.deepEqual(at(metadata, 'labels'), { tier: 'two' });
    assert.deepEqual(at(metadata, 'annotations'), { note: 'kept' });
    assert.equal(at(metadata, 'generation'), 1);
    assert.match(await ns.refused('label configmap a no/such/key=x'), /name part|prefix|slash/i);
  });

  test('edit changes built-in and custom objects, and leaves alone what is not changed', async () => {
    const ns = await api.namespace('editing');
    await ns.ok('create -f -', [configMap('a', { x: '1' }), red('a', 1)]);
    assert.equal(await ns.edit('configmap a', 's/x: "1"/x: "2"/'), 'configmap/a edited\n');
    assert.equal(await ns.edit('gadget a', 's/size: 1/size: 2/'), 'gadget.test.example/a edited\n');
    assert.equal(await ns.edit('gadget a', 's/nothing/something/'), '');
    const { items } = (await ns.json('get configmap/a gadget/a')) as { items: JsonObject[] };
    assert.deepEqual(items[0]?.['data'], { x: '2' });
    assert.deepEqual(items[1]?.['spec'], { size: 2, color: 'red' });
  });

  test('scale changes the number of a Deployment and of a custom object', async () => {
    const ns = await api.namespace('scaling');
    await ns.ok('create deployment web --image=web:1');
    await ns.ok('create -f -', gadget('a'));
    assert.equal(await ns.ok('scale deployment web --replicas=3'), 'deployment.apps/web scaled\n');
    assert.equal(await ns.ok('scale gadget a --replicas=5 --current-replicas=3'), 'gadget.test.example/a scaled\n');
    assert.match(
      await ns.refused('scale gadget a --replicas=6 --current-replicas=3'),
      /Expected replicas to be 3, was 5/,
    );
    const [size, replicas, table] = await Promise.all([
      ns.ok('get gadget a -o jsonpath={.spec.size}'),
      ns.ok('get deployment web -o jsonpath={.spec.replicas}'),
      ns.ok('get gadget a --subresource=scale'),
    ]);
    assert.equal(size, '5');
    assert.equal(replicas, '3');
    assert.match(table, /^NAME +DESIRED +AVAILABLE +AGE\na +5 +0 +\d+s\n$/);
  });

  test('commands that write to a Deployment find what they expect', async () => {
    const ns = await api.namespace('rollout');
    await ns.ok('create deployment web --image=web:1 --port=80');
    assert.equal(await ns.ok('set image deployment/web web=web:2'), 'deployment.apps/web image updated\n');
    assert.equal(await ns.ok('rollout restart deployment web'), 'deployment.apps/web restarted\n');
    assert.equal(await ns.ok('rollout pause deployment web'), 'deployment.apps/web paused\n');
    assert.equal(await ns.ok('expose deployment web --port=8080'), 'service/web exposed\n');
    const { items } = (await ns.json('get deployment/web service/web')) as { items: JsonObject[] };
    assert.equal(at(items[0], 'spec.template.spec.containers.0.image'), 'web:2');
    assert.equal(at(items[0], 'metadata.generation'), 4);
    assert.deepEqual(at(items[1], 'spec.selector'), { app: 'web' });
  });
});
