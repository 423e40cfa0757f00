import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { ConfigMap, Secret } from '../../api/core/config.ts';
import { Pod, type PodSpec } from '../../api/core/pod.ts';
import { conditionOf } from '../pod-state.ts';
import { main, NAMESPACE, SimulatedHost } from './pod-host.fixture.ts';

const isRunning = (host: SimulatedHost, pod: string) => () => host.find(pod)?.status?.phase === 'Running';
const sidecar = (name: string) => ({ name, command: [name], restartPolicy: 'Always' as const });

describe('a pod on its host', () => {
  test('runs when it is bound to the host, and says so', async (t) => {
    const host = await SimulatedHost.create(t);
    await host.pod('web', [main('serve')]);
    await host.until(isRunning(host, 'web'));

    const { status } = host.the('web');
    assert.equal(host.state('web'), 'Running');
    assert.equal(status?.podIP, '10.244.7.1');
    assert.equal(status?.hostIP, '192.0.2.7');
    for (const type of ['PodReadyToStartContainers', 'Initialized', 'ContainersReady', 'Ready']) {
      assert.equal(host.condition('web', type), 'True');
    }
    assert.match(host.status('web').containerID ?? '', /^netloom:\/\/[0-9a-f]{32}$/);
    assert.deepEqual(host.events('web'), [
      'Normal Created: Created container: main',
      'Normal Started: Started container main',
    ]);
  });

  test('is asked to end when it is deleted, and gone when it has', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('slow', { stopsWithin: 5_000 });
    const { metadata } = await host.pod('web', [main('slow')]);
    await host.until(isRunning(host, 'web'));
    await host.delete('web');
    await host.settle(4_000);
    assert.equal(host.state('web'), 'Running');
    await host.until(() => host.find('web') === undefined);
    assert.deepEqual(host.runtime.calls.slice(2), ['SIGTERM main 0', `remove ${metadata.uid}`]);
    assert.deepEqual([...host.network.attached], []);
    assert.equal(existsSync(path.join(host.directory, 'pods', metadata.uid)), false);
  });

  test('is killed when its grace is over', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('deaf', {});
    await host.pod('web', [main('deaf')], { terminationGracePeriodSeconds: 7 });
    await host.until(isRunning(host, 'web'));
    const began = host.world.clock.now();
    await host.delete('web');
    await host.until(() => host.runtime.calls.includes('SIGKILL main 0'));
    const took = host.world.clock.now() - began;
    assert.ok(took >= 7_000 && took < 8_000, `${took} ms`);
    await host.until(() => host.find('web') === undefined);
  });

  test('is killed sooner when somebody loses patience', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('deaf', {});
    await host.pod('web', [main('deaf')]);
    await host.until(isRunning(host, 'web'));
    await host.delete('web');
    await host.settle(1_000);
    await host.delete('web', 1);
    const began = host.world.clock.now();
    await host.until(() => host.runtime.calls.includes('SIGKILL main 0'));
    assert.ok(host.world.clock.now() - began < 4_000);
  });

  test('that vanishes from the API is ended all the same', async (t) => {
    const host = await SimulatedHost.create(t);
    await host.pod('web', [main('serve')]);
    await host.until(isRunning(host, 'web'));
    await host.delete('web', 0);
    await host.until(() => host.host.find(NAMESPACE, 'web') === undefined);
    assert.ok(host.runtime.calls.includes('SIGTERM main 0'));
    assert.deepEqual(host.runtime.sandboxes, []);
  });

  test('is replaced by one of the same name while it ends', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('slow', { stopsWithin: 1_500 });
    const first = await host.pod('web', [main('slow')]);
    await host.until(isRunning(host, 'web'));
    await host.delete('web', 0);
    const second = await host.pod('web', [main('slow')]);
    await host.until(isRunning(host, 'web'));
    assert.notEqual(first.metadata.uid, second.metadata.uid);
    assert.equal(host.host.find(NAMESPACE, 'web')?.uid, second.metadata.uid);
    await host.until(() => host.runtime.sandboxes.length === 1);
    assert.deepEqual(host.runtime.sandboxes, [second.metadata.uid]);
  });

  test('fails when it could not run here, and says what to do', async (t) => {
    const host = await SimulatedHost.create(t);
    const port = main('serve', { ports: [{ containerPort: 80, hostPort: 80 }] });
    await host.pod('web', [port]);
    await host.pod('shares', [main('serve')], { hostPID: true });
    const sysctls = [{ name: 'kernel.panic', value: '1' }];
    await host.pod('tunes', [main('serve')], { securityContext: { sysctls } });
    await host.until(() => ['web', 'shares', 'tunes'].every((name) => host.the(name).status?.phase === 'Failed'));
    assert.match(host.the('web').status?.message ?? '', /asks for port 80 of the host: use hostNetwork/);
    assert.match(host.the('shares').status?.message ?? '', /^spec\.hostPID: .* leave it out$/);
    assert.equal(host.the('tunes').status?.reason, 'SysctlForbidden');
    // kubectl shows what a container waits for rather than why its pod has failed.
    assert.equal(host.the('tunes').status?.containerStatuses, undefined);
    const told = host.events('tunes');
    assert.deepEqual(told, ['Warning SysctlForbidden: forbidden sysctl: "kernel.panic" not allowlisted']);
    assert.deepEqual(host.runtime.calls, []);
  });

  test('waits for the range of the host', async (t) => {
    const host = await SimulatedHost.create(t);
    host.podCidrs = [];
    await host.pod('web', [main('serve')]);
    await host.settle(3_000);
    assert.match(host.status('web').state?.waiting?.message ?? '', /the Node has no spec\.podCIDR yet/);
    host.podCidrs = ['10.244.9.0/24'];
    host.host.look();
    await host.until(isRunning(host, 'web'));
    assert.equal(host.the('web').status?.podIP, '10.244.9.1');
  });

  test('has an address of each range of the host, in their order, and keeps them in it', async (t) => {
    const host = await SimulatedHost.create(t);
    host.podCidrs = ['fd00:7::/64', '10.244.7.0/24'];
    await host.pod('web', [main('serve')]);
    await host.until(isRunning(host, 'web'));
    const both = [{ ip: 'fd00:7::1' }, { ip: '10.244.7.1' }];
    assert.equal(host.the('web').status?.podIP, 'fd00:7::1');
    assert.deepEqual(host.the('web').status?.podIPs, both);
    await host.quit();
    // The kernel has an order of its own.
    for (const [uid, addresses] of host.network.attached) host.network.attached.set(uid, addresses.toReversed());
    await host.begin();
    await host.settle(5_000);
    assert.deepEqual(host.the('web').status?.podIPs, both);
  });

  test('gets the address that is missing after a crash in the middle', async (t) => {
    const host = await SimulatedHost.create(t);
    host.podCidrs = [];
    const { metadata } = await host.pod('web', [main('serve')]);
    await host.settle(1_000);
    await host.quit();
    host.network.attached.set(metadata.uid, ['10.244.7.5']);
    host.podCidrs = ['10.244.7.0/24', 'fd00:7::/64'];
    await host.begin();
    await host.until(isRunning(host, 'web'));
    assert.deepEqual(host.the('web').status?.podIPs, [{ ip: '10.244.7.5' }, { ip: 'fd00:7::1' }]);
  });

  test('takes none where it cannot have all', async (t) => {
    const host = await SimulatedHost.create(t);
    host.podCidrs = ['10.244.7.0/24', 'fd00:7::/127'];
    await host.pod('one', [main('serve')]);
    await host.until(isRunning(host, 'one'));
    await host.pod('two', [main('serve')]);
    await host.settle(10_000);
    assert.match(host.status('two').state?.waiting?.message ?? '', /all addresses of fd00:7::\/127 are in use/);
    assert.equal(host.network.attached.size, 1);
    await host.delete('one');
    await host.until(isRunning(host, 'two'));
    assert.equal(host.the('two').status?.podIPs?.length, 2);
  });

  test('with the network of the host has the addresses of the host', async (t) => {
    const host = await SimulatedHost.create(t);
    await host.pod('web', [main('serve')], { hostNetwork: true });
    await host.until(isRunning(host, 'web'));
    assert.equal(host.the('web').status?.podIP, '192.0.2.7');
    assert.deepEqual([...host.network.attached], []);
  });

  test('past its deadline is ended, and has failed when nothing of it runs any more', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('slow', { stopsWithin: 3_000 });
    await host.pod('job', [main('slow')], { activeDeadlineSeconds: 5 });
    await host.until(isRunning(host, 'job'));
    await host.until(() => host.events('job').some((event) => /DeadlineExceeded: Pod was active/.test(event)));
    await host.settle(1_000);
    assert.deepEqual([host.the('job').status?.phase, host.runtime.running.length], ['Running', 1]);
    await host.until(() => host.the('job').status?.phase === 'Failed');
    assert.equal(host.the('job').status?.reason, 'DeadlineExceeded');
    assert.deepEqual(host.runtime.running, []);
  });
});

