import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { needsRoot } from '../../linux/network.fixture.ts';
import { hasNetwork, RealHost, statusIn } from './real-host.fixture.ts';

test('a pod runs a command of the host, and nothing is left when it is deleted', needsRoot, async (t) => {
  const host = await RealHost.start(t);
  const { metadata } = await host.script('web', 'echo "I am $HOSTNAME"; exec sleep 1000');
  const pod = await host.running('web');
  assert.equal(pod.status?.podIP, host.podCidr.replace('.0/24', '.1'));
  assert.equal(statusIn(pod).ready, true);
  assert.ok(hasNetwork(metadata.uid));
  assert.equal(host.log(pod), 'I am web\n');
  await host.delete('web');
  await host.gone('web');
  assert.equal(hasNetwork(metadata.uid), false);
  assert.deepEqual(await host.machine.runtime.list(), { sandboxes: [], containers: [] });
  for (const folder of ['pods', 'logs', 'containers']) {
    const left = path.join(host.machine.stateDirectory, folder, metadata.uid);
    assert.equal(existsSync(left), false);
  }
});
