import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../test/simulation/world.ts';
import { Node } from '../../api/core/node.ts';
import { Lease } from '../../runtime/builtin.ts';
import { planned } from '../plan/planned.fixture.ts';
import { forgetWords, readyHosts } from './nodes.ts';

const LAB = 'lab: cloud\nhosts: [a, b, c]\n';

test('a host that has only just been put in place is not Ready for what it said before, until its agent speaks', async () => {
  const { client, clock } = world({ kinds: [Node, Lease] });
  const { hosts } = planned(LAB);
  const says = async (name: string, status: 'True' | 'False'): Promise<void> => {
    const conditions = ['Ready', 'DiskPressure'].map((type) => ({
      ...{ type, status, reason: 'SaidSo', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
    }));
    await client.patch(Node, { namespace: '', name }, { merge: { status: { conditions } } }, 'status');
  };
  for (const name of ['a', 'b', 'c']) {
    await client.create(Node, { metadata: { name, labels: { 'netloom.io/lab': 'cloud' } }, spec: {} });
    await says(name, name === 'b' ? 'False' : 'True');
  }
  const ready = async () => [...(await readyHosts(client, 'cloud', new Map()))].sort();
  assert.deepEqual(await ready(), ['a', 'c']);

  await forgetWords(
    client,
    hosts.filter(({ name }) => name !== 'c'),
    clock,
  );
  assert.deepEqual(await ready(), ['c']);
  const statuses = async (name: string) =>
    (await client.get(Node, name))?.status?.conditions?.map(({ status }) => status);
  assert.deepEqual(await statuses('a'), ['Unknown', 'True']);
  assert.deepEqual(await statuses('b'), ['False', 'False'], 'one that said that it was not stays so');

  await says('a', 'True');
  assert.deepEqual(await ready(), ['a', 'c']);
});
