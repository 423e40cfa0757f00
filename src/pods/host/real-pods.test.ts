import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../../../test/engine/engine-in-test.ts';
import { ConfigMap, Secret } from '../../api/core/config.ts';
import { needsRoot } from '../../linux/network.fixture.ts';
import { mountPoints } from '../../linux/tmpfs.ts';
import { NAMESPACE, STAY, shell, statusIn } from './pods-by-api.fixture.ts';
import { hasNetwork, RealHost } from './real-host.fixture.ts';

describe('a pod on a real host', needsRoot, () => {
  test('runs a command of the host, and nothing is left when it is deleted', async (t) => {
    const host = await RealHost.start(t);
    const { metadata } = await host.script('web', `echo "I am $HOSTNAME"; ${STAY}`);
    const pod = await host.ready('web');
    assert.equal(pod.status?.podIP, host.podCidr.replace('.0/24', '.1'));
    assert.ok(hasNetwork(metadata.uid));
    await eventually(
      async () => host.log(pod),
      (log) => log === 'I am web\n',
    );
    await host.delete('web');
    await host.gone('web');
    assert.equal(hasNetwork(metadata.uid), false);
    assert.deepEqual(await host.machine.runtime.list(), { sandboxes: [], containers: [] });
    const left = ['pods', 'logs', 'containers'].map((folder) => path.join(host.machine.stateDirectory, folder));
    assert.deepEqual(
      left.filter(existsSync).flatMap((folder) => readdirSync(folder)),
      [],
    );
  });

  test('finds its volumes, variables, names and identity', async (t) => {
    const host = await RealHost.start(t);
    const metadata = { namespace: NAMESPACE };
    await host.client.create(ConfigMap, {
      metadata: { ...metadata, name: 'settings' },
      data: { mode: 'fast', odd: 'x' },
    });
    await host.client.create(Secret, {
      metadata: { ...metadata, name: 'access' },
      data: { password: Buffer.from('hunter2').toString('base64') },
    });
    const mkdir = path.join(host.machine.folder, 'of-host');
    const script = `
      echo "user $(id -u):$(id -g) groups $(id -G) in $(pwd)"
      echo "mode $(cat /config/mode), $(ls /config)"
      echo "password $(cat /secret/password) $(stat -c '%a %g' -L /secret/password)"
      echo "labels $(cat /about/labels)"
      echo "one file $(cat /etc/one.conf)"
      echo written > /shared/new && stat -c 'shared %a %g' /shared; stat -c 'new %g' /shared/new
      df -P /memory | tail -1 | awk '{print "memory", $1, $2}'
      touch /config/x 2>/dev/null || echo 'config is read-only'
      cat /host/file; echo "$MODE $PASSWORD $IP"
      grep -c "$IP" /etc/hosts; grep nameserver /etc/resolv.conf; cat /etc/hostname
      test -s /var/run/secrets/kubernetes.io/serviceaccount/token && echo token
      echo the end > /dev/termination-log`;
    mkdirSync(mkdir);
    writeFileSync(path.join(mkdir, 'file'), 'of the host\n');
    const podIP = { valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } };
    const { output, exitCode, pod } = await host.result(
      'web',
      script,
      {
        workingDir: '/shared',
        env: [
          { name: 'MODE', valueFrom: { configMapKeyRef: { name: 'settings', key: 'mode' } } },
          { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'access', key: 'password' } } },
          { name: 'IP', ...podIP },
        ],
        volumeMounts: [
          { name: 'config', mountPath: '/config' },
          { name: 'config', mountPath: '/etc/one.conf', subPath: 'mode' },
          { name: 'secret', mountPath: '/secret' },
          { name: 'about', mountPath: '/about' },
          { name: 'shared', mountPath: '/shared', subPath: 'deep/inside' },
          { name: 'memory', mountPath: '/memory' },
          { name: 'host', mountPath: '/host', readOnly: true },
        ],
      },
      {
        securityContext: { runAsUser: 1234, runAsGroup: 1235, fsGroup: 1236 },
        volumes: [
          { name: 'config', configMap: { name: 'settings' } },
          { name: 'secret', secret: { secretName: 'access', defaultMode: 0o400 } },
          { name: 'about', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.name' } }] } },
          { name: 'shared', emptyDir: {} },
          { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '2Mi' } },
          { name: 'host', hostPath: { path: mkdir, type: 'Directory' } },
        ],
      },
    );
    assert.deepEqual(output.trimEnd().split('\n'), [
      'user 1234:1235 groups 1235 1236 in /shared',
      'mode fast, mode',
      'odd',
      'password hunter2 440 1236',
      'labels web',
      'one file fast',
      'shared 2777 1236',
      'new 1236',
      'memory netloom 2048',
      'config is read-only',
      'of the host',
      `fast hunter2 ${pod.status?.podIP}`,
      '1',
      'nameserver 10.96.0.10',
      'web',
      'token',
    ]);
    assert.equal(exitCode, 0);
    assert.equal(statusIn(pod).state?.terminated?.message, 'the end\n');
  });

  test('gets another token before the one that it has is over, and not with another agent', async (t) => {
    const host = await RealHost.start(t);
    const script = `last=; while :; do
      now=$(cut -d. -f3 /t/token); if [ "$now" != "$last" ]; then echo "$now"; last=$now; fi; sleep 0.05
    done`;
    const serviceAccountToken = { path: 'token', audience: 'vault', expirationSeconds: 600 };
    await host.script(
      'web',
      script,
      { volumeMounts: [{ name: 't', mountPath: '/t' }] },
      { volumes: [{ name: 't', projected: { sources: [{ serviceAccountToken }] } }] },
    );
    const pod = await host.running('web');
    const tokens = (): number => new Set(host.log(pod).trimEnd().split('\n')).size;
    await eventually(
      async () => tokens(),
      (count) => count === 1,
    );
    host.ahead = 450_000;
    await host.quit();
    await host.begin();
    await host.script('other', STAY);
    await host.running('other');
    assert.equal(tokens(), 1, 'four fifths of its life are not over');
    host.ahead = 490_000;
    host.host.look();
    await eventually(
      async () => tokens(),
      (count) => count === 2,
    );
  });

  test('has volumes in memory of the size that they say, and no larger than its memory', async (t) => {
    const host = await RealHost.start(t);
    const of = (name: string, sizeLimit?: string) => ({
      name,
      emptyDir: { medium: 'Memory', ...(sizeLimit === undefined ? {} : { sizeLimit }) },
    });
    const { output } = await host.result(
      'volumes',
      "for each in open small large; do df -P --block-size=1M /$each | tail -1 | awk '{print $6, $2}'; done",
      {
        resources: { limits: { memory: '64Mi' } },
        volumeMounts: ['open', 'small', 'large'].map((name) => ({ name, mountPath: `/${name}` })),
      },
      { volumes: [of('open'), of('small', '2Mi'), of('large', '1Gi')] },
    );
    assert.equal(output, '/open 64\n/small 2\n/large 64\n');
  });

  test('has memory that its containers share, and no others', async (t) => {
    const host = await RealHost.start(t);
    const containers = [
      shell('echo shared > /dev/shm/word; echo "$(stat -f -c %T /dev/shm)"', { name: 'writes' }),
      shell('until cat /dev/shm/word; do sleep 0.1; done 2>/dev/null', { name: 'reads' }),
    ];
    await host.pod('pair', containers, { restartPolicy: 'Never' });
    const { metadata, status } = await host.finished('pair');
    assert.equal(status?.phase, 'Succeeded');
    assert.equal(host.log(await host.finished('pair'), 'reads'), 'shared\n');
    const { output } = await host.result('alone', 'ls -A /dev/shm; stat -c %a /dev/shm');
    assert.equal(output, '1777\n');
    await eventually(
      async () => mountPoints(path.join(host.machine.stateDirectory, 'pods', metadata.uid)),
      (points) => points.length === 0,
    );
  });

  test('sees a change of what it mounts at once, except by subPath', async (t) => {
    const host = await RealHost.start(t);
    const name = { name: 'settings', namespace: NAMESPACE };
    await host.client.create(ConfigMap, { metadata: name, data: { mode: 'old' } });
    const script = `while [ "$(cat /config/mode)" = old ]; do sleep 0.05; done; echo "now $(cat /config/mode), $(cat /one)"; ${STAY}`;
    const volumeMounts = [
      { name: 'config', mountPath: '/config' },
      { name: 'config', mountPath: '/one', subPath: 'mode' },
    ];
    await host.script(
      'web',
      script,
      { volumeMounts },
      { volumes: [{ name: 'config', configMap: { name: 'settings' } }] },
    );
    const pod = await host.running('web');
    await host.client.patch(ConfigMap, name, { merge: { data: { mode: 'new' } } });
    await eventually(
      async () => host.log(pod),
      (log) => log === 'now new, old\n',
    );
  });

  test('is asked by probes for its health, at its own address', async (t) => {
    const host = await RealHost.start(t);
    const readinessProbe = { httpGet: { path: '/ready', port: 'web' }, periodSeconds: 1, failureThreshold: 1 };
    const script = 'mkdir -p /tmp/www && cd /tmp/www && exec python3 -m http.server 8080';
    await host.script('web', script, {
      ports: [{ name: 'web', containerPort: 8080 }],
      readinessProbe,
      livenessProbe: { tcpSocket: { port: 8080 }, initialDelaySeconds: 3, periodSeconds: 1 },
    });
    await host.until('web', (pod) => statusIn(pod).started === true);
    const unready = await host.until('web', (pod) =>
      (pod.status?.conditions ?? []).some(({ reason }) => reason === 'ContainersNotReady'),
    );
    const containerId = statusIn(unready).containerID?.replace('netloom://', '') ?? '';
    await eventually(
      () => host.events('web'),
      (events) =>
        events.some((event) => /Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 404/.test(event)),
    );
    assert.equal((await host.machine.exec({ id: containerId }, 'touch /tmp/www/ready')).exitCode, 0);
    await host.ready('web');
    assert.equal((await host.machine.exec({ id: containerId }, 'rm /tmp/www/ready')).exitCode, 0);
    const again = await host.until('web', (pod) => !statusIn(pod).ready);
    assert.equal(statusIn(again).restartCount, 0);
  });

  test('runs its hooks inside its containers', async (t) => {
    const host = await RealHost.start(t);
    const lifecycle = {
      postStart: { exec: { command: ['sh', '-c', 'echo begun > /shared/begun'] } },
      preStop: { exec: { command: ['sh', '-c', 'echo ended > /shared/ended'] } },
    };
    const shared = path.join(host.machine.folder, 'shared');
    const volumes = [{ name: 'shared', hostPath: { path: shared, type: 'DirectoryOrCreate' } }];
    await host.script(
      'web',
      STAY,
      { lifecycle, volumeMounts: [{ name: 'shared', mountPath: '/shared' }] },
      { volumes },
    );
    await host.ready('web');
    assert.equal(readFileSync(path.join(shared, 'begun'), 'utf8'), 'begun\n');
    await host.delete('web');
    await host.gone('web');
    assert.equal(readFileSync(path.join(shared, 'ended'), 'utf8'), 'ended\n');
  });

  test('starts in order: init containers, sidecars, then the others', async (t) => {
    const host = await RealHost.start(t);
    const volumeMounts = [{ name: 'shared', mountPath: '/shared' }];
    const initContainers = [
      shell('echo init >> /shared/order', { name: 'init', volumeMounts }),
      shell(`echo sidecar >> /shared/order; ${STAY}`, { name: 'sidecar', restartPolicy: 'Always', volumeMounts }),
    ];
    const { output, exitCode, pod } = await host.result(
      'web',
      'until [ "$(wc -l < /shared/order)" = 2 ]; do sleep 0.05; done; cat /shared/order',
      { volumeMounts },
      { initContainers, volumes: [{ name: 'shared', emptyDir: {} }] },
    );
    assert.deepEqual([output, exitCode], ['init\nsidecar\n', 0]);
    assert.equal(statusIn(pod, 'sidecar').state?.terminated?.exitCode, 0);
  });
});