describe('a pod that fills the disk', () => {
  const limited = { resources: { limits: { 'ephemeral-storage': '1Gi' } } };
  const GIB = 2 ** 30;

  test('beyond the limit of a volume is ended soon, and says why', async (t) => {
    const host = await SimulatedHost.create(t);
    const volumes = [
      { name: 'small', emptyDir: { sizeLimit: '10Mi' } },
      { name: 'free', emptyDir: {} },
    ];
    const { metadata } = await host.pod('hoard', [main('deaf')], { volumes });
    host.behaviours.set('deaf', {});
    await host.until(isRunning(host, 'hoard'));
    const folder = path.join(host.directory, 'pods', metadata.uid, 'volumes');
    host.diskUsage.set(path.join(folder, 'free'), 100 * GIB);
    host.diskUsage.set(path.join(folder, 'small'), 10 * 2 ** 20);
    await host.settle(30_000);
    assert.equal(host.the('hoard').status?.phase, 'Running');
    host.diskUsage.set(path.join(folder, 'small'), 10 * 2 ** 20 + 1);
    await host.until(() => host.the('hoard').status?.phase === 'Failed', 20_000);
    const { reason, message } = host.the('hoard').status ?? {};
    assert.deepEqual([reason, message], ['Evicted', 'Usage of EmptyDir volume "small" exceeds the limit "10Mi".']);
    assert.ok(host.events('hoard').includes(`Warning Evicted: ${message}`));
    assert.equal(conditionOf(host.the('hoard'), 'DisruptionTarget'), undefined, 'it has itself to blame');
    await host.until(() => !existsSync(folder));
  });

  test('beyond the limit of a container is judged by all that the container writes, its log too', async (t) => {
    const host = await SimulatedHost.create(t);
    const { metadata } = await host.pod('writes', [main('serve', limited)]);
    await host.until(isRunning(host, 'writes'));
    const id = host.status('writes').containerID?.replace('netloom://', '') ?? '';
    host.diskUsage.set(path.join(host.directory, 'containers', id, 'upper'), 0.6 * GIB);
    await host.settle(30_000);
    assert.equal(host.the('writes').status?.phase, 'Running');
    const logs = path.join(host.directory, 'logs', `${NAMESPACE}_writes_${metadata.uid}`, 'main');
    host.diskUsage.set(logs, 0.6 * GIB);
    await host.until(() => host.the('writes').status?.phase === 'Failed', 20_000);
    assert.equal(
      host.the('writes').status?.message,
      'Container main exceeded its local ephemeral storage limit "1Gi".',
    );
  });
});

