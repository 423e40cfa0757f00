import assert from 'node:assert/strict';
import { appendFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { type Entry, line, temporaryLog, written } from './logs.fixture.ts';
import { startOfTail } from './tail.ts';

/** What follows where the tail begins, over all parts. */
async function tailOf(files: readonly string[], lines: number): Promise<string> {
  const parts = await Promise.all(files.map((file) => open(file)));
  try {
    const start = await startOfTail(parts, lines);
    const texts = await Promise.all(parts.map(async (part) => (await part.readFile()).toString()));
    // All of ours is ASCII, so that a byte is a character.
    return (texts[start.part] ?? '').slice(start.offset) + texts.slice(start.part + 1).join('');
  } finally {
    for (const part of parts) await part.close();
  }
}

describe('the last lines of a log', () => {
  const text = fc.oneof(fc.stringMatching(/^[ -~]{0,30}$/), fc.constantFrom('x'.repeat(16_000), 'y'.repeat(70_000)));
  const entry = fc.record({ stream: fc.constant('stdout' as const), partial: fc.boolean(), text });
  const parts = fc.array(fc.array(entry, { maxLength: 12 }), { minLength: 1, maxLength: 3 });

  test('are found in whichever parts they are, with all that belongs to them', async () => {
    const log = temporaryLog();
    await fc.assert(
      fc.asyncProperty(parts, fc.nat(15), fc.boolean(), async (written, lines, torn) => {
        const files = written.map((_, part) => `${log}.${part}`);
        for (const [part, entries] of written.entries()) writeFileSync(`${log}.${part}`, textOf(entries));
        // Somebody is in the middle of writing.
        if (torn) appendFileSync(files.at(-1) ?? '', '2026-01');
        assert.equal(await tailOf(files, lines), expected(written.flat(), lines) + (torn ? '2026-01' : ''));
      }),
      { numRuns: 60 },
    );
    rmSync(dirname(log), { recursive: true });
  });

  test('are found without reading what comes before them, however much that is', async (t) => {
    const log = temporaryLog(t);
    writeFileSync(log, '');
    truncateSync(log, 4 * 1024 ** 4);
    appendFileSync(log, `\n${textOf([line('a'), line('b'), line('c')])}`);
    const file = await open(log);
    const { offset } = await startOfTail([file], 2);
    await file.close();
    assert.equal(offset, 4 * 1024 ** 4 + 1 + written(line('a')).length);
  });
});

const textOf = (entries: readonly Entry[]): string => entries.map((entry) => written(entry)).join('');

/** By taking lines from the end, each with the parts before it. */
function expected(entries: readonly Entry[], lines: number): string {
  const groups: Entry[][] = [[]];
  for (const entry of entries) {
    groups.at(-1)?.push(entry);
    if (!entry.partial) groups.push([]);
  }
  const whole = groups.filter((group) => group.length > 0);
  return textOf(whole.slice(Math.max(0, whole.length - lines)).flat());
}
