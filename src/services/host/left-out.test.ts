import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { world } from '../../../test/simulation/world.ts';
import { Service } from '../../api/core/service.ts';
import { EndpointSlice } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import { simulatedProxy } from './simulated-proxy.fixture.ts';

const ref = (name: string) => ({ namespace: 'default', name });

describe('a Service that the kernel does not take', () => {
  it('is left out, so that all others are led to, and led to when it is as it can be', async () => {
    const all = world({ kinds: [Service, EndpointSlice] });
    const { api, clock, client } = all;
    const make = (name: string, clusterIP: string) =>
      client.create(Service, { metadata: ref(name), spec: { clusterIP, ports: [{ port: 80 }] } });
    for (let i = 1; i <= 20; i += 1) await make(`good-${i}`, `10.96.0.${i}`);
    await make('bad', '10.96.0.66');

    const takes = async (script: string): Promise<void> => {
      if (script.includes('10.96.0.66')) throw new Error('the kernel has never heard of 66');
    };
    const run: string[] = [];
    const { troubles, stop } = simulatedProxy(all, {
      run: (script) => takes(script).then(() => void run.push(script)),
      check: takes,
      size: () => 1,
    });
    await clock.advance(60_000);
    assert.equal(run.length, 1, 'it is not tried again and again');
    for (let i = 1; i <= 20; i += 1) assert.match(run[0] ?? '', new RegExp(`10\\.96\\.0\\.${i} `));
    assert.match(troubles.at(-1) ?? '', /default\/bad$/);

    await make('late', '10.96.0.30');
    await clock.advance(1_000);
    assert.match(run[1] ?? '', /10\.96\.0\.30/);
    await client.delete(Service, ref('bad'));
    await make('bad', '10.96.0.67');
    await clock.advance(60_000);
    assert.match(run.join(), /10\.96\.0\.67/);
    assert.equal(troubles.at(-1), undefined);
    await stop();
    assert.ok(api.objects(Service).length > 0);
  });
});
