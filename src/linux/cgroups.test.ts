import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { Cgroups, type Controller, type Hierarchy } from './cgroups.ts';
import { needsRoot, uniqueName } from './network.fixture.ts';

/** A folder that looks like a hierarchy: with the files that a kernel puts into each group. */
function pretended(
  t: TestContext,
  version: 1 | 2,
  controllers: readonly Controller[],
  files: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
): Hierarchy {
  const folder = mkdtempSync(path.join(tmpdir(), 'netloom-cgroup-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [group, contents] of Object.entries(files)) {
    mkdirSync(path.join(folder, group), { recursive: true });
    for (const [name, text] of Object.entries(contents)) writeFileSync(path.join(folder, group, name), text);
  }
  return { folder, version, controllers: new Set(controllers) };
}

const contentOf = ({ folder }: Hierarchy, file: string): string => readFileSync(path.join(folder, file), 'utf8');

const LIMITS = { memoryBytes: 1_000_000, processes: 10, cpuMillis: 250 };
const ALL = ['memory', 'pids', 'cpu'] as const;

describe('limits of a group', () => {
  test('are written as version 2 has them, and swap is none', (t) => {
    const group = { 'memory.max': '', 'memory.swap.max': '', 'memory.oom.group': '', 'pids.max': '', 'cpu.max': '' };
    const hierarchy = pretended(t, 2, ALL, { 'netloom-x/pod': group });
    assert.deepEqual(new Cgroups([hierarchy]).limit('netloom-x/pod', LIMITS), []);
    const written = Object.keys(group).map((file) => contentOf(hierarchy, `netloom-x/pod/${file}`));
    assert.deepEqual(written, ['1000000', '0', '1', '10', '25000 100000']);
  });

  test('are written as version 1 has them, each where its controller is', (t) => {
    const memory = pretended(t, 1, ['memory'], {
      'netloom-x': { 'memory.limit_in_bytes': '', 'memory.memsw.limit_in_bytes': '' },
    });
    const pids = pretended(t, 1, ['pids'], { 'netloom-x': { 'pids.max': '' } });
    const cpu = pretended(t, 1, ['cpu'], { 'netloom-x': { 'cpu.cfs_period_us': '', 'cpu.cfs_quota_us': '' } });
    assert.deepEqual(new Cgroups([memory, pids, cpu]).limit('netloom-x', LIMITS), []);
    assert.equal(contentOf(memory, 'netloom-x/memory.limit_in_bytes'), '1000000');
    assert.equal(contentOf(memory, 'netloom-x/memory.memsw.limit_in_bytes'), '1000000');
    assert.equal(contentOf(pids, 'netloom-x/pids.max'), '10');
    assert.equal(contentOf(cpu, 'netloom-x/cpu.cfs_quota_us'), '25000');
  });

  test('share processors out by what was asked for, where there is more than one who wants them', (t) => {
    const written = (millis: number): string[] => {
      const older = pretended(t, 1, ['cpu'], { x: { 'cpu.shares': '1024' } });
      const newer = pretended(t, 2, ALL, { x: { 'cpu.weight': '100' } });
      for (const each of [older, newer])
        assert.deepEqual(new Cgroups([each]).limit('x', { cpuAskedMillis: millis }), []);
      return [contentOf(older, 'x/cpu.shares'), contentOf(newer, 'x/cpu.weight')];
    };
    assert.deepEqual([0, 1000, 1_000_000].map(written), [
      ['2', '1'],
      ['1024', '39'],
      ['262144', '10000'],
    ]);
    assert.deepEqual(new Cgroups([]).limit('x', { cpuAskedMillis: 5 }), []);
  });

  test('that this machine cannot set are named, and the others are set', (t) => {
    const pids = pretended(t, 1, ['pids'], { 'netloom-x': { 'pids.max': '' } });
    const cgroups = new Cgroups([pids]);
    assert.deepEqual(cgroups.limit('netloom-x', LIMITS), ['memory', 'cpu']);
    assert.equal(contentOf(pids, 'netloom-x/pids.max'), '10');
    assert.deepEqual(cgroups.limit('netloom-x', { processes: 3 }), []);
    assert.deepEqual(cgroups.missing(), ['memory', 'cpu']);
    assert.equal(cgroups.outOfMemoryKills('netloom-x'), 0);
  });

  test('are none where somebody keeps the controllers to himself', (t) => {
    const hierarchy = pretended(t, 2, ALL, { 'netloom-x': { 'pids.max': '' } });
    assert.deepEqual(new Cgroups([hierarchy]).limit('netloom-x', LIMITS), ['memory', 'cpu']);
  });

  test('of processors are lifted from those that are killed, so that they die at once', (t) => {
    const first = pretended(t, 1, ['cpu'], { 'netloom-x': { 'cpu.cfs_quota_us': '1000' } });
    const second = pretended(t, 2, ALL, { 'netloom-x': { 'cpu.max': '1000 100000' } });
    for (const hierarchy of [first, second]) new Cgroups([hierarchy]).kill('netloom-x');
    assert.equal(contentOf(first, 'netloom-x/cpu.cfs_quota_us'), '-1');
    assert.equal(contentOf(second, 'netloom-x/cpu.max'), 'max');
  });

  test('are none on a machine without any cgroups, where all else goes on', () => {
    const cgroups = new Cgroups([]);
    cgroups.make('netloom-x/pod');
    assert.deepEqual(cgroups.limit('netloom-x/pod', LIMITS), [...ALL]);
    cgroups.makePart('netloom-x/pod', 'part');
    assert.deepEqual(cgroups.joins('netloom-x/pod', 'part'), []);
    cgroups.kill('netloom-x/pod');
    assert.ok(cgroups.dissolvePart('netloom-x/pod', 'part'));
    assert.ok(cgroups.remove('netloom-x'));
  });
});

test('in version 2, each group hands its controllers on to those below it, as far as it has them', (t) => {
  const top = { 'cgroup.controllers': 'cpuset cpu pids\n', 'cgroup.subtree_control': 'cpu\n' };
  const hierarchy = pretended(t, 2, ALL, { '.': top, 'netloom-x': { 'cgroup.controllers': 'pids\n' } });
  new Cgroups([hierarchy]).make('netloom-x/pod');
  assert.equal(contentOf(hierarchy, 'cgroup.subtree_control'), '+pids');
  assert.equal(contentOf(hierarchy, 'netloom-x/cgroup.subtree_control'), '+pids');
  assert.ok(existsSync(path.join(hierarchy.folder, 'netloom-x/pod')));
  assert.equal(existsSync(path.join(hierarchy.folder, 'netloom-x/pod/cgroup.subtree_control')), false);
});

test('in version 1, a group may use the processors and the memory that are there around it', (t) => {
  const top = { 'cpuset.cpus': '0-3\n', 'cpuset.mems': '0\n' };
  const empty = { 'cpuset.cpus': '\n', 'cpuset.mems': '\n', 'cgroup.clone_children': '0\n' };
  const hierarchy = pretended(t, 1, [], { '.': top, 'netloom-x': empty, 'netloom-x/pod': empty });
  new Cgroups([hierarchy]).make('netloom-x/pod');
  const files = ['cpuset.cpus', 'cpuset.mems', 'cgroup.clone_children'].map((file) => `netloom-x/pod/${file}`);
  assert.deepEqual(
    files.map((file) => contentOf(hierarchy, file)),
    ['0-3', '0', '1'],
  );
});

test('what the kernel has ended or refused is read as each version counts it', (t) => {
  const memory = pretended(t, 1, ['memory'], { x: { 'memory.oom_control': 'under_oom 0\noom_kill 2\n' } });
  const pids = pretended(t, 1, ['pids'], {
    x: { 'pids.events': 'max 0\n' },
    'x/one': { 'pids.events': 'max 3\n' },
    'x/one/exec-1': { 'pids.events': 'max 1\n' },
  });
  const older = new Cgroups([memory, pids]);
  assert.deepEqual([older.outOfMemoryKills('x'), older.refusedProcesses('x')], [2, 4]);
  const newer = new Cgroups([
    pretended(t, 2, ALL, { x: { 'memory.events': 'oom 1\noom_kill 1\noom_group_kill 1\n', 'pids.events': 'max 5\n' } }),
  ]);
  assert.deepEqual([newer.outOfMemoryKills('x'), newer.refusedProcesses('x')], [1, 5]);
  assert.deepEqual([newer.outOfMemoryKills('gone'), newer.refusedProcesses('gone')], [0, 0]);
});

test('a limit that the kernel does not take is refused by the name of its file', needsRoot, (t) => {
  const cgroups = new Cgroups();
  if (cgroups.missing().includes('pids')) return t.skip('this machine limits no processes');
  const group = `netloom-${uniqueName()}`;
  t.after(() => cgroups.remove(group));
  cgroups.make(group);
  assert.throws(() => cgroups.limit(group, { processes: -5 }), {
    message: /^write -5 to \/.*\/netloom-\w+\/pids\.max: the kernel does not take these values \(EINVAL\)$/,
  });
});

/** Version 2 is mounted beside version 1 on many machines, with no controllers: groups and their ends work there. */
const UNIFIED = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'].find((folder) =>
  existsSync(path.join(folder, 'cgroup.controllers')),
);
const REAL: readonly [name: string, (() => Cgroups) | undefined][] = [
  ['as this machine has them', () => new Cgroups()],
  [
    'of version 2',
    UNIFIED === undefined
      ? undefined
      : () => new Cgroups([{ folder: UNIFIED, version: 2, controllers: new Set(['pids'] as const) }]),
  ],
];

