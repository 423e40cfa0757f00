import type { Cgroups } from '../../../linux/cgroups.ts';
import { type Clock, sleep } from '../../../runtime/clock.ts';

/** Kills all processes of a group until there are none, though they may start others, and removes it. */
export async function endGroup(cgroups: Cgroups, group: string, clock: Clock): Promise<void> {
  for (let tries = 0; !cgroups.remove(group); tries += 1) {
    if (tries === PATIENCE) throw new Error(`processes of ${group} do not end: ${cgroups.processes(group).join(', ')}`);
    cgroups.kill(group);
    await sleep(clock, 20);
  }
}

/** Processes that wait for a disk end when it answers. */
const PATIENCE = 500;
