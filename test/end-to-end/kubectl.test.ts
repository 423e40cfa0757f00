import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { at, configMap, gadget, gadgets } from '../engine/engine-in-test.ts';
import { EngineWithKubectl } from './engine-with-kubectl.ts';

// Tests of one suite run at the same time, each in a namespace of its own: kubectl spends most of its life starting.
describe('what kubectl shows of an engine', { concurrency: 4 }, () => {
  let api: EngineWithKubectl;
  before(async () => {
    api = await EngineWithKubectl.start();
    await api.ok('create -f -', gadgets());
  });
  after(() => api.stop());

  test('version names the API that the engine speaks', async () => {
    const { serverVersion } = JSON.parse(await api.ok('version -o json'));
    assert.equal(serverVersion.major, '1');
    assert.match(serverVersion.gitVersion, /^v1\.33\.\d+\+netloom$/);
    assert.match(await api.ok('cluster-info'), /control plane.* is running at .*https:\/\/127\.0\.0\.1:\d+/);
  });

  test('api-resources and api-versions list built-in and custom kinds', async () => {
    const [all, names, cluster, versions] = await Promise.all([
      api.ok('api-resources'),
      api.ok('api-resources --api-group=test.example -o wide --no-headers'),
      api.ok('api-resources --namespaced=false -o name'),
      api.ok('api-versions'),
    ]);
    assert.match(all, /^configmaps +cm +v1 +true +ConfigMap$/m);
    assert.match(all, /^deployments +deploy +apps\/v1 +true +Deployment$/m);
    assert.match(names, /^gadgets +gd +test\.example\/v1 +true +Gadget +delete,deletecollection,get,list,.* +all *\n$/);
    assert.ok(cluster.split('\n').includes('namespaces'));
    assert.ok(!cluster.split('\n').includes('configmaps'));
    for (const version of ['v1', 'apps/v1', 'test.example/v1', 'apiextensions.k8s.io/v1', 'coordination.k8s.io/v1']) {
      assert.ok(versions.split('\n').includes(version), version);
    }
  });

  test('health is plain text', async () => {
    assert.equal(await api.ok('get --raw /readyz'), 'ok');
    assert.equal(
      await api.refused('get --raw /nowhere'),
      'Error from server (NotFound): the server could not find the requested resource\n',
    );
  });

  test('get prints tables, wide and narrow, and says when there is nothing', async () => {
    const ns = await api.namespace('tables');
    const nothing = await ns.run('get gadgets');
    assert.deepEqual(nothing, { code: 0, stdout: '', stderr: 'No resources found in tables namespace.\n' });
    await ns.ok('create -f -', [gadget('one', { size: 2 }), gadget('two'), configMap('a', { x: '1', y: '2' })]);
    const [narrow, maps, deployment, labels, several] = await Promise.all([
      ns.ok('get gd'),
      ns.ok('get configmap a --no-headers'),
      ns.ok('create deployment web --image=web:1 --replicas=2').then(() => ns.ok('get deploy -o wide')),
      ns.ok('get gd --show-labels'),
      ns.ok('get gd,configmap/a'.replace('gd,configmap/a', 'gd/one configmap/a')),
    ]);
    assert.match(narrow, /^NAME +SIZE +READY\none +2 +\ntwo +3 +\n$/);
    assert.match(maps, /^a +2 +\d+s\n$/);
    assert.match(
      deployment,
      /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR\nweb +0\/2 +0 +0 +\d+s +web +web:1 +app=web\n$/,
    );
    assert.match(labels, /^one +2 +<none>$/m);
    assert.match(several, /^gadget\.test\.example\/one +2/m);
    assert.match(several, /^configmap\/a +2 +\d+s$/m);
  });

  test("get prints objects whole, by name, by path and in columns of one's own", async () => {
    const ns = await api.namespace('formats');
    await ns.ok('create -f -', [gadget('one', { size: 2, color: 'red' }), gadget('two')]);
    const [yaml, json, names, path, columns, list, template] = await Promise.all([
      ns.ok('get gd one -o yaml'),
      ns.json('get gd one'),
      ns.ok('get gd -o name'),
      ns.ok('get gd -o jsonpath={.items[*].spec.size}'),
      ns.ok('get gd -o custom-columns=NAME:.metadata.name,COLOR:.spec.color'),
      ns.json('get gd'),
      ns.ok('get gd one -o go-template={{.spec.color}}'),
    ]);
    assert.match(yaml, /^apiVersion: test\.example\/v1\nkind: Gadget\nmetadata:\n/);
    assert.doesNotMatch(yaml, /managedFields/);
    assert.equal(at(json, 'spec.color'), 'red');
    assert.equal(names, 'gadget.test.example/one\ngadget.test.example/two\n');
    assert.equal(path, '2 3');
    assert.match(columns, /^NAME +COLOR\none +red\ntwo +<none>\n$/);
    assert.equal(list['kind'], 'List');
    assert.equal(template, 'red');
  });

  test('get selects by label, by field and over all namespaces, and pages through what is there', async () => {
    const ns = await api.namespace('selecting');
    const labelled = (name: string, tier: string) => configMap(name, {}, { labels: { tier } });
    await ns.ok('create -f -', [
      labelled('a', 'x'),
      labelled('b', 'y'),
      labelled('c', 'x'),
      gadget('red', { color: 'red' }),
      gadget('green', { color: 'green' }),
    ]);
    const names = (stdout: string) =>
      stdout.split('\n').filter((line) => line !== '' && !line.includes('kube-root-ca'));
    const [equal, set, not, field, selectable, everywhere, paged] = await Promise.all([
      ns.ok('get cm -l tier=x -o name'),
      ns.ok(['get', 'cm', '-l', 'tier in (y, z)', '-o', 'name']),
      ns.ok(['get', 'cm', '-l', 'tier!=x,tier', '-o', 'name']),
      ns.ok('get cm --field-selector metadata.name=b -o name'),
      ns.ok('get gd --field-selector spec.color=red -o name'),
      ns.ok('get cm -A --no-headers'),
      ns.ok('get cm --chunk-size=1 -o name'),
    ]);
    assert.deepEqual(names(equal), ['configmap/a', 'configmap/c']);
    assert.deepEqual(names(set), ['configmap/b']);
    assert.deepEqual(names(not), ['configmap/b']);
    assert.deepEqual(names(field), ['configmap/b']);
    assert.deepEqual(names(selectable), ['gadget.test.example/red']);
    assert.match(everywhere, /^selecting +a +0 +\d+s$/m);
    assert.match(everywhere, /^kube-system +kube-root-ca\.crt +1 +\d+s$/m);
    assert.deepEqual(names(paged), ['configmap/a', 'configmap/b', 'configmap/c']);
    assert.match(await ns.refused('get cm --field-selector data.x=1'), /field label not supported: data\.x/);
    assert.match(await ns.refused(['get', 'cm', '-l', 'a in b']), /unable to parse requirement|found 'b'/i);
  });

  test('get all shows the kinds that say so, custom ones among them', async () => {
    const ns = await api.namespace('everything');
    await ns.ok('create -f -', [gadget('one'), configMap('hidden')]);
    await ns.ok('create deployment web --image=web:1');
    const stdout = await ns.ok('get all');
    assert.match(stdout, /^deployment\.apps\/web +0\/1/m);
    assert.match(stdout, /^gadget\.test\.example\/one +3/m);
    assert.doesNotMatch(stdout, /hidden/);
  });

  test('get says what is not there', async () => {
    assert.equal(
      await api.refused('get configmap nothing'),
      'Error from server (NotFound): configmaps "nothing" not found\n',
    );
    assert.equal(
      await api.refused('get gadget nothing'),
      'Error from server (NotFound): gadgets.test.example "nothing" not found\n',
    );
    assert.equal(await api.refused('get gizmos'), 'error: the server doesn\'t have a resource type "gizmos"\n');
    assert.equal(await api.ok('get configmap nothing --ignore-not-found'), '');
  });

  test('describe shows an object with its events', async () => {
    const ns = await api.namespace('describing');
    await ns.ok('create -f -', [gadget('one', { size: 2, color: 'red' }), configMap('a', { x: 'the value' })]);
    for (const [name, kind, apiVersion] of [
      ['one', 'Gadget', 'test.example/v1'],
      ['a', 'ConfigMap', 'v1'],
    ] as const) {
      const { metadata } = (await ns.json(`get ${kind} ${name}`)) as { metadata: { uid: string } };
      await ns.ok('create -f -', {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: `${name}.1` },
        involvedObject: { kind, apiVersion, name, namespace: 'describing', uid: metadata.uid },
        type: 'Warning',
        reason: 'Rusty',
        message: `${name} needs oil`,
        source: { component: 'inspector' },
        firstTimestamp: new Date().toISOString(),
        lastTimestamp: new Date().toISOString(),
        count: 1,
      });
    }
    const [custom, builtin, listed, about] = await Promise.all([
      ns.ok('describe gadget one'),
      ns.ok('describe configmap a'),
      ns.ok('get events'),
      ns.ok('events --for gadget/one'),
    ]);
    assert.match(custom, /^Name: +one\nNamespace: +describing\n/);
    assert.match(custom, /^Spec:\n +Color: +red\n +Size: +2\n/m);
    assert.match(custom, /^ +Warning +Rusty +\d+s +inspector +one needs oil$/m);
    assert.match(builtin, /^x:\n----\nthe value\n/m);
    assert.match(builtin, /a needs oil/);
    assert.doesNotMatch(builtin, /one needs oil/);
    assert.match(listed, /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n/);
    assert.match(listed, /^\d+s +Warning +Rusty +gadget\/one +one needs oil$/m);
    assert.match(about, /one needs oil/);
    assert.doesNotMatch(about, /a needs oil/);
  });

  test('describe knows its way around the built-in kinds', async () => {
    const ns = await api.namespace('built-in');
    await ns.ok('create deployment web --image=web:1 --replicas=2');
    await ns.ok('create service clusterip web --tcp=80:8080');
    await ns.ok('create secret generic key --from-literal=password=secret');
    const [deployment, service, secret, namespace, crd] = await Promise.all([
      ns.ok('describe deployment web'),
      ns.ok('describe service web'),
      ns.ok('describe secret key'),
      ns.ok('describe namespace built-in'),
      ns.ok('describe crd gadgets.test.example'),
    ]);
    assert.match(deployment, /^Replicas: +2 desired \| 0 updated/m);
    assert.match(deployment, /^RollingUpdateStrategy: +25% max unavailable, 25% max surge$/m);
    assert.match(service, /^Port: +80-8080 +80\/TCP$/m);
    assert.match(secret, /^password: +6 bytes$/m);
    assert.match(namespace, /^Status: +Active$/m);
    assert.match(crd, /^ +Type: +Established$/m);
  });

  test('explain names the fields of custom and built-in kinds', async () => {
    const [custom, field, recursive, builtin, deep] = await Promise.all([
      api.ok('explain gadget'),
      api.ok('explain gadget.spec.size'),
      api.ok('explain gadget.spec --recursive'),
      api.ok('explain configmap'),
      api.ok('explain deployment.spec.strategy --recursive'),
    ]);
    assert.match(custom, /^GROUP: +test\.example\nKIND: +Gadget\nVERSION: +v1\n/);
    assert.match(custom, /^ {2}spec\t<Object> -required-$/m);
    assert.match(field, /^FIELD: size <integer>$/m);
    assert.match(recursive, /^ {2}parts\t<\[\]Object>\n {4}count\t<integer>\n {4}name\t<string> -required-$/m);
    assert.match(builtin, /^ {2}data\t<map\[string\]string>$/m);
    assert.match(deep, /^ {2}rollingUpdate\t<RollingUpdateDeployment>\n {4}maxSurge\t<IntOrString>$/m);
    assert.match(await api.refused('explain gadget.spec.nothing'), /field "nothing" does not exist/);
  });

  test('auth says who one is and what one may do', async () => {
    const [who, may, list, other, notOther] = await Promise.all([
      api.ok('auth whoami'),
      api.ok('auth can-i delete gadgets.test.example --subresource=status'),
      api.ok('auth can-i --list'),
      api.ok('auth whoami --as=joe --as-group=ops'),
      api.run('auth can-i list configmaps --as=joe'),
    ]);
    assert.match(who, /^Username +netloom-admin\nGroups +\[system:masters system:authenticated\]$/m);
    assert.equal(may, 'yes\n');
    assert.match(list, /^\*\.\* +\[\] +\[\] +\[\*\]$/m);
    assert.match(other, /^Username +joe\nGroups +\[ops system:authenticated\]$/m);
    assert.equal(notOther.code, 1);
    assert.match(notOther.stdout, /^no\b/);
    assert.equal(
      await api.refused('get configmaps --as=joe'),
      'Error from server (Forbidden): configmaps is forbidden: User "joe" cannot list resource "configmaps" in API group "" in the namespace "default"\n',
    );
  });
});
