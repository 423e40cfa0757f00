import { appendFileSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { LogOptions } from './log-options.ts';

export interface Entry {
  readonly stream: 'stdout' | 'stderr';
  readonly partial: boolean;
  readonly text: string;
}

export const line = (text: string): Entry => ({ stream: 'stdout', partial: false, text });

/** @param second when it was written, after a moment that is the same in all tests */
export const written = ({ stream, partial, text }: Entry, second = 0): string =>
  `${new Date(START + second * 1000).toISOString().slice(0, -1)}000001Z ${stream} ${partial ? 'P' : 'F'} ${text}\n`;

export const START = Date.parse('2026-01-01T00:00:00Z');

export const ALL: LogOptions = {
  follow: false,
  previous: false,
  timestamps: false,
  tailLines: undefined,
  limitBytes: undefined,
  since: undefined,
  stream: undefined,
};

/** A log in a folder that is gone after the test. */
export function temporaryLog(t?: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'netloom-log-'));
  t?.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, '0.log');
}

/** Moves the parts of a log to higher numbers, and begins a new one. */
export function rotate(log: string, mostParts = 100): void {
  const name = (part: number) => (part === 0 ? log : `${log}.${part}`);
  for (let part = mostParts - 1; part >= 0; part -= 1) {
    if (existsSync(name(part))) renameSync(name(part), name(part + 1));
  }
  appendFileSync(log, '');
}
