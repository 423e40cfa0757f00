import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../test/simulation/world.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { Ledger } from '../ledger/ledger.ts';
import { allot } from './allocator.ts';
import type { Applicant } from './applicant.ts';
import { NAMESPACE, network, smallNetwork, subnet } from './environment.fixture.ts';
import { UNDERLAY } from './environment.ts';
import { Networks } from './networks.ts';
import { Waiting } from './waiting.ts';

const metadata = (name: string, resourceVersion: string) => ({
  name,
  namespace: NAMESPACE,
  uid: name,
  resourceVersion,
  creationTimestamp: '2026-01-01T00:00:00Z',
});
const elsewhere = subnet({
  cidr: '172.19.0.0/24',
  allocationRanges: [{ start: '172.19.0.10', end: '172.19.0.20' }],
});
const networks = new Networks({
  apiVersion: 'network.openstack.org/v1beta1',
  kind: NetConfig.kind,
  metadata: metadata('netconfig', '1'),
  spec: { networks: [smallNetwork('172.18.0.10'), network({ name: 'Tenant', subnets: [elsewhere] })] },
});
const holderOf = (name: string) => ({ kind: 'IPSet', name, uid: name });

/** A block in which this one holds the only address of the small network. */
const heldBy = (name: string, version: string): AddressBlock => ({
  apiVersion: 'netloom.io/v1alpha1',
  kind: AddressBlock.kind,
  metadata: metadata('underlay-172.18.0.0-24', version),
  spec: {
    space: UNDERLAY,
    prefix: '172.18.0.0/24',
    holdings: [{ address: '172.18.0.10', holder: holderOf(name), network: 'Storage', subnet: 'subnet1', since: '' }],
  },
});

const applicant = (name: string, of: string, fixedIP?: string): Applicant => ({
  holder: holderOf(name),
  ref: { namespace: NAMESPACE, name },
  created: '2026-01-01T00:00:00Z',
  requests: [{ name: of, subnetName: 'subnet1', ...(fixedIP === undefined ? {} : { fixedIP }) }],
  promises: { areOwn: false, entries: [] },
  told: { areOwn: false, entries: [] },
});

/** A ledger whose writes take half a second, in which somebody called former has the only address of the small network. */
function slowly() {
  const { clock, clientWith } = world({ kinds: [AddressBlock], level: 'error' });
  const ledger = new Ledger({ client: clientWith({ delay: [500, 500] }), clock });
  const space = ledger.space(NAMESPACE, UNDERLAY);
  for (const pool of networks.pools) space.addPool(pool);
  space.observe(heldBy('former', '1'));
  const allocator = { ledger, space, networks, waiting: new Waiting(), isOutdated: () => false, isThere: () => true };
  return { clock, space, allocator };
}

test('who is put on record by somebody else, while another one of the pass is being recorded, asks again', async () => {
  const { clock, space, allocator } = slowly();
  const allotting = allot(allocator, [applicant('a', 'Storage'), applicant('b', 'Tenant')]);
  await clock.advance(200);
  space.observe(heldBy('a', '2'));
  const [a] = await clock.run(allotting);
  assert.deepEqual([a?.reserved, a?.mayAskAgain], [[], true]);
  const [again] = await clock.run(allot(allocator, [applicant('a', 'Storage')]));
  assert.deepEqual([again?.reserved.map(({ address }) => `${address}`), again?.mayAskAgain], [['172.18.0.10'], false]);
});

test('who is told who has an address asks again when that is another one before the pass is over', async () => {
  const { clock, space, allocator } = slowly();
  const asking = applicant('a', 'Storage', '172.18.0.10');
  const allotting = allot(allocator, [asking, applicant('b', 'Tenant')]);
  await clock.advance(200);
  space.observe(heldBy('other', '2'));
  const [a] = await clock.run(allotting);
  assert.deepEqual([a?.problems.map((text) => /by IPSet (\w+)/.exec(text)?.[1]), a?.mayAskAgain], [['former'], true]);
  const [again] = await clock.run(allot(allocator, [asking]));
  assert.deepEqual(
    [again?.problems.map((text) => /by IPSet (\w+)/.exec(text)?.[1]), again?.mayAskAgain],
    [['other'], false],
  );
});