describe('a new agent', needsRoot, () => {
  test('finds what runs, and touches nothing', async (t) => {
    const host = await RealHost.start(t);
    await host.script('web', STAY);
    const before = await host.ready('web');
    await host.quit();
    await host.begin();
    await host.script('other', STAY);
    await host.ready('other');
    assert.deepEqual(await host.get('web'), before);
    const { current } = host.host.find(NAMESPACE, 'web')?.container('main') ?? {};
    assert.deepEqual([current?.phase, current?.attempt], ['running', 0]);
  });

  test('is not needed for what runs: a supervisor that dies takes its containers along, and they are started anew', async (t) => {
    const host = await RealHost.start(t);
    await host.script('web', STAY, {}, { initContainers: [shell('true', { name: 'init' })] });
    await host.ready('web');
    process.kill(supervisorOf(host.machine.cgroup), 'SIGKILL');
    await host.until('web', (pod) => statusIn(pod).restartCount === 1 && statusIn(pod).ready);
    const pod = await host.ready('web');
    assert.equal(statusIn(pod, 'init').restartCount, 1);
    assert.equal(statusIn(pod).lastState?.terminated?.exitCode, 137);
  });
});

function supervisorOf(cgroup: string): number {
  const found = readdirSync('/proc').find((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(`netloom-supervisor ${cgroup}\0`);
    } catch {
      return false;
    }
  });
  assert.ok(found, 'there is no supervisor');
  return Number(found);
}