for (const [name, make] of REAL) {
  const options = make === undefined ? { skip: 'this machine has no cgroups of version 2' } : needsRoot;
  describe(`groups ${name}`, options, () => {
    const cgroups = make?.() ?? new Cgroups([]);

    test('end with all their processes, also those that start others all the time', async (t) => {
      const group = `netloom-${uniqueName()}/pod`;
      t.after(() => cgroups.remove(path.dirname(group)));
      cgroups.make(group);
      cgroups.limit(group, { processes: 100 });
      cgroups.makePart(group, 'part');
      const join = cgroups.joins(group, 'part').map((file) => `echo 0 > ${file}`);
      const script = `${join.join('; ')}; while :; do (sleep 100 & sleep 100 &) 2>/dev/null; done`;
      const child = spawn('sh', ['-c', script], { stdio: 'ignore' });
      const ended = once(child, 'exit');
      while (cgroups.processes(group).length < 20) await new Promise((resolve) => setTimeout(resolve, 10));
      const end = Date.now() + 10_000;
      while (!cgroups.remove(group) && Date.now() < end) {
        cgroups.kill(group);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await ended;
      assert.deepEqual(cgroups.processes(group), []);
      assert.deepEqual(cgroups.below(path.dirname(group)), []);
    });

    test('take up what runs in a part of them when the part is dissolved', async (t) => {
      const group = `netloom-${uniqueName()}`;
      cgroups.make(group);
      cgroups.makePart(group, 'part');
      const join = cgroups.joins(group, 'part').map((file) => `echo 0 > ${file}`);
      const child = spawn('sh', ['-c', `${join.join('; ')}; echo in; exec sleep 1000`], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      t.after(async () => {
        if (child.kill('SIGKILL')) await once(child, 'exit');
        cgroups.remove(group);
      });
      await once(child.stdout, 'data');
      assert.deepEqual(cgroups.below(group), ['part']);
      assert.ok(cgroups.dissolvePart(group, 'part'));
      assert.deepEqual(cgroups.below(group), []);
      assert.deepEqual(cgroups.processes(group), [child.pid]);
    });
  });
}
