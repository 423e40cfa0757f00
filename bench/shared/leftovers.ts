import { rm } from 'node:fs/promises';

/** What has to be undone when a bench ends before it has done so itself. */
const leftovers = new Set<() => Promise<unknown>>();

/** To be called before the first thing is made; returns what to call when nothing is left. */
export function mayLeave(undo: () => Promise<unknown>): () => void {
  leftovers.add(undo);
  return () => leftovers.delete(undo);
}

/** Runs a bench to its end: by itself, by a signal, or after so many minutes. Nothing is left of it then. */
export async function runBench(
  { root, minutes }: { root: string; minutes: number },
  work: () => Promise<void>,
): Promise<never> {
  const began = performance.now();
  const { promise: ended, resolve } = Promise.withResolvers<{ why: string; code: number }>();
  setTimeout(() => resolve({ why: 'the bench took longer than it may', code: 1 }), minutes * 60_000);
  // Again and again: who starts us by npm sends every signal twice.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => resolve({ why: `ended by ${signal}`, code: 1 }));
  }
  work().then(
    () => resolve({ why: `in ${((performance.now() - began) / 1000).toFixed(0)} s`, code: 0 }),
    (error) => resolve({ why: error instanceof Error ? (error.stack ?? error.message) : String(error), code: 1 }),
  );
  const { why, code } = await ended;
  console.log(why);
  // The last one made goes first.
  for (const undo of [...leftovers].reverse()) await undo().catch((error: unknown) => console.error(error));
  await rm(root, { recursive: true, force: true, maxRetries: 3 });
  process.exit(code);
}
