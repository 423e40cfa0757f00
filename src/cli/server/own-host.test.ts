import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
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

  test('is none where another agent has its name already, whether or not that says who it is', needsRoot, async (t) => {
    const name = `t${randomBytes(4).toString('hex')}`;
    const folder = `/run/netloom/hosts/${name}`;
    mkdirSync(folder, { recursive: true });
    const holder = spawn(
      'flock',
      ['--exclusive', '--no-fork', `${folder}/agent.lock`, 'sh', '-c', 'echo held; exec sleep 1000'],
      {
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    t.after(async () => {
      holder.kill();
      await once(holder, 'close');
      rmSync(folder, { recursive: true });
    });
    await once(holder.stdout, 'data');
    const [directory, kubeconfig] = ['/nowhere/netloom', '/nowhere/netloom/kubeconfig'];
    const options = { directory, kubeconfig, transport: {} as Transport, log: silentLog, ...networks, name };
    const reason = (who: string) => `the agent of ${name} runs already, as ${who}: it belongs to another Netloom`;
    assert.deepEqual(await startOwnHost(options), { reason: reason('another process') });
    writeFileSync(`${folder}/agent.lock`, '42\n');
    assert.deepEqual(await startOwnHost(options), { reason: reason('process 42') });
  });
});
