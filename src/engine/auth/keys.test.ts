import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { issueClient } from './authority.ts';
import { ADMINISTRATORS } from './identity.ts';
import { loadKeys } from './keys.ts';

const NOW = new Date('2030-01-01');
const DAY = 24 * 60 * 60 * 1000;

async function folder(t: TestContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'netloom-keys-'));
  t.after(() => rm(made, { recursive: true }));
  return made;
}

describe('the keys of the engine', () => {
  test('are made once, for the eyes of their owner alone', async (t) => {
    const directory = await folder(t);
    const first = await loadKeys(directory, ['127.0.0.1'], NOW);
    for (const name of [
      'ca.pem',
      'server.pem',
      'admin.pem',
      'kubelet-client.pem',
      'admin.token',
      'service-accounts.key',
    ]) {
      assert.equal((await stat(join(directory, name))).mode & 0o777, 0o600, name);
    }
    assert.deepEqual(await loadKeys(directory, ['127.0.0.1'], NOW), first);
  });

  test('are made anew where they are broken, about to end, or not for all addresses', async (t) => {
    const directory = await folder(t);
    const first = await loadKeys(directory, ['127.0.0.1'], NOW);
    const moved = await loadKeys(directory, ['127.0.0.1', '192.0.2.1'], NOW);
    assert.equal(new X509Certificate(moved.server.certificate).checkIP('192.0.2.1'), '192.0.2.1');
    assert.deepEqual(moved.kubeletClient, first.kubeletClient);
    const later = await loadKeys(directory, ['127.0.0.1'], new Date(NOW.getTime() + 340 * DAY));
    assert.notDeepEqual(later.server, moved.server);
    assert.notDeepEqual(later.kubeletClient, first.kubeletClient);
    assert.deepEqual(later.authority, first.authority);
    await truncate(join(directory, 'kubelet-client.pem'), 20);
    const repaired = await loadKeys(directory, ['127.0.0.1'], NOW);
    assert.ok(new X509Certificate(repaired.kubeletClient.certificate).verify(certificateKey(first.authority)));
  });

  test('show agents no administrator, also where an earlier version did', async (t) => {
    const directory = await folder(t);
    const { authority } = await loadKeys(directory, [], NOW);
    const user = 'kube-apiserver-kubelet-client';
    const { certificate, key } = await issueClient(authority, { user, groups: [ADMINISTRATORS] }, NOW);
    await writeFile(join(directory, 'kubelet-client.pem'), `${certificate}\n${key}`);
    const { kubeletClient } = await loadKeys(directory, [], NOW);
    const { CN, O } = new X509Certificate(kubeletClient.certificate).toLegacyObject().subject;
    assert.deepEqual([CN, O], [user, 'netloom:engine']);
  });
});

const certificateKey = ({ certificate }: { certificate: string }) => new X509Certificate(certificate).publicKey;