describe('a disk that is nearly full', () => {
  const GIB = 2 ** 30;
  const hoarding = async (host: SimulatedHost, name: string, bytes: number, spec: Partial<PodSpec> = {}) => {
    const { metadata } = await host.pod(name, [main('serve')], spec);
    await host.until(isRunning(host, name));
    host.diskUsage.set(path.join(host.directory, 'pods', metadata.uid), bytes);
  };

  test('is emptied by the pod that has most of what it did not ask for, and by no more than are needed', async (t) => {
    const host = await SimulatedHost.create(t);
    await hoarding(host, 'little', GIB / 100);
    await hoarding(host, 'much', 5 * GIB);
    await hoarding(host, 'more', 6 * GIB);
    await host.settle(60_000);
    assert.ok(['little', 'much', 'more'].every((name) => host.the(name).status?.phase === 'Running'));
    host.diskSpace = { ...host.diskSpace, diskAvailable: GIB };
    await host.until(() => host.the('more').status?.phase === 'Failed', 30_000);
    const { reason, message } = host.the('more').status ?? {};
    assert.deepEqual(
      [reason, message],
      [
        'Evicted',
        'The node was low on resource: ephemeral-storage. 1.0 of 100.0 GiB were available, and this pod was using 6.0 GiB.',
      ],
    );
    const target = conditionOf(host.the('more'), 'DisruptionTarget');
    assert.deepEqual([target?.status, target?.reason, target?.message], ['True', 'TerminationByKubelet', message]);
    assert.equal(host.the('much').status?.phase, 'Running');
    await host.until(() => host.the('much').status?.phase === 'Failed', 30_000);
    await host.settle(60_000);
    assert.equal(host.the('little').status?.phase, 'Running', 'nothing would be gained by its end');
  });
});