describe('what goes wrong in a pod', needsRoot, () => {
  test('is said there, and others do not notice', async (t) => {
    const host = await RealHost.start(t);
    await host.script('good', STAY);
    const good = await host.ready('good');

    await host.pod('command', [{ name: 'main', image: 'host', command: ['no-such-command'] }]);
    await host.script(
      'config',
      STAY,
      { volumeMounts: [{ name: 'c', mountPath: '/c' }] },
      { volumes: [{ name: 'c', configMap: { name: 'missing' } }] },
    );
    await host.script(
      'path',
      STAY,
      { volumeMounts: [{ name: 'e', mountPath: '/etc/passwd/x' }] },
      { volumes: [{ name: 'e', emptyDir: {} }] },
    );
    await host.script('hangs', STAY, { readinessProbe: { exec: { command: ['sleep', '1000'] }, periodSeconds: 1 } });
    await host.script('bomb', 'f() { f | f & wait; }; f', { resources: { limits: { memory: '256Mi', cpu: '400m' } } });
    await host.script('disk', 'yes "a line of some length that fills disks when nobody looks" ', {
      resources: { limits: { cpu: '300m' } },
    });
    await host.pod('claim', [shell(STAY)], {
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } } as never],
    });

    const command = await host.until('command', (pod) => statusIn(pod).state?.waiting?.reason === 'CrashLoopBackOff');
    assert.equal(
      statusIn(command).lastState?.terminated?.message,
      'exec: "no-such-command": executable file not found in $PATH',
    );
    const config = await host.until('config', (pod) => statusIn(pod).state?.waiting?.message !== undefined);
    assert.match(statusIn(config).state?.waiting?.message ?? '', /configmap "missing" not found/);
    const bad = await host.until('path', (pod) => statusIn(pod).state?.waiting?.reason === 'CreateContainerError');
    assert.match(statusIn(bad).state?.waiting?.message ?? '', /nothing can be mounted at \/etc\/passwd\/x/);
    const claim = await host.until('claim', (pod) => statusIn(pod).state?.waiting?.message !== undefined);
    assert.match(
      statusIn(claim).state?.waiting?.message ?? '',
      /this host has no volumes of kind persistentVolumeClaim: use emptyDir/,
    );
    await eventually(
      () => host.events('hangs'),
      (events) => events.includes('Warning Unhealthy: Readiness probe failed: command "sleep 1000" timed out after 1s'),
    );
    await host.running('disk');

    assert.deepEqual(await host.get('good'), good);
    await host.client.create(ConfigMap, { metadata: { name: 'missing', namespace: NAMESPACE } });
    await host.ready('config');
    const all = ['bomb', 'disk', 'hangs', 'command', 'path', 'claim'];
    await Promise.all(all.map((name) => host.delete(name)));
    await Promise.all(all.map((name) => host.gone(name)));
    assert.deepEqual(await host.get('good'), good);
  });

  test('is ended by the kernel alone when it takes more memory than it may, and says so', async (t) => {
    const host = await RealHost.start(t);
    const hog = 'exec perl -e \'$x = "a" x 300_000_000; sleep 1000\'';
    const { pod } = await host.result('hog', hog, { resources: { limits: { memory: '64Mi' } } });
    const { exitCode, reason } = statusIn(pod).state?.terminated ?? {};
    assert.deepEqual([exitCode, reason], [137, 'OOMKilled']);
  });

  test('is gone when it is deleted, however deep the folders are that it has made', async (t) => {
    const host = await RealHost.start(t);
    const dig =
      'for my $d ("/v", "/tmp") { chdir $d; for (1..200) { mkdir "d" x 60; chdir "d" x 60 or die } } print "dug\\n"';
    await host.pod(
      'deep',
      [
        {
          name: 'main',
          image: 'host',
          command: ['perl', '-e', dig],
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
        },
      ],
      { restartPolicy: 'Never', volumes: [{ name: 'v', emptyDir: {} }] },
    );
    assert.equal(host.log(await host.finished('deep')), 'dug\n');
    await host.delete('deep');
    const { stateDirectory } = host.machine;
    const folders = [path.join(stateDirectory, 'pods'), path.join(stateDirectory, 'containers')];
    await eventually(
      async () => folders.flatMap((folder) => readdirSync(folder)),
      (left) => left.length === 0,
    );
  });

  test('stays inside: links, dots and odd names in volumes lead nowhere', async (t) => {
    const host = await RealHost.start(t);
    const shared = path.join(host.machine.folder, 'shared');
    const outside = path.join(host.machine.folder, 'outside');
    for (const folder of [shared, outside]) mkdirSync(folder);
    symlinkSync(outside, path.join(shared, 'out'));
    symlinkSync('../../../../../..', path.join(shared, 'up'));
    const volumes = [{ name: 'shared', hostPath: { path: shared } }];
    const mounting = (name: string, subPath: string) =>
      host.script(
        name,
        'touch /data/was-here',
        { volumeMounts: [{ name: 'shared', mountPath: '/data', subPath }] },
        { volumes, restartPolicy: 'Never' },
      );
    await mounting('out', 'out');
    await mounting('up', 'up/tmp');
    await mounting('odd', 'a b\n$(HOME)');
    for (const name of ['out', 'up']) {
      const pod = await host.until(name, (found) => statusIn(found).state?.waiting?.reason === 'CreateContainerError');
      assert.match(statusIn(pod).state?.waiting?.message ?? '', /leads out of the volume/);
    }
    await host.until('odd', ({ status }) => status?.phase === 'Succeeded');
    assert.ok(existsSync(path.join(shared, 'a b\n$(HOME)', 'was-here')));
    assert.deepEqual(readdirSync(outside), []);
  });
});
