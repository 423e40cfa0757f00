import { inspect } from 'node:util';
import { Namespace } from '../../../src/api/core/namespace.ts';
import { Service } from '../../../src/api/core/service.ts';
import { IPAddressPool } from '../../../src/api/metallb.io/ip-address-pool.ts';
import { L2Advertisement } from '../../../src/api/metallb.io/l2-advertisement.ts';
import { AddressBlock } from '../../../src/api/netloom.io/address-block.ts';
import { AddressClaim } from '../../../src/api/netloom.io/address-claim.ts';
import { IPSet } from '../../../src/api/network.openstack.org/ipset.ts';
import { NetConfig } from '../../../src/api/network.openstack.org/netconfig.ts';
import { Reservation } from '../../../src/api/network.openstack.org/reservation.ts';
import { ipamAdmission } from '../../../src/ipam/index.ts';
import { Event } from '../../../src/runtime/builtin.ts';
import { Client } from '../../../src/runtime/client.ts';
import { SeededChance } from '../../../src/runtime/seeded-chance.ts';
import { vipsAdmission } from '../../../src/vips/index.ts';
import { type World, world } from '../world.ts';
import { Books } from './books.ts';
import { Dice } from './dice.ts';
import { faultsInTheEnd } from './ending.ts';
import { MetalLB } from './metallb.ts';
import { NAMESPACES, POOLS } from './networks.ts';
import { drawPast } from './past.ts';
import { People } from './people.ts';
import { drawPlot, nearTheServer, type Plot } from './plot.ts';
import type { Sabotage } from './process.ts';
import { Trace } from './trace.ts';
import { Trouble } from './trouble.ts';
import { Witness } from './witness.ts';

export interface Story {
  readonly seed: number;
  readonly plot: Plot;
  readonly trace: Trace;
  /** What was wrong, a sentence each; empty when all is well. */
  readonly faults: readonly string[];
}

export interface StoryOptions {
  readonly seed: number;
  /** How much happens before all becomes quiet. */
  readonly steps: number;
  readonly sabotage?: Sabotage;
}

const KINDS = [
  ...[Service, Namespace, IPAddressPool, L2Advertisement],
  ...[NetConfig, IPSet, Reservation, AddressClaim, AddressBlock, Event],
];

/**
 * People and machines at their worst, made up from a seed: hosts and Services come and go, networks and pools grow and shrink, several
 * sets of controllers believe that they are the only one, everything is slow, lost, refused or restarted. Then all becomes quiet, and
 * everything must be as it should be.
 */
export async function tellStory({ seed, steps, sabotage }: StoryOptions): Promise<Story> {
  // People do the same whatever the network does.
  const dice = new Dice(new SeededChance(Math.imul(seed, 0x9e3779b1)));
  const plot = drawPlot(dice, seed);
  const admission = plot.admission ? [...ipamAdmission, ...vipsAdmission(plot)] : [];
  const one = world({ seed, kinds: KINDS, level: 'error', admission });
  const trace = new Trace(one.clock);
  one.api.store.onChange((change) => trace.wrote(change));
  const trouble = new Trouble({ world: one, dice, trace, plot, sabotage });
  try {
    const faults = await play({ world: one, dice, trace, plot, trouble, steps });
    return { seed, plot, trace, faults: [...faults, ...one.lines] };
  } catch (error) {
    return { seed, plot, trace, faults: [`the story broke off: ${inspect(error)}`, ...one.lines] };
  } finally {
    trouble.killAll();
  }
}

interface Stage {
  readonly world: World;
  readonly dice: Dice;
  readonly trace: Trace;
  readonly plot: Plot;
  readonly trouble: Trouble;
  readonly steps: number;
}

async function play({ world, dice, trace, plot, trouble, steps }: Stage): Promise<readonly string[]> {
  const { api, clock } = world;
  const client = new Client({ transport: api.transport(nearTheServer, 'people'), fieldManager: 'people' });
  const habits = { netConfigsGo: !plot.netConfigsStay, force: true };
  const people = new People({ client, sight: api, dice, trace, habits });
  await furnish(world, people);
  const legacy = plot.legacy ? await drawPast(world, dice) : new Set<string>();
  const witness = new Witness({ ...plot, books: new Books(api), clock, legacy });
  api.store.onChange((change) => witness.see(change));
  if (plot.poolsOf === 'metallb') invite(world);
  trouble.begin();
  for (let i = 0; i < steps; i += 1) {
    if (dice.oneIn(5)) trouble.strike();
    else people.act();
    await clock.advance(pause(dice));
    if (witness.faults.length > 0) return witness.faults;
  }
  await clock.run(people.answered());
  await trouble.end();
  await settle(world, plot.mended ? 300_000 : 900_000);
  const version = api.store.version;
  await settle(world, 200_000);
  const more = api.store.version - version;
  const restless = more === 0 ? [] : [`all is quiet, and ${more} more things were written`];
  return [...witness.faults, ...faultsInTheEnd(api, plot), ...restless];
}

/** What went wrong in a story, and what happened to those it is about; with `verbose` everything that happened. */
export function account({ seed, plot, trace, faults }: Story, { verbose = false } = {}): string {
  const { lines } = trace;
  const names = new Set(faults.flatMap((fault) => fault.match(NAMES) ?? []));
  const told = verbose
    ? lines
    : lines.filter((line) => EVENTS.test(line) || [...names].some((name) => line.includes(name)));
  return [
    `seed ${seed} (${Object.entries(plot)
      .map(([key, value]) => `${key} ${value}`)
      .join(', ')}):`,
    ...told.slice(verbose ? 0 : -MOST_LINES),
    ...faults.map((fault) => `WRONG ${fault}`),
  ].join('\n');
}

/** Addresses and names of objects. */
const NAMES = /\d+\.\d+\.\d+\.\d+|fd[0-9a-f:]+|(east|west)\/\w+/g;
/** What befell the processes and the server. */
const EVENTS = /^ *[\d.]+ (server|leader-\d+) +(?!writes)/;
const MOST_LINES = 80;

function invite({ api, clock }: World): void {
  const client = new Client({ transport: api.transport(nearTheServer, 'metallb'), fieldManager: 'metallb' });
  const metallb = new MetalLB({ client, sight: api, system: clock });
  api.store.onChange((change) => metallb.see(change));
}

/** What is there before the controllers are. */
async function furnish({ client, clock }: World, people: People): Promise<void> {
  for (const name of [...NAMESPACES, POOLS]) await clock.run(client.create(Namespace, { metadata: { name } }));
  const metadata = { name: 'all', namespace: POOLS };
  await clock.run(client.create(L2Advertisement, { metadata, spec: {} }));
  people.prepare();
  await clock.run(people.answered());
}

/** Long enough for what is abandoned to be swept up, and for everybody who waits between two tries. */
async function settle({ api, clock }: World, ms: number): Promise<void> {
  for (let i = 0; i < 4; i += 1) {
    await clock.advance(ms / 4);
    api.collectGarbage();
  }
}

const pause = (dice: Dice): number =>
  dice.weighted<() => number>([
    [2, () => 0],
    [5, () => dice.below(300)],
    [5, () => dice.below(4_000)],
    [1, () => dice.below(90_000)],
  ])();