describe('containers that end', () => {
  test('are started again at once, then later and later', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('crash', { ends: { after: 100, exitCode: 3 } });
    await host.pod('web', [main('crash')]);
    const starts: number[] = [];
    for (let count = 1; count <= 5; count += 1) {
      const running = (): number => host.runtime.calls.filter((call) => call.startsWith('start')).length;
      await host.until(() => running() >= count, 400_000);
      starts.push(host.world.clock.now());
    }
    const waits = starts.slice(1).map((at, i) => Math.round((at - (starts[i] ?? 0)) / 1000));
    assert.deepEqual(waits, [0, 10, 20, 40]);
    await host.settle(1_000);
    assert.equal(host.state('web'), 'CrashLoopBackOff');
    const { uid } = host.the('web').metadata;
    const message = `back-off 1m20s restarting failed container=main pod=web_default(${uid})`;
    assert.equal(host.status('web').state?.waiting?.message, message);
    assert.equal(host.status('web').restartCount, 4);
    assert.equal(host.status('web').lastState?.terminated?.exitCode, 3);
    assert.equal(host.the('web').status?.phase, 'Running');
    assert.equal(host.condition('web', 'Ready'), 'False ContainersNotReady');
    assert.ok(host.events('web').some((event) => event.startsWith('Warning BackOff: Back-off restarting failed')));
  });

  test('start anew without delay after they have run well', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('tired', { ends: { after: 700_000, exitCode: 1 } });
    await host.pod('web', [main('tired')]);
    await host.settle(2_200_000);
    assert.deepEqual(
      host.runtime.calls.filter((call) => call.startsWith('start')),
      ['start main 0', 'start main 1', 'start main 2', 'start main 3'],
    );
  });

  for (const { restartPolicy, exitCode, phase } of [
    { restartPolicy: 'Never', exitCode: 0, phase: 'Succeeded' },
    { restartPolicy: 'Never', exitCode: 1, phase: 'Failed' },
    { restartPolicy: 'OnFailure', exitCode: 0, phase: 'Succeeded' },
  ] as const) {
    test(`with ${exitCode} leave a pod that restarts ${restartPolicy} ${phase}`, async (t) => {
      const host = await SimulatedHost.create(t);
      host.behaviours.set('once', { ends: { after: 500, exitCode } });
      await host.pod('job', [main('once')], { restartPolicy });
      await host.until(() => host.the('job').status?.phase === phase);
      assert.equal(host.condition('job', 'Ready'), phase === 'Failed' ? 'False PodFailed' : 'False PodCompleted');
      await host.until(() => host.network.attached.size === 0);
      await host.settle(60_000);
      assert.equal(host.runtime.calls.filter((call) => call.startsWith('start')).length, 1);
      assert.equal(host.the('job').status?.podIP, '10.244.7.1');
      assert.equal(host.host.find(NAMESPACE, 'job')?.container('main').current?.exitCode, exitCode);
    });
  }

  test('with a failure are started again when only success ends them', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('flaky', { ends: { after: 500, exitCode: 1 } });
    await host.pod('job', [main('flaky')], { restartPolicy: 'OnFailure' });
    await host.until(() => host.runtime.calls.includes('start main 1'));
    host.behaviours.set('flaky', { ends: { after: 500, exitCode: 0 } });
    await host.until(() => host.the('job').status?.phase === 'Succeeded');
  });

  test('say why, in a file or by the end of their log', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('crash', { ends: { after: 500, exitCode: 1 } });
    const tells = main('crash', {
      terminationMessagePath: '/tmp/why',
      terminationMessagePolicy: 'FallbackToLogsOnError',
    });
    await host.pod('file', [tells], { restartPolicy: 'Never' });
    await host.pod('log', [tells], { restartPolicy: 'Never' });
    await host.until(() => host.runtime.specs.size === 2);
    for (const spec of host.runtime.specs.values()) {
      const isFile = spec.logFile.includes('_file_');
      const message = spec.mounts.find(({ target }) => target === '/tmp/why');
      assert.ok(message);
      if (isFile) writeFileSync(message.source, 'no more disks');
      mkdirSync(path.dirname(spec.logFile), { recursive: true });
      writeFileSync(
        spec.logFile,
        '2026-01-01T00:00:00Z stdout F starting\n2026-01-01T00:00:01Z stderr P out of \n2026-01-01T00:00:02Z stderr F luck\n',
      );
    }
    await host.until(() => host.the('file').status?.phase === 'Failed' && host.the('log').status?.phase === 'Failed');
    assert.equal(host.status('file').state?.terminated?.message, 'no more disks');
    assert.equal(host.status('log').state?.terminated?.message, 'starting\nout of luck\n');
  });

  test('and cannot even begin, say what the kernel said', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('nothing', { fails: 'exec: "nothing": executable file not found in $PATH' });
    await host.pod('web', [main('nothing')]);
    await host.until(() => host.runtime.calls.includes('start main 1'));
    await host.settle(1_000);
    assert.equal(host.state('web'), 'CrashLoopBackOff');
    const last = host.status('web').lastState?.terminated;
    assert.deepEqual([last?.exitCode, last?.reason], [128, 'StartError']);
    assert.match(last?.message ?? '', /executable file not found/);
    assert.ok(host.events('web').some((event) => event.startsWith('Warning Failed: Error: exec: "nothing"')));
  });

  test('at once, have ended', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('true', { ends: { after: 0, exitCode: 0 } });
    await host.pod('job', [main('true')], { restartPolicy: 'Never' });
    await host.until(() => host.the('job').status?.phase === 'Succeeded');
  });

  test('keep their log until there are two later runs', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('crash', { ends: { after: 100, exitCode: 1 } });
    await host.pod('web', [main('crash')]);
    await host.until(() => host.runtime.calls.includes('start main 3'), 400_000);
    await host.settle(1_000);
    const { containers } = await host.over(host.runtime.list());
    assert.deepEqual(
      containers.map(({ attempt }) => attempt),
      [2, 3],
    );
    const { current, previous } = host.host.find(NAMESPACE, 'web')?.container('main') ?? {};
    assert.deepEqual([previous?.attempt, current?.attempt], [2, 3]);
  });
});

