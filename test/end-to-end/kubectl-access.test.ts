import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { requestFor } from '../../src/agent/certificate-request.ts';
import { EngineWithKubectl } from './engine-with-kubectl.ts';

describe('access, asked for and given with kubectl', { concurrency: 4 }, () => {
  let api: EngineWithKubectl;
  before(async () => {
    api = await EngineWithKubectl.start();
  });
  after(() => api.stop());

  test('whoami says who one is, and as whom one acts', async () => {
    assert.match(
      await api.ok('auth whoami'),
      /^Username +netloom-admin\nGroups +\[system:masters system:authenticated\]$/m,
    );
    assert.match(await api.ok('auth whoami --as=joe'), /^Username +joe$/m);
  });

  test('roles and bindings made by kubectl count at once, and can-i knows it', async () => {
    const ns = await api.namespace('giving');
    assert.equal((await ns.run('auth can-i get pods --as=ann')).stdout, 'no\n');
    await ns.ok('create role reader --verb=get,list,watch --resource=pods,pods/log');
    await ns.ok('create rolebinding ann-reads --role=reader --user=ann');
    await ns.ok('create rolebinding robots-edit --clusterrole=edit --serviceaccount=giving:robot');
    const robot = '--as=system:serviceaccount:giving:robot';
    assert.match((await ns.run('auth can-i get pods --as=ann')).stdout, /^yes/);
    assert.match((await ns.run('auth can-i get pods --subresource=log --as=ann')).stdout, /^yes/);
    assert.equal((await ns.run('auth can-i delete pods --as=ann')).stdout, 'no\n');
    assert.match((await ns.run(`auth can-i create deployments.apps ${robot}`)).stdout, /^yes/);
    assert.equal((await ns.run(`auth can-i create deployments.apps -n default ${robot}`)).stdout, 'no\n');
    await ns.ok('get pods --as=ann');
    assert.match(
      await ns.refused('get secrets --as=ann'),
      /User "ann" cannot list resource "secrets" in API group "" in/,
    );
  });

  test('create token makes one of an account, with which kubectl is that account', async () => {
    const ns = await api.namespace('tokens');
    const token = (await ns.ok('create token default --duration=20m')).trim();
    assert.match(token, /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/);
    await ns.ok('create serviceaccount robot');
    const robot = (await ns.ok('create token robot --audience=https://kubernetes.default.svc.cluster.local')).trim();
    assert.match(
      await api.ok(
        `auth whoami --kubeconfig=/dev/null --server=${api.engine.url} --insecure-skip-tls-verify --token=${robot}`,
      ),
      /^Username +system:serviceaccount:tokens:robot$/m,
    );
    assert.match(await ns.refused('create token nobody'), /serviceaccounts "nobody" not found/);
  });

  test('certificate approve and deny decide about requests', async () => {
    const key = requestFor({ commonName: 'ann', organization: 'dev', hosts: [] });
    for (const name of ['good', 'bad']) {
      await api.ok('apply -f -', {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name },
        spec: {
          request: Buffer.from(key.request).toString('base64'),
          signerName: 'kubernetes.io/kube-apiserver-client',
          usages: ['client auth'],
        },
      });
    }
    await api.ok('certificate approve good');
    await api.ok('certificate deny bad');
    await api.ok('wait csr/good --for=jsonpath={.status.certificate} --timeout=20s');
    assert.match(await api.ok('get csr'), /^good .* Approved,Issued$/m);
    assert.match(await api.ok('get csr'), /^bad .* Denied$/m);
  });

  test('can-i --list tells all of it', async () => {
    const ns = await api.namespace('listing');
    await ns.ok('create role reader --verb=get --resource=configmaps --resource-name=mine');
    await ns.ok('create rolebinding ann-reads --role=reader --user=ann');
    const list = await ns.ok('auth can-i --list --as=ann');
    assert.match(list, /^configmaps +\[\] +\[mine\] +\[get\]$/m);
    assert.match(list, /^selfsubjectreviews\.authentication\.k8s\.io +\[\] +\[\] +\[create\]$/m);
    assert.match(list, /\[\/version\] +\[\] +\[get\]/);
    assert.match(await ns.ok('auth can-i --list'), /^\*\.\* +\[\] +\[\] +\[\*\]$/m);
  });

  test('roles and bindings are shown and described', async () => {
    const ns = await api.namespace('showing');
    await ns.ok('create role reader --verb=get --resource=pods');
    await ns.ok('create rolebinding readers --role=reader --user=ann --group=dev --serviceaccount=showing:robot');
    assert.match(await ns.ok('get roles'), /^NAME +CREATED AT\nreader +\d{4}-\d\d-\d\dT[\d:]+Z\n$/);
    assert.match(
      await ns.ok('get rolebindings -o wide'),
      /^NAME +ROLE +AGE +USERS +GROUPS +SERVICEACCOUNTS\nreaders +Role\/reader +\d+s +ann +dev +showing\/robot\n$/,
    );
    assert.match(await ns.ok('describe rolebinding readers'), /ServiceAccount +robot +showing/);
    assert.match(await ns.ok('describe clusterrole view'), /configmaps +\[\] +\[\] +\[get list watch\]/);
    assert.match(
      await ns.refused('create clusterrolebinding mine --clusterrole=cluster-admin --user=ann --as=ann'),
      /cannot create resource "clusterrolebindings"/,
    );
  });

  test('reconcile makes roles as a file says', async () => {
    const ns = await api.namespace('reconciling');
    const role = (verbs: string[]) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'r', namespace: 'reconciling' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs }],
    });
    await ns.ok('auth reconcile -f -', role(['get']));
    await ns.ok('auth reconcile -f -', role(['list']));
    const rules = JSON.stringify((await ns.json('get role r'))['rules']);
    assert.match(rules, /"get"/);
    assert.match(rules, /"list"/);
  });
});
