import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '../../../../test/engine/engine-in-test.ts';
import { needsRoot } from '../../../linux/network.fixture.ts';
import { type Mount, StartError } from '../runtime.ts';
import { TestHost } from './runtime.fixture.ts';

test('a container runs its command with its environment, and says how it ended', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const { stdout, stderr, ...state } = await host.run('echo "$GREETING"; hostname; echo complaint >&2; exit 7', {
    env: [
      ['PATH', '/usr/bin:/bin'],
      ['GREETING', 'hello  world'],
    ],
    labels: { some: 'label' },
  });
  assert.equal(stdout, 'hello  world\ninside\n');
  assert.equal(stderr, 'complaint\n');
  assert.deepEqual([state.phase, state.exitCode, state.signal], ['ended', 7, undefined]);
  assert.deepEqual(state.labels, { some: 'label' });
});

test('a container ends by a signal, which its first process may handle', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const polite = await host.start('trap "echo bye; exit 3" TERM; echo ready; while :; do sleep 0.05; done');
  const rude = await host.start('sleep 1000 & sleep 1000');
  await host.runtime.signal(polite.id, 'SIGTERM');
  await host.runtime.signal(rude.id, 'SIGKILL');
  assert.equal((await host.end(polite)).exitCode, 3);
  const killed = await host.end(rude);
  assert.deepEqual([killed.exitCode, killed.signal], [137, 9]);
});

test('all processes of a container end with its first one', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const state = await host.run('setsid sleep 9312345 & setsid sh -c "sleep 9312345" & exit 0');
  assert.equal(state.exitCode, 0);
  assert.doesNotMatch(execFileSync('ps', ['ax'], { encoding: 'utf8' }), /sleep 9312345/);
});

test('a command that cannot begin is refused with the words of a kubelet', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const refused = async (command: readonly string[], spec = {}): Promise<string> => {
    const error = await host.start(command, spec).then(
      () => assert.fail('it has begun'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof StartError);
    return `${error.reason}: ${error.message}`;
  };
  assert.equal(await refused(['nonsense']), 'RunContainerError: exec: "nonsense": executable file not found in $PATH');
  assert.equal(await refused(['/no/such']), 'RunContainerError: exec: "/no/such": no such file or directory');
  assert.equal(await refused(['/etc/passwd']), 'RunContainerError: exec: "/etc/passwd": permission denied');
  assert.equal(
    await refused(['true'], { workingDirectory: '/etc/passwd' }),
    'CreateContainerError: the working directory /etc/passwd cannot be entered: it is no directory',
  );
  assert.equal(
    await refused(['true'], { workingDirectory: '/proc/none' }),
    'CreateContainerError: the working directory /proc/none cannot be entered: "proc/none" is not there and cannot be made, or is a link that leads nowhere',
  );
  assert.deepEqual((await host.runtime.list()).containers, []);
});

test('a working directory that is not there is made, wherever something can be', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const volume = path.join(host.folder, 'volume');
  mkdirSync(volume);
  const mounts: Mount[] = [{ source: volume, target: '/data', kind: 'bind', readOnly: false }];
  const user = { user: 1000, group: 1000 };
  for (const workingDirectory of ['/no/such/folder', '/data/inside', '/etc/../tmp/x/']) {
    for (const readOnlyRoot of [false, true]) {
      const { stdout } = await host.run('pwd; stat -c "%U %a" .', { ...user, mounts, workingDirectory, readOnlyRoot });
      assert.equal(stdout, `${path.resolve(workingDirectory)}\nroot 755\n`);
    }
  }
  assert.deepEqual(readdirSync(volume), ['inside']);
  assert.equal(existsSync('/no'), false);
});

test('what a container has written beside its volumes goes with its end, and its log stays', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const container = await host.run('head -c 5000000 /dev/zero > /tmp/much; mkdir -p /a/b/c; echo said');
  assert.equal(container.stdout, 'said\n');
  await eventually(
    async () => readdirSync(path.join(host.stateDirectory, 'containers')),
    (layers) => layers.length === 0,
  );
  assert.equal((await host.runtime.list()).containers.length, 1);
  await host.runtime.removeContainer(container.id);
});

test('starting, signalling and removing may be repeated', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const sandbox = await host.sandbox('one');
  const id = 'the-container';
  const [first, second] = await Promise.all([
    host.start('sleep 1000', { id, sandbox }),
    host.start('sleep 1000', { id, sandbox }),
  ]);
  assert.equal(first.pid, second.pid);
  await assert.rejects(host.runtime.removeContainer(id), /still runs/);
  await host.runtime.signal(id, 'SIGKILL');
  await host.end({ id });
  await host.runtime.signal(id, 'SIGTERM');
  for (const _ of ['once', 'again']) await host.runtime.removeContainer(id);
  for (const _ of ['once', 'again']) await host.runtime.removeSandbox('one');
  assert.deepEqual(await host.runtime.list(), { sandboxes: [], containers: [] });
});

test(
  'what was removed is not remembered, also not when the next supervisor knows nothing of it',
  needsRoot,
  async (t) => {
    const host = await TestHost.start(t);
    const sandbox = await host.sandbox();
    await host.run('true', { sandbox });
    await host.start('sleep 1000', { sandbox });
    await host.runtime.removeSandbox(sandbox);
    const stays = await host.start('sleep 1000');
    const lock = path.join(host.folder, 'run/supervisor.lock');
    const ended = new Promise<void>((resolve) => {
      host.runtime.watch(({ id, phase }) => {
        if (id === stays.id && phase === 'ended') resolve();
      });
    });
    process.kill(Number(readFileSync(lock, 'utf8')), 'SIGKILL');
    await ended;
    const { containers } = await host.runtime.list();
    assert.deepEqual(
      containers.map(({ id }) => id),
      [stays.id],
    );
  },
);