describe('init containers and sidecars', () => {
  test('come before the others, one after another', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('first', { ends: { after: 1_000, exitCode: 0 } });
    host.behaviours.set('second', { ends: { after: 1_000, exitCode: 0 } });
    const initContainers = [
      { name: 'first', command: ['first'] },
      { name: 'second', command: ['second'] },
    ];
    await host.pod('web', [main('serve')], { initContainers });
    await host.until(() => host.runtime.calls.includes('start first 0'));
    await host.settle(100);
    assert.equal(host.the('web').status?.phase, 'Pending');
    assert.equal(host.state('web'), 'PodInitializing');
    assert.equal(host.condition('web', 'Initialized'), 'False ContainersNotInitialized');
    await host.until(isRunning(host, 'web'));
    assert.deepEqual(host.runtime.calls, ['sandbox web', 'start first 0', 'start second 0', 'start main 0']);
    assert.equal(host.state('web', 'first'), 'Completed 0');
    assert.equal(host.condition('web', 'Ready'), 'True');
  });

  test('fail a pod that never restarts', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('crash', { ends: { after: 100, exitCode: 2 } });
    await host.pod('job', [main('serve')], {
      restartPolicy: 'Never',
      initContainers: [{ name: 'init', command: ['crash'] }],
    });
    await host.until(() => host.the('job').status?.phase === 'Failed');
    assert.equal(host.state('job', 'init'), 'Error 2');
    assert.equal(host.state('job'), 'PodInitializing');
  });

  test('are tried again in other pods', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('crash', { ends: { after: 100, exitCode: 2 } });
    await host.pod('web', [main('serve')], { initContainers: [{ name: 'init', command: ['crash'] }] });
    await host.until(() => host.runtime.calls.includes('start init 1'));
    host.behaviours.set('crash', { ends: { after: 100, exitCode: 0 } });
    await host.until(isRunning(host, 'web'), 100_000);
    assert.equal(host.status('web', 'init').restartCount, 2);
  });

  test('sidecars hold back what follows until they are up, and go last, the last one first', async (t) => {
    const host = await SimulatedHost.create(t);
    let ready = false;
    host.behaviours.set('proxy', { stopsWithin: 100, exec: () => (ready ? 0 : 1) });
    const startupProbe = { exec: { command: ['up'] }, periodSeconds: 1, failureThreshold: 100 };
    await host.pod('web', [main('serve')], { initContainers: [{ ...sidecar('proxy'), startupProbe }, sidecar('log')] });
    await host.settle(5_000);
    assert.deepEqual(
      host.runtime.running.map(({ name }) => name),
      ['proxy'],
    );
    ready = true;
    await host.until(isRunning(host, 'web'));
    await host.delete('web');
    await host.until(() => host.find('web') === undefined);
    assert.deepEqual(
      host.runtime.calls.filter((call) => call.startsWith('SIG')),
      ['SIGTERM main 0', 'SIGTERM log 0', 'SIGTERM proxy 0'],
    );
  });

  test('a sidecar that ends is started again, and ended when the others are done', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('log', { ends: { after: 3_000, exitCode: 0 }, stopsWithin: 10 });
    host.behaviours.set('work', { ends: { after: 5_000, exitCode: 0 } });
    await host.pod('job', [main('work')], { restartPolicy: 'Never', initContainers: [sidecar('log')] });
    await host.until(() => host.the('job').status?.phase === 'Succeeded');
    assert.deepEqual(host.runtime.calls, [
      'sandbox job',
      'start log 0',
      'start main 0',
      'start log 1',
      'SIGTERM log 1',
    ]);
  });
});

