import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { notFound } from '../api/status.ts';
import { type LogLevel, lineLog } from './log.ts';
import { SimulatedClock } from './simulated-clock.ts';

function recorded(level: LogLevel = 'debug') {
  const lines: string[] = [];
  return { lines, log: lineLog({ clock: new SimulatedClock(), write: (line) => lines.push(line), level }) };
}

describe('the log', () => {
  it('writes time, level, message and fields on one line', () => {
    const { log, lines } = recorded();
    log.with({ controller: 'ipsets' }).info('looked again', { object: 'default/a', tries: 3, ready: true });
    assert.deepEqual(lines, [
      '2026-01-01T00:00:00Z info looked again controller=ipsets object=default/a tries=3 ready=true\n',
    ]);
  });

  it('drops what is below its level, and fields without a value', () => {
    const { log, lines } = recorded('warn');
    log.info('not this');
    log.warn('this', { nothing: undefined });
    assert.deepEqual(lines, ['2026-01-01T00:00:00Z warn this\n']);
  });

  it('keeps a value on its line and in its quotes, whatever it holds', () => {
    const { log, lines } = recorded();
    log.info('a\nb', { text: 'one "two"\nthree\u001b[31m\u2028', empty: '', plain: 'x=y' });
    const text = lines.join('');
    assert.equal(text.split('\n').length, 2);
    assert.ok(text.includes('a\\nb text="one \\"two\\"\\nthree\\u001b[31m\\u2028" empty="" plain="x=y"'), text);
  });

  it('never shows a secret: not under a telling name, and not within an error', () => {
    const { log, lines } = recorded();
    log.warn('refused', {
      token: 'abc',
      clientSecret: 'def',
      error: notFound({ group: '', plural: 'x', kind: 'X' }, 'Bearer eyJ.abc'),
    });
    log.warn('sent Authorization: Bearer eyJhbGciOi');
    const text = lines.join('');
    for (const secret of ['abc', 'def', 'eyJ']) assert.ok(!text.includes(secret), text);
  });

  it('shows the stack of a fault of ours, and the message alone of a refusal', () => {
    const { log, lines } = recorded();
    log.error('fault', { error: new TypeError('oops') });
    log.warn('refused', { error: notFound({ group: '', plural: 'pods', kind: 'Pod' }, 'a') });
    assert.match(lines[0] ?? '', /error="TypeError: oops\\n {4}at /);
    assert.match(lines[1] ?? '', /error="pods \\"a\\" not found"\n$/);
  });
});
