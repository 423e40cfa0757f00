/**
 * One line of a log file, `TIME stdout|stderr F|P text`: a line of output, or (P) a part of one that goes on with the
 * next entry of the same stream.
 */
export interface LogEntry {
  readonly time: string;
  readonly stream: 'stdout' | 'stderr';
  readonly partial: boolean;
  readonly text: Buffer;
}

/** @param line without its line break */
export function parseEntry(line: Buffer): LogEntry | undefined {
  const time = line.indexOf(SPACE);
  const stream = time < 0 ? -1 : line.indexOf(SPACE, time + 1);
  const tags = stream < 0 ? -1 : line.indexOf(SPACE, stream + 1);
  if (tags < 0) return undefined;
  const name = line.toString('latin1', time + 1, stream);
  if (name !== 'stdout' && name !== 'stderr') return undefined;
  return {
    time: line.toString('latin1', 0, time),
    stream: name,
    // Further tags may follow the first one, after a colon.
    partial: line[stream + 1] === PARTIAL,
    text: line.subarray(tags + 1),
  };
}

const SPACE = 0x20;
const PARTIAL = 0x50;
