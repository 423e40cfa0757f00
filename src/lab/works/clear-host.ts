import { rmSync } from 'node:fs';
import { Cgroups } from '../../linux/cgroups.ts';
import { removeNetworkNamespace } from '../../linux/network-namespace.ts';
import { mountPoints, unmountAll } from '../../linux/tmpfs.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { cgroupOf, endProcesses, type PlacedHost, podNamespaces } from '../hosts/processes.ts';
import { removeHostNetworks } from '../network/remove-network.ts';
import type { LabPlan, PlannedHost } from '../plan/lab-plan.ts';
import { LabPlaces } from '../state/places.ts';
import { keeperOf } from './keeping.ts';

/**
 * Takes hosts away as if somebody had pulled their plugs: what ran there is no more, what was in memory is forgotten, and what was
 * on disk stays. The keeper must know before.
 */
export async function clearHosts(plan: LabPlan, hosts: readonly PlannedHost[], clock: Clock): Promise<void> {
  const places = new LabPlaces(plan.name);
  const placed = hosts.map((host): PlacedHost => ({ host, places: places.host(host.name) }));
  const keeper = keeperOf(plan.name);
  await endProcesses(placed, { clock, spare: new Set(keeper === undefined ? [] : [keeper]) });
  const cgroups = new Cgroups();
  for (const { places: own } of placed) for (const each of podNamespaces(own)) removeNetworkNamespace(each);
  await removeHostNetworks(plan, hosts, clock);
  for (const each of placed) {
    for (const folder of [each.places.state, each.places.run]) {
      unmountAll(folder);
      // What is mounted there may be somebody else's: nothing of it is to be deleted with ours.
      const [left] = mountPoints(folder);
      if (left !== undefined) throw new Error(`${left} cannot be unmounted`);
    }
    rmSync(each.places.run, { recursive: true, force: true });
    for (let tries = 0; !cgroups.remove(cgroupOf(each.host)) && tries < MOST_TRIES; tries += 1) await sleep(clock, 20);
  }
}

const MOST_TRIES = 100;
