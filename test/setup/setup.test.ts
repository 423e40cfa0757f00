import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';

const root = path.resolve(import.meta.dirname, '../..');

/**
 * A project that is set up as this one is: the same bin/ and setup/, but its command line only tells how it was
 * started, and its lock file names no packages, so that npm is done quickly and without a network.
 */
function project(t: TestContext): string {
  const folder = emptyFolder();
  t.after(() => rmSync(folder, { recursive: true }));
  fill(folder);
  return folder;
}

/** A copy of a project that has been set up for development, which saves the tests most of their time. */
function projectThatIsSetUp(t: TestContext): string {
  const folder = emptyFolder();
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(template, folder, { recursive: true });
  return folder;
}

const template = emptyFolder();
let settingUp: Ended;

before(async () => {
  fill(template);
  settingUp = await run(process.execPath, [path.join(template, 'setup/run.mjs'), 'src/cli/main.ts', 'a', 'b']);
});
after(() => rmSync(template, { recursive: true }));

function emptyFolder(): string {
  return mkdtempSync(path.join(tmpdir(), 'netloom set up '));
}

function fill(folder: string): void {
  cpSync(path.join(root, 'bin'), path.join(folder, 'bin'), { recursive: true });
  cpSync(path.join(root, 'setup'), path.join(folder, 'setup'), {
    recursive: true,
    filter: (source) => !source.includes('node_modules'),
  });
  lock(folder, 'one');
  mkdirSync(path.join(folder, 'src/cli'), { recursive: true });
  const tell = 'console.log(JSON.stringify({ pid: process.pid, words: process.argv.slice(2) }));';
  writeFileSync(path.join(folder, 'src/cli/main.ts'), `${tell} process.exitCode = 7;`);
}

function lock(folder: string, version: string): void {
  const name = { name: 'set-up', version };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(name));
  writeFileSync(
    path.join(folder, 'package-lock.json'),
    JSON.stringify({ ...name, lockfileVersion: 3, packages: { '': name } }),
  );
}

interface Ended {
  readonly code: number;
  readonly pid: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts a program where this Node.js and npm are on the PATH, and the home folder is empty. */
function run(program: string, args: readonly string[], { cwd = '/', env = {} }: { cwd?: string; env?: object } = {}) {
  return new Promise<Ended>((resolve) => {
    const PATH = [path.dirname(process.execPath), process.env['PATH']].join(':');
    const child = execFile(program, args, { cwd, env: { PATH, HOME: cwd, ...env } }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, pid: child.pid ?? -1, stdout, stderr }),
    );
  });
}

const netloom = (folder: string, ...args: string[]) => run(path.join(folder, 'bin/netloom'), args);
const installing = /^netloom: installing npm packages/m;

test('the first start sets up, says so beside the answer, and then becomes the program', async (t) => {
  const folder = project(t);
  const { code, pid, stdout, stderr } = await netloom(folder, 'get', 'a b', '');
  assert.match(stderr, installing);
  assert.deepEqual(JSON.parse(stdout), { pid, words: ['get', 'a b', ''] });
  assert.equal(code, 7);
});

test('a later start sets up nothing, whatever link it is started through', async (t) => {
  const folder = projectThatIsSetUp(t);
  symlinkSync('bin/netloom', path.join(folder, 'one'));
  symlinkSync(path.join(folder, 'one'), path.join(folder, 'two'));
  for (const [program, cwd] of [
    ['./two', folder],
    ['../one', path.join(folder, 'src')],
  ] as const) {
    const { stdout, stderr } = await run(program, ['x'], { cwd });
    assert.equal(stderr, '');
    assert.deepEqual(JSON.parse(stdout).words, ['x']);
  }
});

test('a new lock file, and a set-up that was cut short, are set up again', async (t) => {
  const folder = projectThatIsSetUp(t);
  assert.equal((await netloom(folder)).stderr, '');
  lock(folder, 'two');
  assert.match((await netloom(folder)).stderr, installing);
  rmSync(path.join(folder, 'node_modules/.netloom'), { recursive: true });
  assert.match((await netloom(folder)).stderr, installing);
  assert.equal((await netloom(folder)).stderr, '');
});

test('of two set-ups at once one waits, and then finds everything done', async (t) => {
  const folder = project(t);
  const both = await Promise.all([netloom(folder), netloom(folder)]);
  assert.deepEqual(
    both.map(({ code }) => code),
    [7, 7],
  );
  const said = both.map(({ stderr }) => stderr).join('');
  assert.equal(said.match(/installing npm packages/g)?.length, 1, said);
});

test('a command whose program is missing does not start, and says what to install', async (t) => {
  const folder = projectThatIsSetUp(t);
  appendFileSync(path.join(folder, 'setup/programs.txt'), 'nonesuch  none-package  up,agent  does what nobody needs\n');
  const { code, stdout, stderr } = await run(path.join(folder, 'bin/netloom'), ['up'], {
    env: { NETLOOM_NO_APT: '1' },
  });
  assert.equal(code, 1);
  assert.equal(stdout, '');
  assert.match(
    stderr,
    /nonesuch \(package none-package\) does what nobody needs\. .*setup\/install-debian-packages none-package$/m,
  );
  assert.equal((await netloom(folder, 'get')).code, 7);
});

test('up as root wants what the agent needs, but does without when it cannot be had', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root');
  const folder = projectThatIsSetUp(t);
  appendFileSync(path.join(folder, 'setup/programs.txt'), 'nonesuch  none-package  agent  does what nobody needs\n');
  const up = path.join(folder, 'bin/netloom');
  const { code, stderr } = await run(up, ['up'], { env: { NETLOOM_NO_APT: '1' } });
  assert.equal(code, 7);
  assert.match(stderr, /^netloom: pods and Services will not work on this machine: programs are missing: nonesuch/m);
  assert.equal((await netloom(folder, 'get')).stderr, '');
});

test('run.mjs sets up for development, and runs a script with its words and its exit code', () => {
  const { code, stdout, stderr } = settingUp;
  assert.match(stderr, /^netloom: installing npm packages, those for development included/m);
  assert.deepEqual(JSON.parse(stdout).words, ['a', 'b']);
  assert.equal(code, 7);
});

test('run.mjs passes on the signal that asks it to end', async (t) => {
  const folder = projectThatIsSetUp(t);
  writeFileSync(
    path.join(folder, 'wait.mjs'),
    `process.on('SIGTERM', () => process.exit(5)); setTimeout(() => {}, 60_000); process.kill(process.ppid, 'SIGTERM');`,
  );
  assert.equal((await run(process.execPath, [path.join(folder, 'setup/run.mjs'), 'wait.mjs'])).code, 5);
});
