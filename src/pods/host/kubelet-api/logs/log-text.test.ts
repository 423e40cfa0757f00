import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LogText } from './log-text.ts';
import { ALL, type Entry, line, START, written } from './logs.fixture.ts';

describe('what is shown of a log', () => {
  const shown = (entries: readonly Entry[], options = {}): string => {
    const text = new LogText({ ...ALL, ...options });
    return entries.map((entry, second) => text.of(Buffer.from(written(entry, second))).toString()).join('');
  };
  const part = (text: string): Entry => ({ stream: 'stdout', partial: true, text });
  const err = (text: string): Entry => ({ stream: 'stderr', partial: false, text });

  test('is the text of its lines, empty ones too', () =>
    assert.equal(shown([line('one'), line(''), err(' two ')]), 'one\n\n two \n'));

  test('joins the parts of a line', () =>
    assert.equal(shown([part('on'), part('e'), line(' line'), part('unfinished')]), 'one line\nunfinished'));

  test('begins each line, but no part of one, with its time when asked to', () =>
    assert.equal(
      shown([part('a'), line('b'), line('c')], { timestamps: true }),
      '2026-01-01T00:00:00.000000001Z ab\n2026-01-01T00:00:02.000000001Z c\n',
    ));

  test('leaves out what is older, or of the other stream', () => {
    assert.equal(shown([line('a'), line('b'), line('c')], { since: START + 1000 }), 'b\nc\n');
    assert.equal(shown([line('a'), err('b'), line('c')], { stream: 'stderr' }), 'b\n');
  });

  test('ends after so many bytes', () => {
    const text = new LogText({ ...ALL, limitBytes: 5 });
    assert.equal(text.of(Buffer.from(written(line('abc')))).toString(), 'abc\n');
    assert.ok(!text.isFull);
    assert.equal(text.of(Buffer.from(written(line('def')))).toString(), 'd');
    assert.ok(text.isFull);
  });

  test('leaves out what a crash has torn', () => {
    const torn = `${written(line('a'))}2026-01-01T00:0\nstdout F x\n\n${written(line('b'))}`;
    assert.equal(new LogText(ALL).of(Buffer.from(torn)).toString(), 'a\nb\n');
  });
});
