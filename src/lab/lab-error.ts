import type { Fault } from './document/written.ts';

/** What a person can put right, as one sentence or several lines of them. */
export class LabError extends Error {
  override readonly name = 'LabError';

  /** What is wrong with a document, each with the line to look at. */
  static of(file: string, faults: readonly Fault[]): LabError {
    const lines = faults.map(
      ({ line, path, sentence }) => `${file}:${line}: ${path === '' ? '' : `${path}: `}${sentence}`,
    );
    return new LabError(lines.join('\n'));
  }
}
