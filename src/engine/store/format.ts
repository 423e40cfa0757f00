import { crc32 } from 'node:zlib';

/**
 * What the files look like; numbers are big-endian.
 *
 *   file  = head, block, block, ...
 *   head  = "netloomL" (log) or "netloomS" (snapshot), format u32, revision u48, zero u16, mark 8 bytes, crc32 u32
 *   block = mark 8 bytes, follows u48, zero u16, length u32, crc32 of the entries u32, crc32 of this header u32, entries
 *   entry = kind u8, revision u48, lengths of resource u16, namespace u16, name u16 and bytes u32, then those four
 *
 * A block of a log is one group commit; `follows` is the revision before it. Blocks of a snapshot are numbered from 0.
 * The mark is random for each file and cannot be known to whoever chooses the content of objects: so bytes that carry
 * it are the header of a block of this very file, wherever they are found.
 */
export const formatVersion = 1;
export const headSize = 32;
export const blockHeaderSize = 28;
const markSize = 8;
const entryHeaderSize = 17;

const kinds = {
  put: 1,
  remove: 2,
  /** Revisions up to this one were given to writes that failed. */
  skip: 3,
  /** In a snapshot, before the objects of a resource: the newest revision at which the resource changed. */
  resource: 4,
  /** Ends a snapshot; the revision is the number of its objects. */
  end: 5,
} as const;

export type EntryKind = keyof typeof kinds;
const kindOf = new Map<number, EntryKind>([
  [kinds.put, 'put'],
  [kinds.remove, 'remove'],
  [kinds.skip, 'skip'],
  [kinds.resource, 'resource'],
  [kinds.end, 'end'],
]);

export interface Entry {
  readonly kind: EntryKind;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly bytes: Buffer;
}

const nothing = Buffer.alloc(0);

export function bareEntry(kind: 'skip' | 'resource' | 'end', revision: number, resource = ''): Entry {
  return { kind, resource, namespace: '', name: '', revision, bytes: nothing };
}

/** What an object takes in the files, near enough to decide by. */
export function entrySize(entry: Omit<Entry, 'kind'>): number {
  return entryHeaderSize + entry.resource.length + entry.namespace.length + entry.name.length + entry.bytes.length;
}

export interface Head {
  readonly kind: 'log' | 'snapshot';
  readonly revision: number;
  readonly mark: Buffer;
}

const magic = { log: 'netloomL', snapshot: 'netloomS' } as const;

export function encodeHead({ kind, revision, mark }: Head): Buffer {
  const head = Buffer.alloc(headSize);
  head.write(magic[kind], 0, 'latin1');
  head.writeUInt32BE(formatVersion, 8);
  head.writeUIntBE(revision, 12, 6);
  mark.copy(head, 20);
  head.writeUInt32BE(crc32(head.subarray(0, 28)), 28);
  return head;
}

/** Returns what is wrong with it, in words, when it is not the head of such a file. */
export function decodeHead(kind: Head['kind'], bytes: Buffer): Head | string {
  if (bytes.length < headSize) return `a ${kind} begins with ${headSize} bytes of head, and there are ${bytes.length}`;
  if (bytes.toString('latin1', 0, 8) !== magic[kind]) return `the head of a ${kind} is missing`;
  if (crc32(bytes.subarray(0, 28)) !== bytes.readUInt32BE(28)) return 'the checksum of the head does not match';
  const format = bytes.readUInt32BE(8);
  if (format !== formatVersion) return `its format is ${format}, and this version of Netloom reads ${formatVersion}`;
  return { kind, revision: bytes.readUIntBE(12, 6), mark: Buffer.from(bytes.subarray(20, 28)) };
}

export function encodeBlock({ mark, follows }: { mark: Buffer; follows: number }, entries: readonly Entry[]): Buffer {
  let length = 0;
  for (const entry of entries) {
    length += entryHeaderSize + entry.bytes.length;
    length += Buffer.byteLength(entry.resource) + Buffer.byteLength(entry.namespace) + Buffer.byteLength(entry.name);
  }
  const block = Buffer.allocUnsafeSlow(blockHeaderSize + length);
  let at = blockHeaderSize;
  for (const entry of entries) at = writeEntry(block, at, entry);
  mark.copy(block, 0);
  block.writeUIntBE(follows, 8, 6);
  block.writeUInt16BE(0, 14);
  block.writeUInt32BE(length, 16);
  block.writeUInt32BE(crc32(block.subarray(blockHeaderSize)), 20);
  block.writeUInt32BE(crc32(block.subarray(0, 24)), 24);
  return block;
}

function writeEntry(block: Buffer, at: number, entry: Entry): number {
  let end = at + entryHeaderSize;
  const resource = block.write(entry.resource, end);
  end += resource;
  const namespace = block.write(entry.namespace, end);
  end += namespace;
  const name = block.write(entry.name, end);
  end += name;
  entry.bytes.copy(block, end);
  block.writeUInt8(kinds[entry.kind], at);
  block.writeUIntBE(entry.revision, at + 1, 6);
  block.writeUInt16BE(resource, at + 7);
  block.writeUInt16BE(namespace, at + 9);
  block.writeUInt16BE(name, at + 11);
  block.writeUInt32BE(entry.bytes.length, at + 13);
  return end + entry.bytes.length;
}

export interface BlockHeader {
  readonly follows: number;
  readonly length: number;
  readonly checksum: number;
}

export function decodeBlockHeader(mark: Buffer, bytes: Buffer): BlockHeader | undefined {
  if (bytes.length < blockHeaderSize || !mark.equals(bytes.subarray(0, markSize))) return undefined;
  if (crc32(bytes.subarray(0, 24)) !== bytes.readUInt32BE(24)) return undefined;
  return { follows: bytes.readUIntBE(8, 6), length: bytes.readUInt32BE(16), checksum: bytes.readUInt32BE(20) };
}

/**
 * Reads the entries of a block whose checksum was right. The bytes of objects are copied out: a view would keep the
 * whole block in memory for as long as one of its objects lives.
 */
export function* decodeEntries(block: Buffer, share: (text: string) => string): Generator<Entry> {
  for (let at = 0; at < block.length; ) {
    const kind = kindOf.get(block.readUInt8(at));
    if (kind === undefined) throw new RangeError(`there is no kind of entry ${block.readUInt8(at)}`);
    const revision = block.readUIntBE(at + 1, 6);
    const namespaceAt = at + entryHeaderSize + block.readUInt16BE(at + 7);
    const nameAt = namespaceAt + block.readUInt16BE(at + 9);
    const bytesAt = nameAt + block.readUInt16BE(at + 11);
    const end = bytesAt + block.readUInt32BE(at + 13);
    if (end > block.length) throw new RangeError('an entry is longer than its block');
    yield {
      kind,
      resource: share(block.toString('utf8', at + entryHeaderSize, namespaceAt)),
      namespace: share(block.toString('utf8', namespaceAt, nameAt)),
      name: block.toString('utf8', nameAt, bytesAt),
      revision,
      bytes: Buffer.from(block.subarray(bytesAt, end)),
    };
    at = end;
  }
}
