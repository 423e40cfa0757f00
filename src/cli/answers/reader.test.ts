import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { noFaults } from '../../../test/simulation/faults.ts';
import { world } from '../../../test/simulation/world.ts';
import { Node } from '../../api/core/node.ts';
import { AddressBlock } from '../../api/netloom.io/address-block.ts';
import { Prefix } from '../../api/prefix.ts';
import { address, block } from './answers.fixture.ts';
import { Reader } from './reader.ts';

const { api, client, clock } = world({ seed: 1, kinds: [AddressBlock], level: 'error' });
const reader = new Reader(api.transport(noFaults), 'openstack');
const texts = Array.from({ length: 100 }, (_, i) => `10.0.${i}.10`);
for (const text of texts) {
  const { metadata, spec } = block({ [text]: 'a' });
  await client.create(AddressBlock, { metadata: { name: metadata.name, namespace: 'openstack' }, spec });
}
const requests = (): number => api.requests.get('list addressblocks') ?? 0;
let before = 0;
beforeEach(() => {
  before = requests();
});

test('the blocks of few addresses are asked for by name', async () => {
  const found = await clock.run(reader.blocksAt([address('10.0.7.1'), address('10.0.7.2'), address('10.0.200.1')]));
  assert.deepEqual(
    found.map(({ metadata }) => metadata.name),
    ['underlay-10.0.7.0-24'],
  );
});

test('the blocks of many addresses are found by looking through all, once', async () => {
  const found = await clock.run(reader.blocksAt(texts.slice(0, 50).map(address)));
  assert.equal(found.length, 50);
  assert.equal(requests() - before, 1);
});

test('so are those of many prefixes, and of one that is large', async () => {
  const prefixes = texts.slice(0, 50).map((text) => new Prefix(address(text), 26));
  assert.equal((await clock.run(reader.blocksUnder(prefixes, 'openstack'))).length, 50);
  assert.equal((await clock.run(reader.blocksUnder([new Prefix(address('10.0.0.0'), 8)]))).length, 100);
  assert.equal(requests() - before, 2);
});

test('whoever may look at his own namespace only sees that, and is told what he does not see', async () => {
  const transport = api.transport(noFaults);
  const refused = { status: 403, body: { message: 'forbidden', reason: 'Forbidden', code: 403 }, warnings: [] };
  const own = new Reader(
    {
      stream: (request) => transport.stream(request),
      request: async (request) =>
        request.path.includes('/namespaces/openstack/') ? transport.request(request) : refused,
    },
    'openstack',
  );
  assert.deepEqual(own.hidden, []);
  assert.equal((await clock.run(own.blocksAt([address('10.0.7.1')]))).length, 1);
  assert.deepEqual(own.hidden, ['addressblocks in all namespaces']);
  assert.deepEqual(await clock.run(own.list(Node)), []);
  const holder = { apiGroup: 'netloom.io', kind: 'AddressClaim', namespace: 'other', name: 'a', uid: '1' };
  assert.equal(await clock.run(own.holder(holder)), undefined, 'it may exist');
  assert.deepEqual(own.hidden, ['addressblocks in all namespaces', 'addressclaims in namespace other', 'nodes']);
  await assert.rejects(clock.run(own.get(AddressBlock, 'other', 'a')), /forbidden/);
});
