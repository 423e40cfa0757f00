import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../test/simulation/world.ts';
import { Node, UNDERLAY_ADDRESS } from '../api/core/node.ts';
import { Event } from '../runtime/builtin.ts';
import { Manager } from '../runtime/manager.ts';
import { podRoutes } from './pod-routes.controller.ts';
import { Troubles } from './troubles.ts';

const RANGES = { podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.1.0/24', 'fd00:244:0:1::/64'] };

/** What the host `here` does about a Node of another one, and says of it. */
async function seen(addresses: readonly string[], { underlay, problem }: { underlay?: string; problem?: string } = {}) {
  const { api, client, clock, log } = world({ kinds: [Node, Event], level: 'error' });
  const annotations = underlay === undefined ? {} : { [UNDERLAY_ADDRESS]: underlay };
  await client.create(Node, { metadata: { name: 'here' }, spec: { podCIDRs: ['fd00:244::/64'] } });
  await client.create(Node, { metadata: { name: 'there', annotations }, spec: RANGES });
  const status = { addresses: addresses.map((address) => ({ type: 'InternalIP' as const, address })) };
  await client.patch(Node, { namespace: '', name: 'there' }, { merge: { status } }, 'status');
  let routes: readonly { podCidr: string; via: string }[] = [];
  const network = {
    routeTo: async (others: typeof routes) => {
      routes = others;
      return [];
    },
    cutOff: async (ranges: readonly string[]) =>
      problem === undefined ? [] : ranges.map((podCidr) => ({ podCidr, problem })),
  };
  const troubles = new Troubles();
  const manager = new Manager({
    ...{ transport: api.transport(), system: clock, log, fieldManager: 'agent', instance: 'here' },
    controllers: [podRoutes({ name: 'here', network, troubles })],
  });
  manager.start();
  await clock.advance(1_000);
  await clock.run(manager.stop({ within: 1_000 }));
  return {
    routes: routes.map(({ podCidr, via }) => `${podCidr} ${via}`),
    said: troubles.list().map((each) => each.message),
  };
}

test('each range of another node is led to by the address of its family', async () => {
  assert.deepEqual(await seen(['192.0.2.2', '2001:db8::2']), {
    routes: ['10.244.1.0/24 192.0.2.2', 'fd00:244:0:1::/64 2001:db8::2'],
    said: [],
  });
});

test('the addresses that are there for this purpose go before those of the node', async () => {
  const { routes } = await seen(['192.0.2.2', '2001:db8::2'], { underlay: '198.51.100.2,2001:db8:1::2' });
  assert.deepEqual(routes, ['10.244.1.0/24 198.51.100.2', 'fd00:244:0:1::/64 2001:db8:1::2']);
});

test('a range whose node has no address of its family is said to have no way, and the other one is led to', async () => {
  const { routes, said } = await seen(['192.0.2.2']);
  assert.deepEqual(routes, ['10.244.1.0/24 192.0.2.2']);
  assert.deepEqual(said, [
    'the pods of fd00:244:0:1::/64 cannot be reached: node there has no IPv6 address (its agent gets one by --node-ip)',
  ]);
});

test('nothing is said of a node whose agent has not said yet where it is', async () => {
  assert.deepEqual(await seen([]), { routes: [], said: [] });
});

test('what the kernel of this host keeps from its own pods is said', async () => {
  const { said } = await seen(['192.0.2.2', '2001:db8::2'], { problem: 'nothing comes through' });
  assert.deepEqual(said, ['the pods of fd00:244::/64 cannot be reached: nothing comes through']);
});
