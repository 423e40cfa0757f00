import { join } from 'node:path';
import { BlockReader } from './block-reader.ts';
import { createFile, fileName, syncDirectory, writeFully } from './directory.ts';
import { DamagedStore } from './errors.ts';
import { bareEntry, decodeEntries, type Entry, encodeBlock, entrySize, headSize } from './format.ts';
import type { Frozen, State } from './state.ts';

/** Small enough to be built within a millisecond: requests are served between two pieces. */
const pieceSize = 1024 * 1024;
/** Written back now and then, so that the sync at the end does not hold up those of the log. */
const writebackSize = 8 * pieceSize;

export interface SnapshotRequest {
  readonly directory: string;
  readonly revision: number;
  readonly collections: readonly Frozen[];
  readonly signal: AbortSignal;
}

/** When it returns, the snapshot is durable. */
export async function writeSnapshot({ directory, revision, collections, signal }: SnapshotRequest): Promise<void> {
  const file = await createFile(directory, 'snapshot', revision);
  let published = false;
  try {
    let end = headSize;
    let written = 0;
    let number = 0;
    for (const piece of pieces(collections)) {
      signal.throwIfAborted();
      const block = encodeBlock({ mark: file.mark, follows: number++ }, piece);
      await writeFully(file.handle, block, end);
      end += block.length;
      written += block.length;
      if (written < writebackSize) continue;
      await file.handle.datasync();
      written = 0;
    }
    await file.publish();
    published = true;
  } finally {
    if (published) await file.handle.close();
    else await file.discard();
  }
  await syncDirectory(directory);
}

function* pieces(collections: readonly Frozen[]): Generator<Entry[]> {
  let piece: Entry[] = [];
  let size = 0;
  let objects = 0;
  for (const { resource, revision, versions } of collections) {
    piece.push(bareEntry('resource', revision, resource));
    for (const version of versions) {
      piece.push({ kind: 'put', ...version });
      size += entrySize(version);
      objects++;
      if (size < pieceSize) continue;
      yield piece;
      piece = [];
      size = 0;
    }
  }
  yield [...piece, bareEntry('end', objects)];
}

export async function readSnapshot(directory: string, revision: number, state: State): Promise<void> {
  const path = join(directory, fileName('snapshot', revision));
  const damaged = (offset: number, found: string) =>
    new DamagedStore({ file: path, offset, found, remedy: 'Restore the directory from a backup.' });

  const reader = await BlockReader.open(path, 'snapshot');
  if ('damage' in reader) throw damaged(0, reader.damage);
  try {
    if (reader.head.revision !== revision) throw damaged(0, `it is a snapshot of revision ${reader.head.revision}`);
    const share = sharing();
    let objects = 0;
    let ended = false;
    for (let number = 0; ; number++) {
      const block = await reader.next();
      if (block === undefined) break;
      if ('damage' in block) throw damaged(reader.offset, block.damage);
      if (block.follows !== number) throw damaged(block.offset, `block ${block.follows} is where ${number} should be`);
      if (ended) throw damaged(block.offset, 'it goes on behind its end');
      for (const { kind, ...entry } of decodeEntries(block.content, share)) {
        if (kind === 'resource') state.collection(entry.resource, entry.revision);
        else if (kind === 'put') state.load(entry);
        else if (kind === 'end' && entry.revision === objects) ended = true;
        else throw damaged(block.offset, `of ${entry.revision} objects ${objects} are there`);
        if (kind === 'put') objects++;
      }
    }
    if (!ended) throw damaged(reader.offset, 'its end is missing');
  } finally {
    await reader.close();
  }
  state.revision = revision;
}

/** Resources and namespaces occur thousands of times: one string for all of them. */
export function sharing(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const shared = known.get(text);
    if (shared !== undefined) return shared;
    known.set(text, text);
    return text;
  };
}
