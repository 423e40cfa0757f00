import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { inClusterConnection, readKubeconfig } from './kubeconfig.ts';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'netloom-kubeconfig-'));
});
after(() => rm(folder, { recursive: true }));

async function kubeconfig({ cluster, user = '{}', extra = '' }: { cluster: string; user?: string; extra?: string }) {
  const path = join(folder, 'config');
  await writeFile(
    path,
    `current-context: here
contexts:
- {name: here, context: {cluster: c, user: u}}
- {name: there, context: {cluster: c, user: u, namespace: far}}
clusters: [{name: c, cluster: ${cluster}}]
users: [{name: u, user: ${user}}]
${extra}`,
  );
  return path;
}

describe('reading a kubeconfig', () => {
  it('says which file is not there', async () => {
    const missing = join(folder, 'missing');
    await assert.rejects(readKubeconfig(missing), { message: `${missing} cannot be read: there is no such file` });
  });

  it('follows the current context, or the one named', async () => {
    const path = await kubeconfig({ cluster: '{server: "https://h:6443"}', user: '{token: t}' });
    const expected = { server: 'https://h:6443', insecure: false, token: 't' };
    assert.deepEqual(await readKubeconfig(path), { ...expected, namespace: 'default' });
    assert.deepEqual(await readKubeconfig(path, 'there'), { ...expected, namespace: 'far' });
  });

  it('reads certificates from the data in it, or from files beside it', async () => {
    await mkdir(join(folder, 'pki'), { recursive: true });
    await writeFile(join(folder, 'pki/ca.crt'), 'CA');
    await writeFile(join(folder, 'client.key'), 'KEY');
    const cert = Buffer.from('CERT').toString('base64');
    const path = await kubeconfig({
      cluster: '{server: "https://h", certificate-authority: pki/ca.crt, tls-server-name: kubernetes}',
      user: `{client-certificate: not-read, client-certificate-data: ${cert}, client-key: client.key}`,
    });
    const { ca, clientCert, clientKey, serverName } = await readKubeconfig(path);
    assert.deepEqual([ca, clientCert, clientKey, serverName], ['CA', 'CERT', 'KEY', 'kubernetes']);
  });

  it('names the file of a token by its full path', async () => {
    const path = await kubeconfig({ cluster: '{server: "https://h"}', user: '{tokenFile: token}' });
    assert.equal((await readKubeconfig(path)).tokenFile, join(folder, 'token'));
  });

  it('says what is wrong with it', async () => {
    const server = '{server: "https://h"}';
    const cases: [Parameters<typeof kubeconfig>[0], RegExp][] = [
      [{ cluster: '{}' }, /the cluster of context "here" has no server/],
      [{ cluster: server, user: '{exec: {command: aws}}' }, /logs in by "exec", which is not supported/],
      [{ cluster: server, user: '{client-key-data: aGk=}' }, /needs client-certificate and client-key/],
      [{ cluster: '{server: "https://h", proxy-url: "http://p"}' }, /sets proxy-url/],
      [{ cluster: '{server: 5}' }, /server must be a text/],
    ];
    for (const [content, message] of cases) await assert.rejects(readKubeconfig(await kubeconfig(content)), message);
    await assert.rejects(readKubeconfig(await kubeconfig({ cluster: server }), 'none'), /contexts has no entry "none"/);
  });
});

describe('the connection of a pod', () => {
  it('is its service account', async () => {
    for (const [name, text] of [
      ['ca.crt', 'CA'],
      ['namespace', 'ns\n'],
    ] as const)
      await writeFile(join(folder, name), text);
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    assert.deepEqual(await inClusterConnection(env, folder), {
      server: 'https://[fd00::1]:443',
      ca: 'CA',
      insecure: false,
      tokenFile: join(folder, 'token'),
      namespace: 'ns',
    });
  });

  it('is absent outside of a cluster', async () => {
    assert.equal(await inClusterConnection({}), undefined);
  });
});
