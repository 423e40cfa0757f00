import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';

/** Runs some files of tests as npm test does, and answers what it prints. */
async function reportOn(t: TestContext, files: Readonly<Record<string, string>>, minutesForOne = 1) {
  const base = mkdtempSync(path.join(tmpdir(), 'netloom-running-'));
  t.after(() => rmSync(base, { recursive: true }));
  for (const [name, body] of Object.entries(files)) {
    const imports = `import assert from 'node:assert'; import { spawn } from 'node:child_process'; import { suite, test } from 'node:test';`;
    writeFileSync(path.join(base, name), `${imports}\n${body}`);
  }
  const options = { files: Object.keys(files).map((file) => ({ file })), minutesForOne, minutesForAll: 1, base };
  const main = `
    import { Report } from ${JSON.stringify(path.join(import.meta.dirname, 'report.ts'))};
    import { runTestFiles } from ${JSON.stringify(path.join(import.meta.dirname, 'test-files.ts'))};
    const report = new Report();
    await runTestFiles({ ...${JSON.stringify(options)}, report });
    report.end();
    process.exit(report.passed ? 0 : 1);`;
  writeFileSync(path.join(base, 'main.mjs'), main);

  // Node.js refuses to run tests inside a test, which it knows by this variable.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return new Promise<{ code: number; lines: string[]; all: string }>((resolve) => {
    const child = execFile(process.execPath, [path.join(base, 'main.mjs')], { env }, (_error, stdout, stderr) => {
      const all = stripVTControlCharacters(stdout + stderr);
      resolve({ code: child.exitCode ?? -1, lines: all.trimEnd().split('\n'), all });
    });
  });
}

test('a file has one line, and the counts are the very last one', async (t) => {
  const { code, lines } = await reportOn(t, {
    'a.test.mjs': `suite('s', () => { test('one', () => {}); test('two', () => {}); });`,
    'b.test.mjs': `test('three', async (t) => { await t.test('inside', () => {}); });`,
  });
  assert.equal(code, 0);
  assert.equal(lines.filter((line) => /^ok +\d+\.\d s {2}[ab]\.test\.mjs {2}2 passed$/.test(line)).length, 2);
  assert.equal(lines.at(-1), '4 passed, 0 failed, 0 skipped');
});

test('a failure is told with its full name, place and difference, and with what the file wrote', async (t) => {
  const { code, lines, all } = await reportOn(t, {
    'a.test.mjs': `console.log('on the way');\nsuite('outer', () => { test('inner', () => assert.deepStrictEqual({ a: 1 }, { a: 2 })); });\ntest('fine', () => {});`,
  });
  assert.equal(code, 1);
  assert.match(all, /FAIL a\.test\.mjs: outer › inner\n +a\.test\.mjs:3\n/);
  assert.match(all, /\+ +a: 1\n +- +a: 2/);
  assert.match(all, /a\.test\.mjs wrote:\n +on the way/);
  assert.equal(lines.at(-1), '1 passed, 1 failed, 0 skipped');
});

test('what was skipped is named with its reason', async (t) => {
  const { code, lines, all } = await reportOn(t, {
    'a.test.mjs': `test('a', { skip: 'needs root' }, () => {}); suite('b', { skip: true }, () => { test('c', () => {}); }); test('d', () => {});`,
  });
  assert.equal(code, 0);
  assert.match(all, /SKIP a\.test\.mjs: a: needs root\nSKIP a\.test\.mjs: b: without a reason\n/);
  assert.equal(lines.at(-1), '1 passed, 0 failed, 2 skipped');
});

test('a file that cannot be loaded, exits on its way or has no test fails', async (t) => {
  const { code, lines, all } = await reportOn(t, {
    'a.test.mjs': `throw new Error('at load');`,
    'b.test.mjs': `test('x', async () => { await new Promise((done) => setTimeout(done, 20)); process.exit(3); });`,
    'c.test.mjs': '',
  });
  assert.equal(code, 1);
  assert.match(all, /FAIL a\.test\.mjs: the process\n[\s\S]*Error: at load/);
  assert.match(all, /FAIL b\.test\.mjs: the process\n +it ended with exit code 3, while in: x/);
  assert.match(all, /FAIL c\.test\.mjs: the file\n +there is no test in it/);
  assert.equal(lines.at(-1), '0 passed, 3 failed, 0 skipped');
});

test('a file that does not come to its end is ended, even if it ignores the signal, and with it what it started', async (t) => {
  const { code, all } = await reportOn(
    t,
    {
      'a.test.mjs': `const { pid } = spawn('sleep', ['60']); console.log('processes', process.pid, pid); process.on('SIGTERM', () => {}); test('ok', () => {}); test('for ever', () => new Promise(() => setInterval(() => {}, 1000)));`,
    },
    0.05,
  );
  assert.equal(code, 1);
  assert.match(all, /it was ended because it ran for more than 3 s, while in: for ever/);
  for (const pid of /processes (\d+) (\d+)/.exec(all)?.slice(1) ?? assert.fail('no processes')) {
    // A zombie has no command line any more.
    assert.ok(!existsSync(`/proc/${pid}`) || readFileSync(`/proc/${pid}/cmdline`, 'utf8') === '', 'it still runs');
  }
});

test('no test at all is a failure', async (t) => {
  const { code, lines } = await reportOn(t, {});
  assert.equal(code, 1);
  assert.equal(lines.at(-1), '0 passed, 0 failed, 0 skipped');
  assert.match(lines.at(-2) ?? '', /no test ran/);
});
