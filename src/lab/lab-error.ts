import type { Fault } from './document/written.ts';

/** What a person can put right, as one sentence or several lines of them. */
export class LabError extends Error {
  override readonly name = 'LabError';

  /** What is wrong with a document, each with the line to look at. */
  static of(file: string, faults: readonly Fault[]): LabError {
    const lines = faults
      .slice(0, MOST_LINES)
      .map(({ line, path, sentence }) => `${file}:${line}: ${path === '' ? '' : `${path}: `}${sentence}`);
    const more = faults.length - lines.length;
    return new LabError([...lines, ...(more > 0 ? [`and ${more} more like these`] : [])].join('\n'));
  }
}

/** More than a screen of them helps nobody. */
const MOST_LINES = 20;
