import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../test/simulation/world.ts';
import { Service } from '../../api/core/service.ts';
import { EndpointSlice } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import { Informers } from '../../runtime/informers.ts';
import { ServiceProxy } from './service-proxy.ts';

test('a table that somebody else sweeps away is written anew, also when he does so right after it was written', async () => {
  const { clock, client, log } = world({ kinds: [Service, EndpointSlice] });
  const metadata = { namespace: 'default', name: 'web' };
  await client.create(Service, { metadata, spec: { clusterIP: '10.96.0.80', ports: [{ port: 80 }] } });

  const kernel: { table: string | undefined; sweepsNext: boolean } = { table: undefined, sweepsNext: true };
  const troubles: (string | undefined)[] = [];
  const informers = new Informers({ client, system: clock, log });
  const proxy = new ServiceProxy({
    ...{ informers, system: clock, log, node: 'here' },
    host: { addresses: {}, serviceCidrs: ['10.96.0.0/16'], podCidrs: ['10.244.0.0/16'], podLinks: 244 },
    trouble: (message) => troubles.push(message),
    nft: {
      run: async (script) => {
        kernel.table = kernel.sweepsNext ? undefined : script;
        kernel.sweepsNext = false;
      },
      check: async () => {},
      size: () => kernel.table?.length,
    },
  });
  void proxy.start();
  await clock.advance(5_000);
  assert.match(kernel.table ?? '', /10\.96\.0\.80/);
  assert.match(troubles.join(), /somebody else has removed the table/);
  assert.equal(troubles.at(-1), undefined);

  kernel.table = undefined;
  await clock.advance(5_000);
  assert.match(kernel.table ?? '', /10\.96\.0\.80/);
  await clock.run(proxy.stop());
  await clock.run(informers.stop());
});
