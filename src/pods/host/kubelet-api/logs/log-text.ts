import { parseEntry } from './log-entry.ts';
import type { LogOptions } from './log-options.ts';

/** Turns log files, in the order of their parts, into what somebody wants to see of them. */
export class LogText {
  readonly #wanted: Pick<LogOptions, 'timestamps' | 'since' | 'stream'>;
  #left: number;
  #atLineStart = true;

  constructor(options: Pick<LogOptions, 'timestamps' | 'since' | 'stream' | 'limitBytes'>) {
    this.#wanted = options;
    this.#left = options.limitBytes ?? Number.POSITIVE_INFINITY;
  }

  /** Nothing more is to be shown, whatever comes. */
  get isFull(): boolean {
    return this.#left <= 0;
  }

  /** @param lines whole lines of a log file, each with its line break */
  of(lines: Buffer): Buffer {
    const shown: Buffer[] = [];
    let start = 0;
    for (let end = lines.indexOf(LINE_BREAK); end >= 0; end = lines.indexOf(LINE_BREAK, start)) {
      // In the file a line break follows the text at once, so a whole line and its break are one slice.
      this.#add(lines.subarray(start, end), lines.subarray(end, end + 1), shown);
      start = end + 1;
    }
    return this.#cut(Buffer.concat(shown));
  }

  #add(line: Buffer, lineBreak: Buffer, shown: Buffer[]): void {
    const entry = parseEntry(line);
    // What a crash has torn is left out; the entries around it are whole.
    if (entry === undefined) return;
    const { timestamps, since, stream } = this.#wanted;
    if (stream !== undefined && stream !== entry.stream) return;
    if (since !== undefined && Date.parse(entry.time) < since) return;
    if (timestamps && this.#atLineStart) shown.push(Buffer.from(`${entry.time} `, 'latin1'));
    shown.push(entry.text);
    if (!entry.partial) shown.push(lineBreak);
    this.#atLineStart = !entry.partial;
  }

  #cut(text: Buffer): Buffer {
    const cut = text.length > this.#left ? text.subarray(0, this.#left) : text;
    this.#left -= cut.length;
    return cut;
  }
}

const LINE_BREAK = 0x0a;