describe('probes', () => {
  const command = { exec: { command: ['ask'] }, periodSeconds: 1 };

  test('make a pod ready and unready within their period', async (t) => {
    const host = await SimulatedHost.create(t);
    let answer = 1;
    host.behaviours.set('serve', { stopsWithin: 10, exec: () => answer });
    await host.pod('web', [main('serve', { readinessProbe: { ...command, failureThreshold: 1 } })]);
    await host.until(isRunning(host, 'web'));
    await host.settle(3_000);
    assert.equal(host.condition('web', 'Ready'), 'False ContainersNotReady');
    answer = 0;
    await host.settle(1_100);
    assert.equal(host.condition('web', 'Ready'), 'True');
    answer = 1;
    await host.settle(1_100);
    assert.equal(host.condition('web', 'Ready'), 'False ContainersNotReady');
    assert.equal(host.status('web').restartCount, 0);
  });

  test('are not all: a pod with gates is ready when others say so too', async (t) => {
    const host = await SimulatedHost.create(t);
    const type = 'example.com/in-the-pool';
    await host.pod('web', [main('serve')], { readinessGates: [{ conditionType: type }] });
    await host.until(isRunning(host, 'web'));
    await host.settle(1_000);
    assert.equal(host.condition('web', 'ContainersReady'), 'True');
    assert.equal(host.condition('web', 'Ready'), 'False ReadinessGatesNotReady');
    const say = async (status: 'True' | 'False'): Promise<void> => {
      const pod = host.the('web');
      const others = (pod.status?.conditions ?? []).filter((condition) => condition.type !== type);
      const conditions = [...others, { type, status, lastTransitionTime: '2026-01-01T00:00:00Z' }];
      await host.world.client.updateStatus(Pod, { ...pod, status: { ...pod.status, conditions } });
      await host.settle(1_000);
      assert.equal(host.condition('web', type), status, 'it is theirs, and stays');
    };
    await say('True');
    assert.equal(host.condition('web', 'Ready'), 'True');
    await say('False');
    assert.equal(host.condition('web', 'Ready'), 'False ReadinessGatesNotReady');
  });

  test('that find no life have the container restarted, with its grace', async (t) => {
    const host = await SimulatedHost.create(t);
    let answer = 0;
    host.behaviours.set('serve', { stopsWithin: 700, exec: () => answer });
    await host.pod('web', [main('serve', { livenessProbe: { ...command, failureThreshold: 3 } })]);
    await host.until(isRunning(host, 'web'));
    await host.settle(10_000);
    answer = 1;
    await host.settle(2_500);
    assert.equal(host.status('web').restartCount, 0);
    await host.until(() => host.runtime.calls.includes('start main 1'));
    answer = 0;
    await host.settle(10_000);
    assert.equal(host.status('web').restartCount, 1);
    const events = host.events('web');
    assert.ok(events.includes('Normal Killing: Container main failed liveness probe, will be restarted'));
    assert.ok(events.includes('Warning Unhealthy: Liveness probe failed: command exited with 1'));
  });

  test('that hang are ended by their timeout', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('serve', { stopsWithin: 10, exec: () => 'hangs' });
    await host.pod('web', [main('serve', { readinessProbe: { ...command, timeoutSeconds: 2, periodSeconds: 5 } })]);
    await host.until(isRunning(host, 'web'));
    await host.settle(2_500);
    const asked = host.runtime.calls.filter((call) => call.startsWith('exec')).length;
    assert.equal(asked, 1);
    assert.ok(
      host.events('web').includes('Warning Unhealthy: Readiness probe failed: command "ask" timed out after 2s'),
    );
    await host.settle(5_000);
    assert.equal(host.runtime.calls.filter((call) => call.startsWith('exec')).length, 2);
  });

  test('of a start hold the others back, and end what does not come up', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('serve', { stopsWithin: 10, exec: ([what]) => (what === 'up' ? 1 : 0) });
    const startupProbe = { exec: { command: ['up'] }, periodSeconds: 1, failureThreshold: 4 };
    const livenessProbe = { exec: { command: ['live'] }, periodSeconds: 1 };
    await host.pod('web', [main('serve', { startupProbe, livenessProbe })]);
    await host.until(() => host.runtime.calls.includes('start main 1'));
    const { calls } = host.runtime;
    const before = calls.slice(0, calls.indexOf('start main 1')).filter((call) => call.startsWith('exec'));
    assert.deepEqual(before, Array(4).fill('exec main up'));
  });

  test('do not begin before their delay', async (t) => {
    const host = await SimulatedHost.create(t);
    await host.pod('web', [main('serve', { livenessProbe: { ...command, initialDelaySeconds: 20 } })]);
    await host.settle(19_000);
    assert.equal(
      host.runtime.calls.some((call) => call.startsWith('exec')),
      false,
    );
    await host.settle(2_000);
    assert.equal(
      host.runtime.calls.some((call) => call.startsWith('exec')),
      true,
    );
  });
});

describe('hooks', () => {
  test('a container is ready when its postStart hook is over, and the next one starts then', async (t) => {
    const host = await SimulatedHost.create(t);
    const lifecycle = { postStart: { sleep: { seconds: 3 } } };
    await host.pod('web', [main('serve', { lifecycle }), { name: 'other', command: ['serve'] }]);
    await host.settle(2_000);
    assert.equal(host.status('web').ready, false);
    assert.deepEqual(
      host.runtime.running.map(({ name }) => name),
      ['main'],
    );
    await host.until(isRunning(host, 'web'));
    await host.until(() => host.condition('web', 'Ready') === 'True');
  });

  test('a postStart hook that fails has the container restarted', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('serve', { stopsWithin: 10, exec: () => 9 });
    await host.pod('web', [main('serve', { lifecycle: { postStart: { exec: { command: ['greet'] } } } })]);
    await host.until(() => host.runtime.calls.includes('start main 1'));
    assert.ok(host.events('web').some((event) => event.startsWith('Warning FailedPostStartHook: ')));
  });

  test('a preStop hook comes before TERM, and its time is part of the grace', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('serve', { exec: ([what]) => (what === 'hang' ? 'hangs' : 0) });
    const lifecycle = { preStop: { exec: { command: ['hang'] } } };
    await host.pod('web', [main('serve', { lifecycle })], { terminationGracePeriodSeconds: 10 });
    await host.until(isRunning(host, 'web'));
    const began = host.world.clock.now();
    await host.delete('web');
    await host.until(() => host.runtime.calls.includes('SIGKILL main 0'));
    assert.ok(host.world.clock.now() - began < 14_000);
    assert.deepEqual(host.runtime.calls.slice(2, 5), ['exec main hang', 'SIGTERM main 0', 'SIGKILL main 0']);
  });
});

