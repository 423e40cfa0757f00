import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Lab } from './lab.fixture.ts';

describe('a Service of type LoadBalancer', () => {
  it('gets the lowest free address of a pool, and is told which pool that is', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.pool('internalapi', {});
    assert.equal(await lab.service('a'), '172.17.0.80');
    assert.equal(lab.poolOf('a'), 'internalapi');
    assert.equal(await lab.service('b'), '172.17.0.81');
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.80 a', 'metallb-system/vips 172.17.0.81 b']);
    assert.deepEqual(lab.events('a'), ['Normal IPAllocated: Assigned IP ["172.17.0.80"]']);
    await lab.stop();
  });
});
