import type { Sabotage } from './process.ts';
import { account, tellStory } from './story.ts';

export interface StoriesOptions {
  readonly first: number;
  /** May be infinite. */
  readonly count: number;
  readonly steps: number;
  readonly verbose?: boolean;
  readonly sabotage?: Sabotage;
  readonly write: (text: string) => void;
}

/** How often it is said how far it has come, in milliseconds. */
const INTERVAL = 10_000;

/** Tells one story after the other, and what went wrong in each. Answers with how many failed. */
export async function tellStories({ first, count, steps, verbose = false, sabotage, write }: StoriesOptions) {
  const began = performance.now();
  let seed = first;
  const uncared = (error: unknown): void => {
    write(`seed ${seed}: nobody cared about ${error}\nagain: ${again(seed, steps)}`);
    process.exit(1);
  };
  process.on('unhandledRejection', uncared);
  let failed = 0;
  let said = began;
  for (; seed < first + count; seed += 1) {
    const story = await tellStory({ seed, steps, ...(sabotage === undefined ? {} : { sabotage }) });
    if (story.faults.length > 0) {
      failed += 1;
      write(`${account(story, { verbose })}\nagain: ${again(seed, steps)}\n`);
    } else {
      if (verbose) write(story.trace.lines.join('\n'));
      if (count === 1) write(`seed ${seed}: all is well; fingerprint ${story.trace.fingerprint}`);
    }
    if (performance.now() - said < INTERVAL) continue;
    said = performance.now();
    write(`${seed + 1 - first} seeds, up to ${seed}: ${failed} failed`);
  }
  process.off('unhandledRejection', uncared);
  const seconds = Math.round((performance.now() - began) / 1000);
  if (count > 1) write(`${count} seeds from ${first} with ${steps} steps each in ${seconds} s: ${failed} failed`);
  return failed;
}

/** The command that repeats a story. */
const again = (seed: number, steps: number): string => `npm run simulate -- --seed ${seed} --steps ${steps} --verbose`;