describe('what a pod refers to', () => {
  const configMap = (host: SimulatedHost, data: Record<string, string>, name = 'settings') =>
    host.world.client.create(ConfigMap, { metadata: { name, namespace: NAMESPACE }, data });

  test('holds it back while it is missing, and lets it go the moment it is there', async (t) => {
    const host = await SimulatedHost.create(t);
    const volumes = [{ name: 'config', configMap: { name: 'settings' } }];
    await host.pod('web', [main('serve', { volumeMounts: [{ name: 'config', mountPath: '/etc/web' }] })], { volumes });
    await host.settle(100_000);
    assert.equal(host.state('web'), 'ContainerCreating');
    const message = 'MountVolume.SetUp failed for volume "config" : configmap "settings" not found';
    assert.equal(host.status('web').state?.waiting?.message, message);
    assert.deepEqual(host.events('web'), [`Warning FailedMount: ${message}`]);
    await configMap(host, { mode: 'fast' });
    await host.settle(500);
    assert.equal(host.the('web').status?.phase, 'Running');
    const [spec] = host.runtime.specs.values();
    const mount = spec?.mounts.find(({ target }) => target === '/etc/web');
    assert.equal(readFileSync(path.join(mount?.source ?? '', 'mode'), 'utf8'), 'fast');
  });

  test('is seen at once when it changes', async (t) => {
    const host = await SimulatedHost.create(t);
    await configMap(host, { mode: 'fast', old: 'yes' });
    const volumes = [{ name: 'config', configMap: { name: 'settings' } }];
    await host.pod('web', [main('serve', { volumeMounts: [{ name: 'config', mountPath: '/etc/web' }] })], { volumes });
    await host.until(isRunning(host, 'web'));
    await host.world.client.patch(
      ConfigMap,
      { namespace: NAMESPACE, name: 'settings' },
      { merge: { data: { mode: 'slow', old: null } } },
    );
    await host.settle(500);
    const folder =
      [...host.runtime.specs.values()][0]?.mounts.find(({ target }) => target === '/etc/web')?.source ?? '';
    assert.equal(readFileSync(path.join(folder, 'mode'), 'utf8'), 'slow');
    assert.equal(existsSync(path.join(folder, 'old')), false);
  });

  test('becomes its variables; what is missing is named', async (t) => {
    const host = await SimulatedHost.create(t);
    const env = [
      { name: 'MODE', valueFrom: { configMapKeyRef: { name: 'settings', key: 'mode' } } },
      { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'access', key: 'password' } } },
      { name: 'BOTH', value: '$(MODE)-$(PASSWORD)-$(NOBODY)-$$(MODE)' },
    ];
    await host.pod('web', [main('serve', { env })]);
    await host.settle(1_000);
    assert.equal(host.state('web'), 'CreateContainerConfigError');
    assert.equal(host.status('web').state?.waiting?.message, 'configmap "settings" not found');
    await configMap(host, { mode: 'fast' });
    await host.settle(500);
    assert.equal(host.status('web').state?.waiting?.message, 'secret "access" not found');
    const password = Buffer.from('hunter2').toString('base64');
    await host.world.client.create(Secret, { metadata: { name: 'access', namespace: NAMESPACE }, data: { password } });
    await host.until(isRunning(host, 'web'));
    const [spec] = host.runtime.specs.values();
    assert.equal(new Map(spec?.env).get('BOTH'), 'fast-hunter2-$(NOBODY)-$(MODE)');
  });

  test('is followed for as long as some pod needs it', async (t) => {
    const host = await SimulatedHost.create(t);
    await configMap(host, {});
    const volumes = [{ name: 'config', configMap: { name: 'settings' } }];
    await host.pod('one', [main('serve')], { volumes });
    await host.pod('two', [main('serve')], { volumes });
    await host.until(() => isRunning(host, 'one')() && isRunning(host, 'two')());
    const lists = () => host.world.api.requests.get('list configmaps') ?? 0;
    assert.equal(lists(), 1);
    await host.delete('one');
    await host.until(() => host.find('one') === undefined);
    await host.pod('three', [main('serve')], { volumes });
    await host.until(isRunning(host, 'three'));
    assert.equal(lists(), 1);
    await host.delete('two');
    await host.delete('three');
    await host.until(() => host.find('two') === undefined && host.find('three') === undefined);
    await host.pod('four', [main('serve')], { volumes });
    await host.until(isRunning(host, 'four'));
    assert.equal(lists(), 2);
  });

  test('a command is needed: there is no image to take one from', async (t) => {
    const host = await SimulatedHost.create(t);
    await host.pod('web', [{ name: 'main', image: 'nginx' }]);
    await host.settle(100_000);
    assert.equal(host.state('web'), 'CreateContainerConfigError');
    assert.match(
      host.status('web').state?.waiting?.message ?? '',
      /names no command, and images are never pulled here/,
    );
    assert.equal(host.events('web').length, 1);
  });
});

