import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { connectionsIn, forgetConnections, listConnections } from './connections.ts';
import { needsRoot, temporaryNamespace } from './network.fixture.ts';
import { inNetworkNamespace } from './network-namespace.ts';

const OF_NOBODY = ['--proto', 'udp', '--reply-src', '192.0.2.1'];

describe('connections that the kernel knows', () => {
  test('are forgotten also where there are none', needsRoot, async (t) => {
    await inNamespace(temporaryNamespace(t), () => forgetConnections(OF_NOBODY));
    assert.deepEqual(await inNamespace(temporaryNamespace(t), () => listConnections('udp')), []);
  });

  test('are not forgotten without a word about why', needsRoot, async () => {
    await assert.rejects(forgetConnections(['--proto', 'udp', '--reply-src', 'here']), {
      message: /^conntrack -D --proto udp --reply-src here: Invalid IP address `here'$/,
    });
    await assert.rejects(listConnections('nothing'), { message: /^conntrack -L --proto nothing: .*nothing/ });
  });

  test('are not forgotten when the kernel says no, which looks like there being none', async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'netloom-conntrack-'));
    const { PATH = '' } = process.env;
    t.after(() => {
      process.env['PATH'] = PATH;
      rmSync(folder, { recursive: true });
    });
    const program = path.join(folder, 'conntrack');
    const words = 'conntrack v1.4.7 (conntrack-tools): Operation failed: Operation not permitted';
    writeFileSync(program, `#!/bin/sh\necho '${words}' >&2\nexit 1\n`);
    chmodSync(program, 0o755);
    process.env['PATH'] = `${folder}:${PATH}`;
    await assert.rejects(forgetConnections(OF_NOBODY), /: Operation failed: Operation not permitted$/);
    await assert.rejects(listConnections('udp'), /: Operation failed: Operation not permitted$/);
  });

  test('are read with their answers', () => {
    const printed =
      'udp 17 29 src=10.0.0.1 dst=10.96.0.10 sport=4000 dport=53 src=10.244.0.2 dst=10.0.0.1 sport=53 dport=4000 mark=0 use=1\n';
    assert.deepEqual(connectionsIn(`${printed}icmp 1 29 src=10.0.0.1 dst=10.0.0.2 type=8 code=0 id=1\n`), [
      {
        original: { source: '10.0.0.1', sourcePort: '4000', target: '10.96.0.10', targetPort: '53' },
        reply: { source: '10.244.0.2', sourcePort: '53', target: '10.0.0.1', targetPort: '4000' },
      },
    ]);
  });
});

/** What is started at once is started there. */
async function inNamespace<T>(namespace: string, start: () => Promise<T>): Promise<T> {
  return inNetworkNamespace(namespace, () => ({ started: start() })).started;
}
