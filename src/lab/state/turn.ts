import { mkdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { lockFile } from '../../linux/file-lock.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';

export interface Turn {
  end(): void;
  [Symbol.dispose](): void;
}

export interface TurnOptions {
  readonly clock: Clock;
  /** Called once, when somebody else has it: with his process, as far as it is known. */
  waiting?(process: number | undefined): void;
}

/** Waits until nobody else has the turn. It ends with the process at the latest, and leaves no file behind. */
export async function takeTurn(file: string, { clock, waiting = () => {} }: TurnOptions): Promise<Turn> {
  for (let told = false; ; ) {
    const lock = lockIn(path.dirname(file), file);
    if (lock === undefined) continue;
    if ('release' in lock) {
      // Whoever had it before may have removed the file in the meantime, and a third one made it anew.
      if (contentOf(file) === `${process.pid}\n`) {
        const end = () => {
          rmSync(file, { force: true });
          lock.release();
          removeIfEmpty(path.dirname(file));
        };
        return { end, [Symbol.dispose]: end };
      }
      lock.release();
      continue;
    }
    if (!told) waiting(lock.heldBy);
    told = true;
    await sleep(clock, LOOK_AGAIN);
  }
}

/** Undefined when the folder went in the very moment in which the file was to be made in it. */
function lockIn(folder: string, file: string): ReturnType<typeof lockFile> | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  try {
    return lockFile(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** And the one above it, which is ours as well. */
export function removeIfEmpty(folder: string): void {
  for (const each of [folder, path.dirname(folder)]) {
    try {
      rmdirSync(each);
    } catch {
      // Others have something there, or it is gone already.
    }
  }
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

const LOOK_AGAIN = 100;