describe('a new agent', () => {
  test('takes over what runs, without a restart and without a word', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('serve', { stopsWithin: 10, exec: () => 0 });
    const readinessProbe = { exec: { command: ['ask'] }, periodSeconds: 5 };
    await host.pod('web', [main('serve', { readinessProbe })]);
    await host.until(() => host.condition('web', 'Ready') === 'True');
    const before = host.the('web');
    await host.quit();
    await host.settle(60_000);
    await host.begin();
    await host.settle(20_000);
    assert.deepEqual(host.the('web'), before);
    assert.deepEqual(
      host.runtime.calls.filter((call) => !call.startsWith('exec')),
      ['sandbox web', 'start main 0'],
    );
    await host.pod('more', [main('serve')]);
    await host.until(isRunning(host, 'more'));
    assert.equal(host.the('more').status?.podIP, '10.244.7.2');
  });

  test('starts again what has ended meanwhile, and waits no less for it', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('crash', { ends: { after: 1_000, exitCode: 1 } });
    await host.pod('web', [main('crash')]);
    await host.until(() => host.runtime.calls.includes('start main 2'));
    await host.quit();
    await host.settle(2_000);
    await host.begin();
    await host.settle(15_000);
    assert.equal(host.state('web'), 'CrashLoopBackOff');
    assert.equal(host.status('web').restartCount, 2);
    await host.settle(5_000);
    assert.ok(host.runtime.calls.includes('start main 3'));
  });

  test('ends and removes what was taken out of the API meanwhile, and nothing else', async (t) => {
    const host = await SimulatedHost.create(t);
    const lost = await host.pod('lost', [main('serve')]);
    const kept = await host.pod('kept', [main('serve')]);
    await host.until(() => isRunning(host, 'lost')() && isRunning(host, 'kept')());
    await host.quit();
    await host.delete('lost', 0);
    writeFileSync(path.join(host.directory, 'something-else'), '');
    await host.begin();
    await host.until(() => !existsSync(path.join(host.directory, 'pods', lost.metadata.uid)));
    assert.deepEqual(host.runtime.sandboxes, [kept.metadata.uid]);
    assert.deepEqual([...host.network.attached.keys()], [kept.metadata.uid]);
    assert.equal(existsSync(path.join(host.directory, 'pods', kept.metadata.uid)), true);
    assert.equal(existsSync(path.join(host.directory, 'something-else')), true);
    assert.ok(host.runtime.calls.includes('SIGTERM main 0'));
  });

  test('after the machine was started anew runs the pods anew, and says what was lost', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('init', { ends: { after: 10, exitCode: 0 } });
    await host.pod('web', [main('serve')], { initContainers: [{ name: 'init', command: ['init'] }] });
    await host.pod('job', [main('serve')], { restartPolicy: 'Never' });
    await host.until(() => isRunning(host, 'web')() && isRunning(host, 'job')());
    await host.quit();
    host.runtime.lose();
    host.network.attached.clear();
    await host.begin();
    await host.until(() => host.the('job').status?.phase === 'Failed');
    assert.equal(host.state('job'), 'ContainerStatusUnknown 137');
    await host.until(() => host.runtime.calls.includes('start main 1'));
    await host.settle(500);
    assert.ok(host.runtime.calls.includes('start init 1'));
    assert.equal(host.state('web'), 'Running');
    assert.equal(host.status('web').restartCount, 1);
    const { reason, finishedAt } = host.status('web').lastState?.terminated ?? {};
    assert.deepEqual([reason, finishedAt], ['ContainerStatusUnknown', undefined]);
  });

  test('goes on with a deletion', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('slow', { stopsWithin: 5_000 });
    await host.pod('web', [main('slow')]);
    await host.until(isRunning(host, 'web'));
    await host.delete('web');
    await host.settle(1_000);
    await host.quit();
    await host.begin();
    await host.until(() => host.find('web') === undefined);
    assert.deepEqual(host.runtime.sandboxes, []);
  });
});

describe('while others are away', () => {
  test('without the API, pods go on, are restarted, and what happened is told later', async (t) => {
    const host = await SimulatedHost.create(t);
    host.behaviours.set('crash', { ends: { after: 60_000, exitCode: 1 } });
    await host.pod('web', [main('crash')]);
    await host.until(isRunning(host, 'web'));
    host.world.api.stop();
    await host.settle(600_000);
    const starts = host.runtime.calls.filter((call) => call.startsWith('start')).length;
    assert.ok(starts >= 5, `${starts} starts`);
    host.world.api.start();
    await host.until(() => host.status('web').restartCount >= starts - 1);
  });

  test('without the runtime, nothing is concluded', async (t) => {
    const host = await SimulatedHost.create(t);
    host.runtime.away = new Error('the supervisor does not answer');
    await host.pod('web', [main('serve')]);
    await host.settle(5_000);
    assert.match(host.status('web').state?.waiting?.message ?? '', /the supervisor does not answer/);
    host.runtime.away = undefined;
    await host.until(isRunning(host, 'web'));
    host.runtime.away = new Error('the supervisor does not answer');
    await host.delete('web');
    await host.settle(60_000);
    assert.ok(host.find('web'));
    host.runtime.away = undefined;
    await host.until(() => host.find('web') === undefined);
  });

  test('a pod that is written by others at the same time still says what is true', async (t) => {
    const host = await SimulatedHost.create(t);
    await host.pod('web', [main('serve')]);
    for (let i = 0; i < 5; i += 1) {
      await host.settle(1);
      await host.world.client.patch(
        Pod,
        { namespace: NAMESPACE, name: 'web' },
        { merge: { metadata: { labels: { n: `${i}` } } } },
      );
    }
    await host.until(isRunning(host, 'web'));
    assert.equal(host.the('web').metadata.labels?.['n'], '4');
  });
});
