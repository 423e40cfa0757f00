import type { BenchLab } from '../pods/bench-lab.ts';
import type { Row } from '../shared/row.ts';

/** What a work is given. */
export interface Bench {
  /** A short form, for looking twice at a change. */
  readonly quick: boolean;
  /** A lab of two hosts on one switch, which the works share: whatever is made in it has to be removed. */
  lab(): Promise<BenchLab>;
  /** A fresh folder, which goes at the end. */
  folder(): Promise<string>;
}

/** Measures, and gives each row as soon as it is known. */
export type Work = (bench: Bench) => AsyncIterable<Row>;

export interface Described {
  /** What `--help` says of it, in one line. */
  readonly about: string;
  readonly measure: Work;
}
