import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { agentFlags } from '../../src/cli/agent/process-flags.ts';
import { MachineInTest } from './machine-in-test.ts';

describe('netloom up as root', { skip: process.getuid?.() === 0 ? false : 'needs root' }, () => {
  let machine: MachineInTest;
  before(async () => {
    machine = await MachineInTest.make();
  });
  after(async () => {
    await machine.end('up', 'SIGKILL');
    await machine.attempt('sh', ['-c', 'sleep 1']);
    await machine.removeUsual();
    await machine.destroy();
  });

  const agent = (): number => Number(readFileSync(`/run/netloom/hosts/${machine.name}/agent.lock`, 'utf8'));
  const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);
  const pods = () =>
    machine.kubectl(
      'get pods -o jsonpath={.items[*].status.phase},{.items[*].status.containerStatuses[0].restartCount}',
    );
  /** All that the machine's network is set to: nothing in it counts or tells the time. */
  const network = async () => {
    const commands = [
      ...['link', 'address', 'neigh', '-4 rule', '-6 rule'].map((what) => `ip ${what}`),
      ...['-4', '-6'].map((family) => `ip ${family} route show table all`),
      'nft list ruleset',
      "sysctl -a --pattern '^net[.]' 2>/dev/null | grep -vE 'nf_conntrack_count|fastopen_key'",
    ];
    return Promise.all(commands.map((command) => machine.run('sh', ['-c', command])));
  };

  test('makes the machine a node, and changes nothing of it before somebody asks for something', async () => {
    const before = await network();
    assert.match(before.join(''), /net\.ipv4\.ip_forward = /);
    await machine.startUp('on');
    assert.match(machine.up?.stdout ?? '', new RegExp(`^  this host +node ${machine.name};`, 'm'));
    assert.match(machine.up?.stdout ?? '', /^ {4}bin\/netloom lab up examples\/lab\/cloud\.yaml$/m);
    await machine.eventually(
      () => machine.kubectl('get nodes'),
      (text) => new RegExp(`^${machine.name} +Ready `, 'm').test(text),
    );
    assert.match(readFileSync(`/proc/${agent()}/cmdline`, 'utf8'), new RegExp(agentFlags.join('\0')));
    assert.deepEqual(await network(), before);
  });

  test('runs pods, and starts the agent again when it dies', async () => {
    await machine.kubectl('run sleeper --image=host --command -- sleep 1000');
    await machine.kubectl('wait pod/sleeper --for=condition=Ready --timeout=60s');
    const first = agent();
    process.kill(first, 'SIGKILL');
    await machine.eventually(
      async () => agent(),
      (pid) => pid !== first && pid > 0 && isAlive(pid),
    );
    assert.equal(await pods(), 'Running,0');
  });

  test('ends with its agent, and leaves pods running for the next one', async () => {
    const pid = agent();
    const began = Date.now();
    await machine.end('up', 'SIGTERM');
    assert.ok(Date.now() - began < 5_000);
    assert.equal(isAlive(pid), false);
    await machine.startUp('on');
    await machine.eventually(
      async () => agent(),
      (next) => next !== pid && isAlive(next),
    );
    assert.equal(await pods(), 'Running,0');
  });

  test('takes its agent with it however it dies', async () => {
    const pid = agent();
    await machine.end('up', 'SIGKILL');
    await machine.eventually(
      async () => isAlive(pid),
      (alive) => !alive,
    );
  });

  test('does without for whoever is not root, and says so in one line', async () => {
    await machine.startUp('on', ['unshare', '--user']);
    const { stdout = '' } = machine.up ?? {};
    assert.match(stdout, /^ {2}this host +only root can run pods on this machine; everything else works$/m);
    assert.doesNotMatch(stdout, /lab up/);
    assert.doesNotMatch(stdout, /, agent/);
    await machine.kubectl('get ns');
    await machine.end('up', 'SIGTERM');
  });
});
