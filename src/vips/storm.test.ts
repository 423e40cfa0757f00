import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storm } from '../../test/simulation/faults.ts';
import { Service } from '../api/core/service.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { Lab, NAMESPACE } from './lab.fixture.ts';

/** What must be true at every moment: the statuses that say an address are of Services that may share it. */
function assertNobodyIsRobbed(lab: Lab): void {
  const seen = new Map<string, Service>();
  for (const service of lab.world.api.objects(Service)) {
    const key = service.metadata.annotations?.['metallb.io/allow-shared-ip'];
    for (const { ip = '' } of service.status?.loadBalancer?.ingress ?? []) {
      for (const port of service.spec.ports ?? []) {
        const taken = `${ip} ${port.port}`;
        assert.equal(seen.get(taken)?.metadata.name, undefined, `${taken} of ${service.metadata.name}`);
        seen.set(taken, service);
      }
      const sharer = seen.get(ip);
      if (sharer !== undefined) {
        assert.equal(
          key !== undefined && key === sharer.metadata.annotations?.['metallb.io/allow-shared-ip'],
          true,
          ip,
        );
      }
      seen.set(ip, service);
    }
  }
}

async function run(seed: number): Promise<void> {
  const lab = new Lab({ seed });
  const { clock, client } = lab.world;
  await lab.pool('internalapi', { addresses: ['172.17.0.80-172.17.0.83'] });
  await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250');
  await Promise.all([lab.start(storm), lab.start(storm)]);
  const living = new Set<string>();
  for (let i = 0; i < 40; i += 1) {
    const name = `s${Math.floor(clock.random() * 8)}`;
    if (living.delete(name)) {
      await client.delete(Service, { name, namespace: NAMESPACE });
    } else {
      living.add(name);
      const key = clock.random() < 0.5 ? { 'metallb.io/allow-shared-ip': 'k' } : {};
      const port = 80 + Math.floor(clock.random() * 3);
      await lab.create(name, { port, annotations: key });
    }
    await clock.advance(Math.floor(clock.random() * 1_500));
    assertNobodyIsRobbed(lab);
  }
  // In the end the network is quiet again, and whoever can have an address has one.
  await clock.advance(200_000);
  assertNobodyIsRobbed(lab);
  await lab.stop();
  await lab.start();
  await lab.settle(60_000);
  assertNobodyIsRobbed(lab);
  const told = lab.world.api
    .objects(Service)
    .flatMap(({ metadata, status }) => (status?.loadBalancer?.ingress ?? []).map(({ ip }) => `${ip} ${metadata.uid}`));
  const blocks = lab.world.api.objects(AddressBlock);
  const registered = blocks
    .filter(({ spec }) => spec.space === 'vips')
    .flatMap(({ spec }) =>
      spec.holdings.flatMap(({ address, sharers = [] }) => sharers.map(({ uid }) => `${address} ${uid}`)),
    );
  assert.deepEqual(registered.sort(), told.sort());
  const claimed = blocks
    .filter(({ spec }) => spec.space === 'underlay')
    .flatMap(({ spec }) => spec.holdings.map(({ address }) => address));
  assert.deepEqual(claimed.sort(), [...new Set(told.map((text) => text.split(' ')[0]))].sort());
  const used = new Set(claimed);
  const waiting = lab.world.api
    .objects(Service)
    .filter(({ status }) => (status?.loadBalancer?.ingress ?? []).length === 0);
  if (waiting.length > 0) assert.equal(used.size, 4, 'somebody waits, and there are free addresses');
  await lab.stop();
}

describe('on a network and a server that nobody would keep, with two that believe they lead', () => {
  for (let seed = 1; seed <= 8; seed += 1) {
    it(`no address is given twice and none is lost (seed ${seed})`, () => run(seed));
  }
});
