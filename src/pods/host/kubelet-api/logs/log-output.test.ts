import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { LogOptions } from './log-options.ts';
import { logOutput } from './log-output.ts';
import { ALL, line, rotate, temporaryLog, written } from './logs.fixture.ts';

describe('the output of a container', () => {
  const numbers = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, index) => `${from + index}\n`).join('');
  const add = (log: string, from: number, to: number): void => {
    for (let number = from; number < to; number += 1) appendFileSync(log, written(line(String(number))));
  };

  /** A container whose output is read as it comes. */
  function reading(t: TestContext, options: Partial<LogOptions>, log = temporaryLog(t)) {
    if (!existsSync(log)) appendFileSync(log, '');
    const abort = new AbortController();
    t.after(() => abort.abort());
    let ended = () => {};
    let stopped = false;
    const onEnd = (call: () => void) => {
      ended = call;
      return () => {
        stopped = true;
      };
    };
    let heard = '';
    let wake = () => {};
    const done = (async () => {
      for await (const bytes of logOutput({ file: log, onEnd }, { ...ALL, ...options }, abort.signal)) {
        heard += bytes.toString();
        wake();
      }
      assert.equal(stopped, options.follow === true);
      return heard;
    })();
    const until = async (text: string) => {
      while (!heard.endsWith(text)) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
      }
    };
    return { log, done, abort, end: () => ended(), until };
  }

  test('is read over all its parts, from the oldest to the newest', async (t) => {
    const log = temporaryLog(t);
    for (const from of [0, 10, 20]) {
      if (from > 0) rotate(log);
      add(log, from, from + 10);
    }
    assert.equal(await reading(t, {}, log).done, numbers(0, 30));
    assert.equal(await reading(t, { tailLines: 15 }, log).done, numbers(15, 30));
    assert.equal(await reading(t, { tailLines: 0 }, log).done, '');
    assert.equal(await reading(t, { limitBytes: 7 }, log).done, numbers(0, 30).slice(0, 7));
  });

  test('is followed as it comes, until the container has ended and all is read', async (t) => {
    const log = temporaryLog(t);
    add(log, 0, 5);
    const { done, end, until } = reading(t, { follow: true, tailLines: 2 }, log);
    await until(numbers(3, 5));
    add(log, 5, 6);
    await until('5\n');
    add(log, 6, 1000);
    end();
    assert.equal(await done, numbers(3, 1000));
  });

  test('is followed whole while it is rotated', async (t) => {
    const { log, done, end } = reading(t, { follow: true });
    for (let from = 0; from < 3000; from += 30) {
      add(log, from, from + 30);
      rotate(log);
      if (from % 90 === 0) await setImmediate();
    }
    end();
    assert.equal(await done, numbers(0, 3000));
  });

  test('goes on with what is left when parts are thrown away faster than they are read', async (t) => {
    const { log, done, end, until } = reading(t, { follow: true });
    add(log, 0, 10);
    await until(numbers(0, 10));
    for (let from = 10; from < 100; from += 10) {
      rotate(log, 3);
      rmSync(`${log}.3`, { force: true });
      add(log, from, from + 10);
    }
    end();
    assert.equal(await done, numbers(0, 10) + numbers(70, 100));
  });

  test('is no longer followed when it is removed', async (t) => {
    const { log, done, until } = reading(t, { follow: true });
    add(log, 0, 3);
    await until(numbers(0, 3));
    rmSync(log);
    assert.equal(await done, numbers(0, 3));
  });

  test('is no longer followed when nobody listens, and its files are let go', async (t) => {
    const { log, done, abort, until } = reading(t, { follow: true });
    add(log, 0, 3);
    await until(numbers(0, 3));
    const open = () => readdirSync('/proc/self/fd').length;
    const before = open();
    abort.abort();
    await done;
    assert.ok(open() < before);
    assert.ok(existsSync(dirname(log)));
  });
});
