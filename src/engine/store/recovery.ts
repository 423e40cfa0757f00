import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { type Block, BlockReader, type Damage } from './block-reader.ts';
import { type Files, fileName, listFiles, removeFiles, syncDirectory, writeFully } from './directory.ts';
import { DamagedStore } from './errors.ts';
import { decodeEntries, headSize } from './format.ts';
import { createSegment, Log, type Segment } from './log.ts';
import { readSnapshot, sharing } from './snapshot.ts';
import type { State } from './state.ts';

/**
 * Brings `state` to what the files say, and returns the log ready to go on. What a crash can leave is put in order:
 * half-made files, segments and snapshots that a newer snapshot has replaced, and a torn block at the very end of the
 * log, whose writes nobody was told were stored. Anything else is a DamagedStore.
 */
export async function recover(directory: string, state: State, log: (line: string) => void): Promise<Log> {
  const files = await listFiles(directory);
  const base = files.snapshots.at(-1) ?? 0;
  if (base > 0) await readSnapshot(directory, base, state);
  const logs = files.logs.filter((first) => first > base);
  if (base === 0 && logs.length === 0) {
    return new Log({ directory, segment: await createSegment(directory, 1), older: 0 });
  }
  let older = 0;
  let last: Replayed | undefined;
  for (const [index, first] of logs.entries()) {
    if (first !== state.revision + 1) throw missing(directory, state.revision + 1, logs);
    older += last?.end ?? 0;
    last = await new Replay({ directory, first, behind: logs.slice(index + 1), state, log }).run();
  }
  if (last === undefined) throw missing(directory, base + 1, logs);
  // The process may have died between giving a file its name and making the name durable.
  await syncDirectory(directory);
  await removeFiles(directory, superseded(files, base));
  return new Log({ directory, segment: await resume(last), older });
}

/** The files that a durable snapshot of this revision makes superfluous. */
export function superseded({ logs, snapshots }: Files, base: number): string[] {
  return [
    ...logs.filter((first) => first <= base).map((first) => fileName('log', first)),
    ...snapshots.filter((revision) => revision < base).map((revision) => fileName('snapshot', revision)),
  ];
}

interface Replayed {
  readonly path: string;
  readonly mark: Buffer;
  readonly end: number;
  readonly lastBlock: { readonly offset: number; readonly size: number } | undefined;
}

/** Reads one segment of the log into the state. */
class Replay {
  readonly #path: string;
  readonly #first: number;
  readonly #behind: readonly string[];
  readonly #state: State;
  readonly #log: (line: string) => void;

  constructor(options: {
    directory: string;
    first: number;
    /** The segments that come after this one. */
    behind: readonly number[];
    state: State;
    log: (line: string) => void;
  }) {
    this.#path = join(options.directory, fileName('log', options.first));
    this.#first = options.first;
    this.#behind = options.behind.map((first) => join(options.directory, fileName('log', first)));
    this.#state = options.state;
    this.#log = options.log;
  }

  async run(): Promise<Replayed> {
    const reader = await BlockReader.open(this.#path, 'log');
    if ('damage' in reader) throw this.#damaged(0, reader.damage);
    try {
      const { mark, revision } = reader.head;
      const path = this.#path;
      if (revision !== this.#first) throw this.#damaged(0, `it is the log from revision ${revision} on`);
      const share = sharing();
      let lastBlock: Replayed['lastBlock'];
      for (;;) {
        const block = await reader.next();
        if (block === undefined) return { path, mark, end: reader.offset, lastBlock };
        if ('damage' in block) return { path, mark, end: await this.#tornEnd(reader, block), lastBlock };
        this.#apply(block, share);
        lastBlock = { offset: block.offset, size: block.size };
      }
    } finally {
      await reader.close();
    }
  }

  #apply({ offset, follows, content }: Block, share: (text: string) => string): void {
    if (follows !== this.#state.revision) {
      throw this.#damaged(
        offset,
        `a block follows revision ${follows}, and the one before ends at ${this.#state.revision}`,
      );
    }
    let last = follows;
    for (const { kind, ...entry } of decodeEntries(content, share)) {
      const fits = kind === 'skip' ? entry.revision > last : entry.revision === last + 1;
      if (!fits) throw this.#damaged(offset, `revision ${entry.revision} comes after revision ${last}`);
      last = entry.revision;
      if (kind === 'put' || kind === 'remove') this.#state.apply(kind, entry);
      else if (kind !== 'skip') throw this.#damaged(offset, `an entry of the kind '${kind}' has no place in a log`);
    }
  }

  /**
   * A block is begun only when the one before it is durable. So damage with nothing behind it is what a crash made of
   * the last block; with another block behind it, it is damage to writes that were acknowledged.
   */
  async #tornEnd(reader: BlockReader, { damage }: Damage): Promise<number> {
    const { offset, size } = reader;
    if (this.#behind.length > 0) throw this.#damaged(offset, `${damage}, and the log goes on in another file`);
    const next = await reader.findBlockBehind();
    if (next !== undefined) throw this.#damaged(offset, `${damage}, and another block follows at byte ${next}`);
    const told = `Nobody was told that they were stored; the log goes on after revision ${this.#state.revision}.`;
    this.#log(
      `${this.#path} ended in an unfinished write (${damage}): its last ${size - offset} bytes were cut off. ${told}`,
    );
    return offset;
  }

  #damaged(offset: number, found: string): DamagedStore {
    const restore = 'Restore the directory from a backup';
    const drop = this.#behind.length > 0 ? ` and move away ${this.#behind.join(' ')}` : '';
    const giveUp = `or, to give up all that was stored after revision ${this.#state.revision}: truncate -s ${offset} ${this.#path}${drop}.`;
    const remedy = offset < headSize ? `${restore}.` : `${restore}; ${giveUp}`;
    return new DamagedStore({ file: this.#path, offset, found, remedy });
  }
}

/**
 * Opens the last segment to append to it. What was read may be in the memory of the kernel only, when just the process
 * had died, or, after a failed sync, even be held there as clean without being on the disk: so the last block is
 * written over itself and synced before anybody reads from the store. All blocks before it had been synced.
 */
async function resume({ path, mark, end, lastBlock }: Replayed): Promise<Segment> {
  const file = await open(path, 'r+');
  try {
    await file.truncate(end);
    if (lastBlock !== undefined) await rewrite(file, lastBlock);
    await file.sync();
  } catch (error) {
    await file.close();
    throw error;
  }
  return { file, mark, end };
}

async function rewrite(file: FileHandle, { offset, size }: { offset: number; size: number }): Promise<void> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafeSlow(size), 0, size, offset);
  await writeFully(file, buffer.subarray(0, bytesRead), offset);
}

function missing(directory: string, first: number, found: readonly number[]): DamagedStore {
  const names = found.map((revision) => fileName('log', revision)).join(', ');
  return new DamagedStore({
    file: join(directory, fileName('log', first)),
    offset: 0,
    found: `the log from revision ${first} on is missing, and of the log there is only: ${names === '' ? 'nothing' : names}`,
    remedy: 'Bring the missing file back, or restore the directory from a backup.',
  });
}
