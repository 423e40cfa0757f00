import { copyFileSync, existsSync, statSync, truncateSync } from 'node:fs';
import type { System } from '../../runtime/clock.ts';

/** Keeps files that others append to from growing for ever: what is too long becomes `FILE.1`, and begins anew. */
export class LogFiles {
  readonly #files: () => readonly string[];
  readonly #system: System;
  #cancel: () => void = () => {};

  constructor({ files, system }: { files: () => readonly string[]; system: System }) {
    this.#files = files;
    this.#system = system;
    this.#look();
  }

  stop(): void {
    this.#cancel();
  }

  #look(): void {
    for (const file of this.#files()) {
      if (!existsSync(file) || statSync(file).size < LARGEST) continue;
      copyFileSync(file, `${file}.1`);
      // Whoever appends goes on at the new end.
      truncateSync(file);
    }
    this.#cancel = this.#system.timer(EVERY, () => this.#look());
  }
}

const LARGEST = 8 * 1024 * 1024;
const EVERY = 30_000;
