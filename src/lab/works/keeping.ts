import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { lockFile } from '../../linux/file-lock.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { kill, writersOf } from '../hosts/processes.ts';
import { LabError } from '../lab-error.ts';
import { LabPlaces } from '../state/places.ts';

/** The process that keeps the agents of a lab running, while it lives: it has a lock. */
export function keeperOf(lab: string): number | undefined {
  const { keeperLock, run } = new LabPlaces(lab);
  mkdirSync(run, { recursive: true, mode: 0o700 });
  const lock = lockFile(keeperLock);
  if ('heldBy' in lock) return lock.heldBy;
  lock.release();
  return undefined;
}

/** Tells it to look at the lab anew; nothing happens where there is none. */
export function tellKeeper(lab: string): void {
  const keeper = keeperOf(lab);
  if (keeper !== undefined) kill(keeper, 'SIGHUP');
}

/** Tells the keeper to look at the lab anew, or starts one. */
export async function startKeeper(lab: string, start: () => void, clock: Clock): Promise<void> {
  const { kept, run } = new LabPlaces(lab);
  mkdirSync(run, { recursive: true, mode: 0o700 });
  writeFileSync(kept, '', { mode: 0o600 });
  if (keeperOf(lab) !== undefined) {
    tellKeeper(lab);
    return;
  }
  start();
  for (let tries = 0; keeperOf(lab) === undefined; tries += 1) {
    if (tries === START_TRIES) {
      throw new LabError(`the keeper of the lab ${lab} does not start: see ${new LabPlaces(lab).keeperLog}`);
    }
    await sleep(clock, LOOK_AGAIN);
  }
}

/** It says goodbye to its agents first, if it still can. Nobody is left who would follow it. */
export async function stopKeeper(lab: string, clock: Clock): Promise<void> {
  // First of all, so that none that is just being started stays.
  rmSync(new LabPlaces(lab).kept, { force: true });
  for (let tries = 0; ; tries += 1) {
    const keeper = keeperOf(lab);
    if (keeper === undefined) break;
    if (tries === 0) kill(keeper, 'SIGTERM');
    if (tries === STOP_TRIES) kill(keeper, 'SIGKILL');
    await sleep(clock, LOOK_AGAIN);
  }
  // Who stood by for one that was killed waits for a moment before he looks whether he is needed.
  for (;;) {
    const waiting = writersOf(new LabPlaces(lab).keeperLog);
    if (waiting.length === 0) return;
    for (const pid of waiting) kill(pid);
    await sleep(clock, LOOK_AGAIN);
  }
}

const LOOK_AGAIN = 20;
const START_TRIES = 500;
const STOP_TRIES = 250;
