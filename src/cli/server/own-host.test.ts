import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, test } from 'node:test';
import { silentLog } from '../../runtime/log.ts';
import type { Transport } from '../../runtime/transport.ts';
import { UsageError } from '../command.ts';
import { startOwnHost } from './own-host.ts';
import { readOwnHostOptions } from './own-host-options.ts';

const networks = { serviceCidr: '10.96.0.0/16', podCidr: '10.244.0.0/16' };

describe('this machine as a node', () => {
  test('has no name by which files would be elsewhere, or that no node can have', () => {
    const read = (host: string) =>
      readOwnHostOptions({ agent: 'on', host, 'service-cidr': networks.serviceCidr, 'pod-cidr': networks.podCidr });
    for (const host of ['../../etc', 'a/b', 'Foo_Bar', '']) {
      assert.throws(
        () => read(host),
        (error) => error instanceof UsageError && error.message.includes(`"${host}"`),
      );
    }
    assert.deepEqual(read('h1.example'), { name: 'h1.example', ...networks });
  });

  const needsRoot = { skip: process.getuid?.() === 0 ? false : 'needs root' };
  test('is none where the machine itself has such a name, and that is said', needsRoot, async () => {
    const [directory, kubeconfig] = ['/nowhere/netloom', '/nowhere/netloom/kubeconfig'];
    const options = { directory, kubeconfig, transport: {} as Transport, log: silentLog, ...networks };
    assert.deepEqual(await startOwnHost({ ...options, name: 'odd_name' }), {
      reason: 'the name of this machine, "odd_name", cannot be one of a node: give it another with --host NAME',
    });
    assert.equal(existsSync('/run/netloom/hosts/odd_name'), false);
  });
});
