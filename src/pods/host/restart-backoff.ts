import type { Run } from './runs.ts';

/**
 * The first restart of a container comes at once; the ones after it wait, twice as long each time, until it has run well for
 * a while. All that has to be remembered goes with the run itself, so that the next agent waits no less.
 */
export const backoffAfter = (run: Run): number => (ranWell(run) ? 0 : run.backoff);

/** When the start after this run may come; 0 while it runs. */
export const restartAt = (run: Run): number => (run.end === undefined ? 0 : run.end.at + backoffAfter(run));

/** What the next run has to remember. */
export function nextBackoff(run: Run | undefined): number {
  if (run === undefined) return 0;
  const waited = backoffAfter(run);
  return waited === 0 ? FIRST : Math.min(LONGEST, waited * 2);
}

const ranWell = ({ startedAt, end }: Run): boolean => end !== undefined && startedAt > 0 && end.at - startedAt >= WELL;

const FIRST = 10_000;
const LONGEST = 300_000;
const WELL = 600_000;

/** `10s`, `1m20s`, `5m0s`. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
