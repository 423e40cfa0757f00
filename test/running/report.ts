import { inspect, styleText } from 'node:util';

/** What became of one test, or of one static check. */
export interface Outcome {
  readonly name: string;
  readonly result: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped. */
  readonly detail?: string;
  /** Where it stands: `file:line`. */
  readonly location?: string;
}

/** What became of a file of tests, or of one static check. */
export interface FileOutcome {
  readonly file: string;
  readonly milliseconds: number;
  readonly outcomes: readonly Outcome[];
  /** What it wrote, shown only when something failed. */
  readonly output: string;
}

/** Says what happens while it happens, one line a file; what failed and what was left out at the end. */
export class Report {
  readonly #files: FileOutcome[] = [];
  readonly #write: (line: string) => void;
  readonly #began = performance.now();

  constructor(write: (line: string) => void = (line) => console.log(line)) {
    this.#write = write;
  }

  note(line: string): void {
    this.#write(line);
  }

  file(done: FileOutcome): void {
    this.#files.push(done);
    const { passed, failed, skipped } = count([done]);
    const mark = failed > 0 ? styleText('red', 'FAIL') : 'ok  ';
    const counts = [
      `${passed} passed`,
      ...(failed > 0 ? [`${failed} failed`] : []),
      ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ];
    this.#write(`${mark} ${seconds(done.milliseconds).padStart(7)}  ${done.file}  ${counts.join(', ')}`);
  }

  /** Writes what is to be said at the end; the counts are the very last line. */
  end(): void {
    for (const { file, outcomes, output } of this.#files) {
      const failures = outcomes.filter(({ result }) => result === 'failed');
      for (const { name, detail, location } of failures) {
        this.#write(`\n${styleText('red', 'FAIL')} ${file === name ? '' : `${file}: `}${styleText('bold', name)}`);
        if (location !== undefined) this.#write(`     ${location}`);
        if (detail !== undefined) this.#write(indented(detail));
      }
      if (failures.length > 0 && output.trim() !== '') this.#write(`\n     ${file} wrote:\n${indented(output)}`);
    }
    const skips = this.#files.flatMap(({ file, outcomes }) =>
      outcomes.filter(({ result }) => result === 'skipped').map(({ name, detail }) => ({ file, name, detail })),
    );
    for (const { file, name, detail } of skips) {
      this.#write(`${styleText('yellow', 'SKIP')} ${file}: ${name}: ${detail ?? 'without a reason'}`);
    }
    const { passed, failed, skipped } = count(this.#files);
    this.#write(`\n${this.#files.length} files in ${seconds(performance.now() - this.#began)}`);
    if (passed + failed === 0) this.#write('no test ran: that is a failure');
    this.#write(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  }

  get passed(): boolean {
    const { passed, failed } = count(this.#files);
    return failed === 0 && passed > 0;
  }
}

/** An error as the report shows it: its whole text, with the difference and the place. */
export function errorText(error: unknown): string {
  return typeof error === 'string' ? error : inspect(error, { depth: 8 });
}

function count(files: readonly FileOutcome[]) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { outcomes } of files) for (const { result } of outcomes) counts[result] += 1;
  return counts;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function indented(text: string): string {
  return text.trimEnd().replaceAll(/^(?=.)/gm, '     ');
}
