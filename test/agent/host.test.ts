import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '../../src/api/json.ts';
import { createNetworkNamespace, inNetworkNamespace } from '../../src/linux/network-namespace.ts';
import { RoutedPodNetwork } from '../../src/pods/host/routed-pod-network.ts';
import { processesIn } from '../labs/lab-in-test.ts';
import { MachineInTest } from './machine-in-test.ts';

const pod = (name: string, script: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'c', image: 'host', command: ['sh', '-c', script] }],
  },
});
const TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount';

describe('a machine with an agent', { skip: process.getuid?.() === 0 ? false : 'needs root' }, () => {
  let machine: MachineInTest;
  before(async () => {
    machine = await MachineInTest.start();
    await machine.kubectl('apply -f -', pod('web', 'echo hello; exec python3 -m http.server 8080'));
    await machine.kubectl('wait pod/web --for=condition=Ready --timeout=60s');
  });
  after(() => machine.destroy());

  const field = (of: string, path: string) => machine.kubectl(['get', ...of.split(' '), '-o', `jsonpath={${path}}`]);
  const ready = () => field(`node ${machine.name}`, '.status.conditions[?(@.type=="Ready")].status');
  const containerOf = async () =>
    `${await field('pod web', '.status.containerStatuses[0].containerID')} ${await field('pod web', '.status.containerStatuses[0].restartCount')}`;
  const serves = async () => {
    const address = await field('pod web', '.status.podIP');
    const { code } = await machine.attempt('curl', ['-sf', '--max-time', '5', `http://${address}:8080/`]);
    return code === 0;
  };

  test('runs pods, whose output people see and in which they run commands', async () => {
    assert.equal(await machine.kubectl('logs web'), 'hello\n');
    assert.equal(await machine.kubectl(['exec', 'web', '--', 'sh', '-c', 'echo $0 from $HOSTNAME']), 'sh from web\n');
    assert.equal(await serves(), true);
  });

  test('says on its node that it minds which groups a pod asks for', async () => {
    assert.equal(await field(`node ${machine.name}`, '.status.features.supplementalGroupsPolicy'), 'true');
  });

  test('gives pods a token with which they are somebody at the API, by the name of its Service', async () => {
    const ask = `curl -s --cacert ${TOKEN}/ca.crt -H "Authorization: Bearer $(cat ${TOKEN}/token)" https://kubernetes.default.svc/api/v1/namespaces/default/secrets`;
    assert.match(
      await machine.kubectl(['exec', 'web', '--', 'sh', '-c', ask]),
      /User \\"system:serviceaccount:default:default\\" cannot list resource \\"secrets\\"/,
    );
  });

  test('hides from pods what is the host’s and the engine’s own', async () => {
    for (const folder of ['state/agent', 'run', 'data/pki']) {
      const path = join(machine.folder, folder);
      assert.ok(readdirSync(path).length > 0, path);
      const look = `ls -A ${path} 2>/dev/null || true`;
      assert.equal(await machine.kubectl(['exec', 'web', '--', 'sh', '-c', look]), '', path);
    }
  });

  test('may lose its agent and get another one: pods go on', async () => {
    const before = await containerOf();
    await machine.end('agent', 'SIGKILL');
    assert.equal(await serves(), true);
    await machine.startAgent();
    await machine.eventually(ready, (status) => status === 'True');
    await machine.end('agent', 'SIGTERM');
    assert.equal(await serves(), true);
    await machine.startAgent();
    await machine.eventually(ready, (status) => status === 'True');
    assert.equal(await containerOf(), before);
    // Its Node says a moment later where the new agent listens.
    const log = await machine.eventually(
      () => machine.attempt(machine.program, ['logs', 'web']),
      ({ code }) => code === 0,
    );
    assert.match(log.stdout, /^hello\n.*GET/);
  });

  test('may lose the API for a while: what runs goes on, and then everything is as it was', async () => {
    const before = await containerOf();
    await machine.end('up', 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    assert.equal(machine.agent?.child.exitCode, null);
    await machine.startUp();
    await machine.eventually(ready, (status) => status === 'True');
    assert.equal(await containerOf(), before);
    assert.equal(await serves(), true);
    await machine.kubectl('apply -f -', pod('later', 'exec sleep 1000'));
    await machine.kubectl('wait pod/later --for=condition=Ready --timeout=60s');
  });

  test('replaces a container whose process somebody kills, once', async () => {
    const uid = await field('pod web', '.metadata.uid');
    const [first] = processesIn(uid);
    assert.ok(first, 'nothing runs in the pod');
    process.kill(first.pid, 'SIGKILL');
    const restarts = '.status.containerStatuses[0].restartCount';
    await machine.eventually(
      () => field('pod web', restarts),
      (count) => count !== '0',
    );
    await machine.kubectl('wait pod/web --for=condition=Ready --timeout=60s');
    assert.equal(await field('pod web', restarts), '1');
    assert.equal(await field('pod web', '.status.containerStatuses[0].lastState.terminated.exitCode'), '137');
    assert.equal(processesIn(uid).length, 1);
  });

  test('keeps pods to their own names, also when somebody has swept rules away', async () => {
    const isThere = (tables: string): boolean => tables.includes('table ip6 netloom-pods');
    assert.ok(isThere(await machine.run('nft', ['list', 'tables'])));
    await machine.run('nft', ['flush', 'ruleset']);
    await machine.eventually(() => machine.run('nft', ['list', 'tables']), isThere);
  });

  test('says on its node when its supervisor does not answer, also to an agent that begins, and when it does again', async () => {
    process.kill(machine.supervisor, 'SIGSTOP');
    try {
      await machine.eventually(ready, (status) => status === 'False');
      const reason = await field(`node ${machine.name}`, '.status.conditions[?(@.type=="Ready")].reason');
      assert.equal(reason, 'SupervisorNotAnswering');
      await machine.end('agent', 'SIGKILL');
      await machine.startAgent();
      await machine.eventually(
        () => field(`node ${machine.name}`, '.status.conditions[?(@.type=="Ready")].reason'),
        (now) => now !== reason,
      );
      assert.equal(await ready(), 'False');
      // It does not hang with its supervisor.
      await machine.end('agent', 'SIGTERM');
      await machine.startAgent();
    } finally {
      process.kill(machine.supervisor, 'SIGCONT');
    }
    await machine.eventually(ready, (status) => status === 'True');
  });

  test('ends when it is asked to, also while neither its supervisor nor the API answers', async () => {
    const silent = [machine.supervisor, machine.up?.child.pid ?? 0];
    const give = (signal: NodeJS.Signals) => silent.map((pid) => process.kill(pid, signal));
    process.kill(machine.supervisor, 'SIGSTOP');
    try {
      await machine.kubectl('apply -f -', pod('begun', 'exec sleep 1000'));
      await machine.eventually(
        () => field('pod begun', '.status.conditions[*].type'),
        (conditions) => conditions.includes('ContainersReady'),
      );
      give('SIGSTOP');
      const tooLate = setTimeout(() => machine.agent?.child.kill('SIGKILL'), 15_000);
      await machine.end('agent', 'SIGTERM');
      clearTimeout(tooLate);
    } finally {
      give('SIGCONT');
    }
    assert.equal(machine.agent?.child.exitCode, 0);
    await machine.startAgent();
    await machine.kubectl('wait pod/begun --for=condition=Ready --timeout=60s');
  });

  test('is as before when its agent is removed, and what is of another host there stays', async () => {
    await machine.end('agent', 'SIGTERM');
    const others = new RoutedPodNetwork();
    const uid = `of-another-${machine.name}`;
    inNetworkNamespace(machine.network, () => {
      void others.attach({ uid, namespace: 'default', name: 'theirs' }, ['10.244.9.1']);
    });
    // Its folder comes first: a crash may have left no more of it than a name.
    const unfinished = `unfinished-${machine.name}`;
    mkdirSync(join(machine.folder, 'state/pods', unfinished));
    const file = createNetworkNamespace(`netloom-pod-${unfinished}`);
    const words = ['agent', '--name', machine.name, ...machine.places, '--kubeconfig', machine.kubeconfig, '--remove'];
    assert.match(await machine.netloom(words), /nothing of host \w+ is left on this machine\nits Node \w+ is deleted/);
    assert.deepEqual(
      readdirSync(machine.folder).filter((name) => ['state', 'run'].includes(name)),
      [],
    );
    assert.equal(existsSync(file), false);
    assert.match(await machine.run('ip', ['-o', 'link']), /^1: lo:[^\n]*\n\d+: nl[^\n]*default\/theirs[^\n]*\n$/);
    assert.match(await machine.run('ip', ['route']), /^10\.244\.9\.1 dev nl[^\n]*\n$/);
    inNetworkNamespace(machine.network, () => {
      void others.detach(uid);
    });
    assert.match(await machine.run('ip', ['-o', 'link']), /^1: lo:[^\n]*\n$/);
    assert.equal(await machine.run('ip', ['route']), '');
    assert.equal(await machine.run('nft', ['list', 'ruleset']), '');
    const groups = readdirSync('/sys/fs/cgroup').filter((each) =>
      existsSync(`/sys/fs/cgroup/${each}/netloom-${machine.name}`),
    );
    assert.deepEqual(groups, []);
    assert.equal(await machine.kubectl('get nodes -o name'), '');
  });
});
