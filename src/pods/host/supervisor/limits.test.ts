import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '../../../../test/engine/engine-in-test.ts';
import { Cgroups } from '../../../linux/cgroups.ts';
import { needsRoot } from '../../../linux/network.fixture.ts';
import { system } from '../../../runtime/system.ts';
import { Containers } from './containers.ts';
import { viewOfHost } from './host-view.ts';
import { logLines, sandboxSpec, TestHost } from './runtime.fixture.ts';

const MIB = 2 ** 20;
const missing = process.getuid?.() === 0 ? new Cgroups().missing() : [];
const needs = (controller: 'memory' | 'pids' | 'cpu') =>
  missing.includes(controller) ? { skip: `this machine cannot limit ${controller}` } : needsRoot;

const HOG = ['perl', '-e', '$x = "a" x 200_000_000; sleep 1000'];

test(
  'a container that takes more memory than it may is ended by the kernel, and says so',
  needs('memory'),
  async (t) => {
    const host = await TestHost.start(t);
    const neighbour = await host.start('while read line; do echo "$line"; done', { stdin: true });
    const hog = await host.run(HOG, { limits: { memoryBytes: 50 * MIB } });
    assert.deepEqual([hog.exitCode, hog.signal, hog.outOfMemory], [137, 9, true]);
    const inPod = await host.run(HOG, { sandbox: await host.sandbox('pod', { memoryBytes: 50 * MIB }) });
    assert.deepEqual([inPod.exitCode, inPod.outOfMemory], [137, true]);
    assert.equal((await host.exec(neighbour, 'echo fine')).stdout, 'fine\n');
  },
);

test('a container with enough memory is not said to have had too little', needs('memory'), async (t) => {
  const host = await TestHost.start(t);
  const { exitCode, outOfMemory } = await host.run('exit 137', { limits: { memoryBytes: 50 * MIB } });
  assert.deepEqual([exitCode, outOfMemory], [137, undefined]);
});

test('a limit that is too low for any program is named when the container cannot begin', needs('memory'), async (t) => {
  const host = await TestHost.start(t);
  const started = host.start('true', { limits: { memoryBytes: 64 * 1024 } });
  await assert.rejects(started, /its limit of 65536 bytes of memory is too low/);
  assert.deepEqual((await host.runtime.list()).containers, []);
});

test(
  'a fork bomb ends at the limit of its pod, which says so, and others start what they like',
  needs('pids'),
  async (t) => {
    const host = await TestHost.start(t);
    const bombed = await host.sandbox('bombed', { processes: 50 });
    const neighbour = await host.start('sleep 1000');
    const told = new Promise<boolean>((resolve) => {
      host.runtime.watch(({ sandbox, refusedProcesses }) => {
        if (refusedProcesses === true) resolve(sandbox === bombed);
      });
    });
    const bomb = await host.start(['perl', '-e', 'fork while 1'], {
      sandbox: bombed,
      limits: { cpuMillis: 200 },
    });
    assert.equal(await told, true);
    const { stdout } = await host.exec(neighbour, 'for i in 1 2 3 4 5; do sleep 0.1 & done; wait; echo all');
    assert.equal(stdout, 'all\n');
    const { containers } = await host.runtime.list();
    assert.deepEqual(containers.map(({ id, refusedProcesses }) => [id === bomb.id, refusedProcesses]).sort(), [
      [false, undefined],
      [true, true],
    ]);
    await host.runtime.removeSandbox(bombed);
    assert.deepEqual(new Cgroups().processes(`${host.cgroup}/${bombed}`), []);
  },
);

test('a crowd that hardly gets to a processor is killed at once', needs('cpu'), async (t) => {
  const host = await TestHost.start(t);
  const sandbox = await host.sandbox('slow', { cpuMillis: 2_000 });
  const crowd = await host.start(['perl', '-e', CROWD], { sandbox });
  await eventually(
    async () => logLines(crowd.logFile).length,
    (lines) => lines > 0,
    60_000,
  );
  // With so little from the beginning, it would take minutes to become a crowd.
  new Cgroups().limit(`${host.cgroup}/${sandbox}`, { cpuMillis: 10 });
  const began = Date.now();
  await host.runtime.signal(crowd.id, 'SIGKILL');
  const { exitCode } = await host.end(crowd);
  assert.equal(exitCode, 137);
  assert.ok(Date.now() - began < 15_000, `it took ${Date.now() - began} ms`);
});

test('a pod of which a container was killed keeps its limits', needs('cpu'), async (t) => {
  const host = await TestHost.start(t);
  const sandbox = await host.sandbox('slow', { cpuMillis: 100 });
  const killed = await host.start('sleep 1000', { sandbox });
  await host.runtime.signal(killed.id, 'SIGKILL');
  await host.end(killed);
  const used = hundredthsOfASecond(await host.run(BUSY, { sandbox }));
  assert.ok(used < 100, `${used} hundredths of a second`);
});

test('a container gets as much of the processors as it may', needs('cpu'), async (t) => {
  const host = await TestHost.start(t);
  const used = hundredthsOfASecond(await host.run(BUSY, { limits: { cpuMillis: 100 } }));
  assert.ok(used < 100, `${used} hundredths of a second`);
});

/** Processes that wait for each other, and then never wait again. */
const CROWD =
  'pipe R, W; for (1..600) { next if fork; close W; <R>; 1 while 1 } syswrite STDOUT, "all\n"; close W; 1 while 1';

/** Writes at its end how much of the processors it has had. */
const BUSY = 'end=$(($(date +%s) + 2)); while [ $(date +%s) -lt $end ]; do :; done; cat /proc/1/stat';

function hundredthsOfASecond({ stdout }: { stdout: string }): number {
  const fields = stdout.slice(stdout.lastIndexOf(')')).split(' ');
  return [12, 13, 14, 15].reduce((sum, field) => sum + Number(fields[field]), 0);
}

test(
  'who goes first when there is no memory left is said for each container and its commands, not for others',
  needsRoot,
  async (t) => {
    const host = await TestHost.start(t);
    const show = 'cat /proc/self/oom_score_adj';
    assert.equal((await host.run(show, { dispensability: 700 })).stdout, '700\n');
    assert.equal((await host.run(show)).stdout, '0\n');
    const stays = await host.start('sleep 1000', { dispensability: 1000 });
    assert.equal((await host.exec(stays, show)).stdout, '1000\n');
  },
);

test('where nothing can be limited containers run without, and their states say so', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const cgroups = new Cgroups([]);
  const containers = new Containers({
    clock: system,
    cgroups,
    view: () => viewOfHost({ own: [host.folder], cgroups }),
    group: host.cgroup,
    layers: path.join(host.folder, 'layers'),
    changed: () => {},
  });
  t.after(() => containers.removeAll());
  await containers.clean();
  containers.createSandbox(sandboxSpec('pod', { processes: 100 }));
  const spec = host.spec('sleep 1000', { sandbox: 'pod', limits: { memoryBytes: 50 * MIB, cpuMillis: 100 } });
  const { id, unlimited } = await containers.startContainer(spec);
  assert.deepEqual(unlimited, ['pids', 'memory', 'cpu']);
  const command = ['sh', '-c', 'exit 5'];
  const progress = { begun: () => {}, take: () => undefined };
  const execution = await containers.execute({ containerId: id, command, stdin: false, tty: false }, progress);
  assert.deepEqual(await execution.ended, { exitCode: 5 });
});
