import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Namespace } from '../../src/api/core/namespace.ts';
import { Service } from '../../src/api/core/service.ts';
import { IPAddressPool } from '../../src/api/metallb.io/ip-address-pool.ts';
import { L2Advertisement } from '../../src/api/metallb.io/l2-advertisement.ts';
import { AddressBlock } from '../../src/api/netloom.io/address-block.ts';
import { AddressClaim } from '../../src/api/netloom.io/address-claim.ts';
import { IPSet } from '../../src/api/network.openstack.org/ipset.ts';
import { NetConfig } from '../../src/api/network.openstack.org/netconfig.ts';
import { Reservation } from '../../src/api/network.openstack.org/reservation.ts';
import { Event } from '../../src/runtime/builtin.ts';
import { Client } from '../../src/runtime/client.ts';
import { SeededChance } from '../../src/runtime/seeded-chance.ts';
import { system } from '../../src/runtime/system.ts';
import { Books } from '../simulation/addresses/books.ts';
import { Dice } from '../simulation/addresses/dice.ts';
import { faultsInTheEnd } from '../simulation/addresses/ending.ts';
import { NAMESPACES, POOLS } from '../simulation/addresses/networks.ts';
import { People } from '../simulation/addresses/people.ts';
import { Glance } from '../simulation/addresses/sight.ts';
import { Trace } from '../simulation/addresses/trace.ts';
import { RunningControllers } from './controllers-process.ts';
import { RunningNetloom } from './netloom.ts';

const SOAK = process.env['NETLOOM_SOAK'] === '1';
const ROUNDS = SOAK ? 150 : 3;
/** What is abandoned stays for a minute, which only a soak waits for. */
const SEED = SOAK ? Math.floor(Date.now() / 1_000) : 1;
const SECONDS_TO_SETTLE = SOAK ? 180 : 60;

const KINDS = [NetConfig, IPSet, Reservation, AddressClaim, AddressBlock, IPAddressPool, Service, Event];

/**
 * What the simulation plays, with the real parts: an engine, and two processes with all controllers that do not ask for a lease. People
 * write and delete; processes are killed in the middle of it.
 */
test(`addresses outlive kill -9 of controllers and engine, and none is given twice or lost (${ROUNDS} rounds, seed ${SEED})`, async (t) => {
  const dice = new Dice(new SeededChance(SEED));
  const trace = new Trace(system);
  let engine = await RunningNetloom.start('engine');
  const { directory, kubeconfig, url } = engine;
  let controllers: RunningControllers[] = [];
  t.after(async () => {
    for (const one of controllers) await one.kill();
    await engine.stopAndRemove();
    await rm(directory, { recursive: true, force: true });
  });
  const listen = new URL(url).host;
  const transport = await engine.transport();
  t.after(() => transport.close());
  const client = new Client({ transport, fieldManager: 'people' });
  const start = () => Promise.all([RunningControllers.start(kubeconfig), RunningControllers.start(kubeconfig)]);
  controllers = await start();
  for (const name of [...NAMESPACES, POOLS]) await client.create(Namespace, { metadata: { name } });
  await client.create(L2Advertisement, { metadata: { name: 'all', namespace: POOLS }, spec: {} });
  const glance = new Glance({ client, kinds: KINDS });
  const people = new People({ client, sight: glance, dice, trace, habits: { netConfigsGo: false, force: SOAK } });
  people.prepare();
  await people.answered();

  const restartEngine = async (): Promise<void> => {
    await engine.kill();
    engine = await RunningNetloom.start('engine', { directory, listen });
  };
  const replace = async (which: number): Promise<void> => {
    await controllers[which]?.kill();
    controllers[which] = await RunningControllers.start(kubeconfig);
  };
  const blows = [
    () => replace(0),
    restartEngine,
    async () => {
      for (const one of controllers) await one.kill();
      await restartEngine();
      controllers = await start();
    },
    () => replace(1),
  ];
  for (let round = 0; round < ROUNDS; round += 1) {
    const blow = blows[round % blows.length];
    let isOver = false;
    const struck = sleep(dice.below(400))
      .then(blow)
      .finally(() => {
        isOver = true;
      });
    while (!isOver) {
      // Whoever cannot see the server acts on what he saw last.
      await glance.look().catch(() => {});
      for (let i = 0; i < 4; i += 1) people.act();
      await sleep(dice.below(60));
      await people.answered();
    }
    await struck;
    for (const one of controllers) assert.equal(one.lastWords, undefined, 'controllers ended by themselves');
    await glance.look();
    assertNothingIsTwice(glance);
  }
  await settled(glance, trace);
});

/** At whatever moment one looks; what was listed a moment later may have changed. */
function assertNothingIsTwice(glance: Glance): void {
  const books = new Books(glance);
  for (const { metadata, spec } of glance.stored(AddressBlock)) {
    for (const { address } of spec.holdings) {
      const told = books.toldAt(metadata.namespace ?? '', address);
      assert.ok(told.length <= 1, `${address} of ${told.map(({ kind, name }) => `${kind} ${name}`).join(' and ')}`);
    }
  }
}

/** Waits until nothing is wrong, and then for a while in which nothing may be written. */
async function settled(glance: Glance, trace: Trace): Promise<void> {
  const end = Date.now() + SECONDS_TO_SETTLE * 1_000;
  let faults: readonly string[];
  do {
    await sleep(500);
    await glance.look();
    faults = faultsInTheEnd(glance, { sweptUp: SOAK });
  } while (faults.length > 0 && Date.now() < end);
  assert.deepEqual(faults, [], trace.lines.slice(-100).join('\n'));
  const before = versions(glance);
  await sleep(3_000);
  await glance.look();
  assert.deepEqual(versions(glance), before, 'all is quiet, and somebody goes on writing');
}

const versions = (glance: Glance): string[] =>
  KINDS.flatMap((kind) =>
    glance
      .stored(kind)
      .map(
        ({ metadata: { namespace, name, resourceVersion } }) => `${kind.kind} ${namespace}/${name} ${resourceVersion}`,
      ),
  );
