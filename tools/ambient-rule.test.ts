import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ambientViolations } from './ambient-rule.ts';

const found = (source: string, file = 'src/ipam/plan.ts') =>
  ambientViolations(file, source).map(({ sentence }) => sentence.split(' is ')[0]);

test('the clock, timers and randomness are found', () => {
  for (const ambient of [
    'Date.now',
    'new Date()',
    'performance.now',
    'process.hrtime',
    'Math.random',
    'AbortSignal.timeout',
    'setTimeout',
    'setInterval',
    'setImmediate',
    'randomUUID',
  ]) {
    const source = ambient.endsWith(')') ? `const x = ${ambient};` : `const x = ${ambient}(1);`;
    assert.deepEqual(found(source), [ambient], source);
  }
});

test('they are found by way of the global object, an import or a reference, too', () => {
  assert.deepEqual(found('globalThis.setTimeout(f, 1); globalThis.Date.now();'), ['setTimeout', 'Date.now']);
  assert.deepEqual(found('globalThis.crypto.randomUUID()'), ['randomUUID']);
  assert.deepEqual(found(`import { setTimeout as sleep } from 'node:timers/promises';`), ['setTimeout']);
  assert.deepEqual(found('const now = Date.now;'), ['Date.now']);
  assert.deepEqual(found('const at = new Date;'), ['new Date']);
});

test('what was handed in is not ambient', () => {
  assert.deepEqual(found('clock.setTimeout(f, 1); system.clock.now(); this.#random.randomUUID();'), []);
  assert.deepEqual(found('start({ setTimeout: timers.after })'), []);
});

test('a date that is made from a known time is not ambient', () => {
  assert.deepEqual(found('new Date(now); new Date(Date.UTC(2026, 1)); Date.parse(text);'), []);
});

test('what only looks like it is not found', () => {
  assert.deepEqual(found('// Date.now()\nconst text = "Math.random()"; const pattern = /setTimeout(x)/;'), []);
});

test('the violation names its line and the way out', () => {
  const [violation] = ambientViolations('src/ledger/pool.ts', '\n\nsetTimeout(f, 1);');
  assert.equal(violation?.line, 3);
  assert.match(violation?.sentence ?? '', /take the timers as a parameter/);
});

test('the rule holds where something is decided, not in what is handed in, tests, the engine or the command line', () => {
  assert.equal(found('Date.now()', 'src/runtime/queue.ts').length, 1);
  assert.equal(found('Date.now()', 'src/dns/host/daemon.ts').length, 1);
  for (const file of [
    'src/runtime/system.ts',
    'src/runtime/simulated-clock.ts',
    'src/ipam/plan.test.ts',
    'src/ipam/testing/x.ts',
    'src/engine/x.ts',
    'src/cli/x.ts',
    'test/x.ts',
  ]) {
    assert.deepEqual(found('Date.now()', file), [], file);
  }
});
