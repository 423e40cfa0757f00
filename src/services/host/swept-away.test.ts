import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../test/simulation/world.ts';
import { Service } from '../../api/core/service.ts';
import { EndpointSlice } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import { simulatedProxy } from './simulated-proxy.fixture.ts';

test('a table that somebody else sweeps away is written anew, also when he does so right after it was written', async () => {
  const all = world({ kinds: [Service, EndpointSlice] });
  const { clock, client } = all;
  const metadata = { namespace: 'default', name: 'web' };
  await client.create(Service, { metadata, spec: { clusterIP: '10.96.0.80', ports: [{ port: 80 }] } });

  const kernel: { table: string | undefined; sweepsNext: boolean } = { table: undefined, sweepsNext: true };
  const { troubles, stop } = simulatedProxy(all, {
    run: async (script) => {
      kernel.table = kernel.sweepsNext ? undefined : script;
      kernel.sweepsNext = false;
    },
    check: async () => {},
    size: () => kernel.table?.length,
  });
  await clock.advance(5_000);
  assert.match(kernel.table ?? '', /10\.96\.0\.80/);
  assert.match(troubles.join(), /somebody else has removed the table/);
  assert.equal(troubles.at(-1), undefined);

  kernel.table = undefined;
  await clock.advance(5_000);
  assert.match(kernel.table ?? '', /10\.96\.0\.80/);
  await stop();
});
