import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { Namespace } from '../api/core/namespace.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { Reservation } from '../api/network.openstack.org/reservation.ts';
import { Lab, NAMESPACE, smallNetwork } from './environment.fixture.ts';

const MINUTE = 60_000;

describe('an address that was given back, when there is a cool-down of ten minutes', () => {
  let lab: Lab;
  beforeEach(async () => {
    lab = new Lab({ coolDown: 10 * MINUTE });
    await lab.netConfig(smallNetwork('172.18.0.11'));
    await lab.start();
  });
  const fixed = (fixedIP: string) => ({ name: 'Storage', subnetName: 'subnet1', fixedIP });
  /** What the block says of an address. */
  const recordOf = (address: string) =>
    lab.world.api
      .objects(AddressBlock)
      .flatMap(({ spec }) => spec.holdings)
      .find((holding) => holding.address === address);
  const minutesUntil = (time = '') => Math.round((Date.parse(time) - lab.world.clock.now()) / MINUTE);

  it('is given to nobody else before, and then to who waits, without anybody asking', async () => {
    await lab.ipSet('a');
    await lab.ipSet('b');
    await lab.delete('a');
    assert.equal(minutesUntil(recordOf('172.18.0.10')?.coolsUntil), 10);
    await lab.ipSet('c');
    assert.match(lab.state('c'), /none of 172\.18\.0\.10-172\.18\.0\.11 is left/);
    const requests = new Map(lab.world.api.requests);
    await lab.settle(9 * MINUTE);
    assert.match(lab.state('c'), /is left/);
    assert.deepEqual(writesSince(requests), [], 'waiting costs nothing');
    await lab.settle(MINUTE);
    assert.equal(lab.state('c'), '172.18.0.10');
    await lab.stop();
  });

  it('is named by its time in what is said to who waits for any', async () => {
    await lab.ipSet('a');
    await lab.ipSet('b');
    await lab.ipSet('before');
    const none =
      'False: Reservation error occured no ip address could be created in network Storage subnet subnet1: none of 172.18.0.10-172.18.0.11 is left; who waits longest gets the next one, when';
    assert.equal(lab.state('before'), `${none} one there is given back or an allocation range grows`);
    await lab.delete('a');
    const until = recordOf('172.18.0.10')?.coolsUntil;
    await lab.settle(MINUTE);
    await lab.delete('b');
    await lab.ipSet('after');
    const first = `${none} the first of those that were given back has cooled down at`;
    for (const name of ['before', 'after'])
      assert.equal(lab.state(name), `${first} ${until}, or an allocation range grows`);
    await lab.claim('claim');
    assert.match(lab.claimState('claim'), new RegExp(`has cooled down at ${until}`));
    await lab.ipSet('a');
    const second = recordOf('172.18.0.11')?.coolsUntil;
    assert.equal(lab.state('before'), `${first} ${second}, or an allocation range grows`);
    await lab.stop();
  });

  it('is named to who waited for exactly it while somebody had it', async () => {
    await lab.ipSet('a');
    await lab.claim('claim', { address: '172.18.0.10' });
    await lab.delete('a');
    assert.match(lab.claimState('claim'), /given back by IPSet a and cools down until/);
    await lab.stop();
  });

  it('makes who asks for exactly it wait, and says until when', async () => {
    await lab.ipSet('a');
    await lab.delete('a');
    await lab.ipSet('b', fixed('172.18.0.10'));
    const until = recordOf('172.18.0.10')?.coolsUntil;
    assert.equal(
      lab.state('b'),
      `False: Reservation error occured 172.18.0.10 was given back by IPSet a and cools down until ${until}; network Storage subnet subnet1 gives it then`,
    );
    await lab.settle(10 * MINUTE);
    assert.equal(lab.state('b'), '172.18.0.10');
    await lab.stop();
  });

  it('is given at once to an IPSet of the name that it was given back by', async () => {
    await lab.ipSet('a', fixed('172.18.0.10'));
    await lab.delete('a');
    await lab.ipSet('a', fixed('172.18.0.10'));
    assert.equal(lab.state('a'), '172.18.0.10');
    await lab.settle(20 * MINUTE);
    assert.deepEqual(lab.held(), ['172.18.0.10 IPSet a'], 'the end of the cool-down takes nothing away');
    await lab.stop();
  });

  it('goes at once to an IPSet of that name which asks for any, also when others wait and nothing else is left', async () => {
    await lab.ipSet('a');
    await lab.ipSet('b');
    await lab.delete('a');
    await lab.ipSet('waiting');
    await lab.ipSet('a');
    assert.match(lab.state('waiting'), /is left/);
    assert.equal(lab.state('a'), '172.18.0.10');
    await lab.stop();
  });

  it('is not forced on an IPSet of that name where it would not be given any more', async () => {
    await lab.ipSet('a', fixed('172.18.0.200'));
    await lab.delete('a');
    await lab.ipSet('a');
    assert.equal(lab.state('a'), '172.18.0.10');
    await lab.stop();
  });

  it('is taken back at once by a Reservation of that name, as from a backup', async () => {
    await lab.ipSet('a');
    await lab.delete('a');
    await lab.world.client.create(Reservation, {
      metadata: { name: 'a', namespace: NAMESPACE },
      spec: {
        ipSetRef: {},
        reservation: { Storage: { network: 'Storage', subnet: 'subnet1', address: '172.18.0.10' } },
      },
    });
    await lab.settle();
    assert.deepEqual(lab.held(), ['172.18.0.10 Reservation a']);
    await lab.stop();
  });

  it('goes on cooling down when the controllers are started anew', async () => {
    await lab.ipSet('a');
    await lab.ipSet('b');
    await lab.delete('a');
    await lab.settle(5 * MINUTE);
    await lab.stop();
    await lab.start();
    await lab.ipSet('c');
    await lab.settle(4 * MINUTE);
    assert.match(lab.state('c'), /is left/);
    await lab.settle(MINUTE);
    assert.equal(lab.state('c'), '172.18.0.10');
    await lab.stop();
  });

  it('cools down, too, when its IPSet vanished without giving it back', async () => {
    await lab.ipSet('a');
    await lab.world.client.patch(
      IPSet,
      { name: 'a', namespace: NAMESPACE },
      { merge: { metadata: { finalizers: null } } },
    );
    await lab.delete('a');
    lab.world.api.collectGarbage();
    await lab.settle(2 * MINUTE);
    assert.ok([9, 10].includes(minutesUntil(recordOf('172.18.0.10')?.coolsUntil)));
    await lab.settle(10 * MINUTE);
    assert.equal(recordOf('172.18.0.10'), undefined);
    await lab.stop();
  });

  it('keeps no namespace that is being deleted', async () => {
    const { client, api } = lab.world;
    await client.create(Namespace, { metadata: { name: NAMESPACE, finalizers: ['kubernetes'] } });
    await lab.ipSet('a');
    await lab.delete('a');
    await client.delete(AddressBlock, { name: 'underlay-172.18.0.0-24', namespace: NAMESPACE });
    await lab.settle();
    assert.notEqual(recordOf('172.18.0.10'), undefined, 'a block alone stays');
    await lab.ipSet('b');
    await client.delete(Namespace, { name: NAMESPACE, namespace: '' });
    await lab.delete('b');
    assert.deepEqual(api.objects(AddressBlock), []);
    await lab.stop();
  });

  it('counts as neither held nor free', async () => {
    await lab.ipSet('a');
    await lab.ipSet('b');
    await lab.delete('a');
    const [netConfig] = lab.world.api.objects(NetConfig);
    const [{ total, held, cooling, free } = {}] = netConfig?.status?.subnets ?? [];
    assert.deepEqual({ total, held, cooling, free }, { total: 2, held: 1, cooling: 1, free: 0 });
    const full = netConfig?.status?.conditions?.find(({ type }) => type === 'Full');
    assert.match(full?.message ?? '', /^1 of 2 addresses of network Storage\/subnet1 are held and 1 cool down;/);
    await lab.stop();
  });

  const writesSince = (before: ReadonlyMap<string, number>): string[] =>
    [...lab.writes()].flatMap(([what, count]) => (before.get(what) === count ? [] : [what]));
});
