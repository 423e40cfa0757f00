import path from 'node:path';
import type { EventData, run } from 'node:test';
import { errorText, type Outcome } from './report.ts';

/** Gathers what Node.js tells about the tests of one file. */
export class Outcomes {
  readonly all: Outcome[] = [];
  /** What the file has written. */
  output = '';

  readonly #base: string;
  /** Every test with the names of those around it. */
  readonly #names = new Map<number, string>();
  readonly #underWay = new Map<number, string>();

  constructor(events: ReturnType<typeof run>, base: string) {
    this.#base = base;
    events.on('test:stdout', ({ message }) => this.#write(message));
    events.on('test:stderr', ({ message }) => this.#write(message));
    events.on('test:diagnostic', ({ level, message }) => level !== 'info' && this.#write(`${message}\n`));
    events.on('test:dequeue', (data) => !isProcess(data) && this.#underWay.set(data.testId, data.name));
    events.on('test:complete', (data) => !isProcess(data) && this.#underWay.delete(data.testId));
    events.on('test:start', (data) => !isProcess(data) && this.#begin(data));
    events.on('test:pass', (data) => (isProcess(data) ? this.#processPassed() : this.#passed(data)));
    events.on('test:fail', (data) => (isProcess(data) ? this.#processFailed(data) : this.#failed(data)));
  }

  #write(text: string): void {
    this.output += text;
  }

  #begin({ testId, parentId, name }: EventData.TestStart): void {
    const around = parentId === undefined ? undefined : this.#names.get(parentId);
    this.#names.set(testId, around === undefined ? name : `${around} › ${name}`);
  }

  #passed(data: EventData.TestPass): void {
    const skipped = data.skip !== undefined && data.skip !== false;
    // A suite is as good as its tests, and these are told one by one; but those of a skipped suite never are.
    if (data.details.type === 'suite' && !skipped) return;
    const reason = typeof data.skip === 'string' ? { detail: data.skip } : {};
    this.all.push({ ...this.#about(data), ...(skipped ? { result: 'skipped', ...reason } : { result: 'passed' }) });
  }

  #failed(data: EventData.TestFail): void {
    const { error } = data.details;
    const onlyInside = 'failureType' in error && error.failureType === 'subtestsFailed';
    if (!onlyInside) this.all.push({ ...this.#about(data), result: 'failed', detail: errorText(error.cause) });
  }

  #processPassed(): void {
    this.all.push({ name: 'the file', result: 'failed', detail: 'there is no test in it' });
  }

  #processFailed({ details: { error } }: EventData.TestFail): void {
    const inside = this.#underWay.size === 0 ? '' : `, while in: ${[...this.#underWay.values()].join(' › ')}`;
    this.all.push({ name: 'the process', result: 'failed', detail: `${endOfProcess(error)}${inside}` });
  }

  #about({ testId, name, file = '', line = 1 }: EventData.TestPass | EventData.TestFail) {
    return { name: this.#names.get(testId) ?? name, location: `${path.relative(this.#base, file)}:${line}` };
  }
}

/** Node.js reports the process of a file like a test when it ended badly, or when no test was in it. */
function isProcess(data: object): boolean {
  return !('entryFile' in data);
}

function endOfProcess(error: Error): string {
  if ('exitCode' in error && typeof error.exitCode === 'number') return `it ended with exit code ${error.exitCode}`;
  if ('signal' in error && typeof error.signal === 'string') return `it was ended by ${error.signal}`;
  return error.message;
}
