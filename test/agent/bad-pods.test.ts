import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { ConfigMap, Secret } from '../../src/api/core/config.ts';
import type { Container, PodSpec, Volume } from '../../src/api/core/pod.ts';
import { NAMESPACE, STAY, shell, statusIn } from '../../src/pods/host/pods-by-api.fixture.ts';
import { PodsOnMachine } from './pods-on-machine.ts';

const needsRoot = { skip: process.getuid?.() === 0 ? false : 'needs root' };

const mounting = (volume: Omit<Volume, 'name'>, mount: { mountPath?: string; subPath?: string } = {}) =>
  [
    { volumeMounts: [{ name: 'v', mountPath: '/v', ...mount }] } as Partial<Container>,
    { volumes: [{ name: 'v', ...volume }] } as Partial<PodSpec>,
  ] as const;

describe('a pod that cannot be as it is described', needsRoot, () => {
  let pods: PodsOnMachine;
  before(async () => {
    pods = await PodsOnMachine.start();
  });
  after(() => pods.end());
  afterEach(() => pods.neighbourIsUndisturbed());

  test('says which command is not there, and is tried again ever more rarely', async () => {
    await pods.pod('command', [{ name: 'main', image: 'host', command: ['no-such-command'] }]);
    const message = await pods.waiting('command', 'CrashLoopBackOff');
    assert.match(message, /^back-off 10s restarting failed container=main pod=command_default\([0-9a-f-]+\)$/);
    const pod = await pods.until('command', (found) => statusIn(found).lastState?.terminated !== undefined);
    const { terminated } = statusIn(pod).lastState ?? {};
    assert.equal(terminated?.reason, 'StartError');
    assert.equal(terminated?.exitCode, 128);
    assert.equal(terminated?.message, 'exec: "no-such-command": executable file not found in $PATH');
    assert.equal(pod.status?.phase, 'Running', 'as on a kubelet: it was tried');
    await pods.event('command', /^Warning Failed: Error: exec: "no-such-command"/);
    await pods.event('command', /^Warning BackOff: Back-off restarting failed container main in pod command_default/);
  });

  test('says what cannot be executed', async () => {
    await pods.pod('file', [{ name: 'main', image: 'host', command: ['/etc/passwd'] }], { restartPolicy: 'Never' });
    const { terminated } = statusIn(await pods.finished('file')).state ?? {};
    assert.deepEqual(
      [terminated?.reason, terminated?.message],
      ['StartError', 'exec: "/etc/passwd": permission denied'],
    );
    const { stderr } = await pods.machine.attempt(pods.machine.program, ['logs', 'file']);
    assert.match(stderr, /container "main" in pod "file" is waiting to start: StartError/);
  });

  test('says where it cannot work, and that it names no command', async () => {
    await pods.script('folder', STAY, { workingDir: '/etc/passwd' });
    assert.equal(
      await pods.waiting('folder', 'CreateContainerError'),
      'the working directory /etc/passwd cannot be entered: it is no directory',
    );
    await pods.pod('idle', [{ name: 'main', image: 'nginx' }]);
    assert.match(await pods.waiting('idle', 'CreateContainerConfigError'), /container main names no command/);
  });

  test('waits for the objects that its variables are made of, and goes on as soon as they are there', async () => {
    const env = [
      { name: 'A', valueFrom: { configMapKeyRef: { name: 'env', key: 'a' } } },
      { name: 'B', valueFrom: { secretKeyRef: { name: 'env', key: 'b' } } },
    ];
    await pods.script('env', `echo $A $B; ${STAY}`, { env });
    const reason = 'CreateContainerConfigError';
    assert.equal(await pods.waiting('env', reason), 'configmap "env" not found');
    const { stderr } = await pods.machine.attempt(pods.machine.program, ['logs', 'env']);
    assert.match(stderr, /container "main" in pod "env" is waiting to start: CreateContainerConfigError/);
    const metadata = { name: 'env', namespace: NAMESPACE };
    await pods.client.create(ConfigMap, { metadata, data: { other: 'x' } });
    await pods.until('env', says("couldn't find key a in ConfigMap default/env"));
    await pods.client.patch(ConfigMap, metadata, { merge: { data: { a: 'one' } } });
    await pods.until('env', says('secret "env" not found'));
    await pods.client.create(Secret, { metadata, data: { b: Buffer.from('two').toString('base64') } });
    const pod = await pods.running('env');
    await pods.logged(pod, (log) => log === 'one two\n');
    assert.equal(statusIn(pod).restartCount, 0);
    await pods.event('env', /^Warning Failed: Error: configmap "env" not found/);
  });

  test('waits for the objects that its volumes are made of, and goes on as soon as they are there', async () => {
    await pods.script('map', `cat /v/*; ${STAY}`, ...mounting({ configMap: { name: 'map' } }));
    await pods.script(
      'key',
      `cat /v/*; ${STAY}`,
      ...mounting({ secret: { secretName: 'key', items: [{ key: 'a', path: 'a' }] } }),
    );
    const reason = 'ContainerCreating';
    await pods.until('map', says('MountVolume.SetUp failed for volume "v" : configmap "map" not found'));
    await pods.until('key', says('MountVolume.SetUp failed for volume "v" : secret "key" not found'));
    assert.match(await pods.waiting('map', reason), /configmap "map" not found/);
    await pods.event('map', /^Warning FailedMount: MountVolume.SetUp failed for volume "v"/);
    await pods.client.create(ConfigMap, { metadata: { name: 'map', namespace: NAMESPACE }, data: { a: 'from map\n' } });
    await pods.client.create(Secret, { metadata: { name: 'key', namespace: NAMESPACE } });
    await pods.until('key', says('MountVolume.SetUp failed for volume "v" : references non-existent secret key: a'));
    const data = { a: Buffer.from('from secret\n').toString('base64') };
    await pods.client.patch(Secret, { name: 'key', namespace: NAMESPACE }, { merge: { data } });
    for (const name of ['map', 'key']) {
      const pod = await pods.running(name);
      await pods.logged(pod, (log) => log === (name === 'map' ? 'from map\n' : 'from secret\n'));
    }
  });

  for (const [name, mountPath, why] of [
    ['file', '/etc/passwd/x', /nothing can be mounted at \/etc\/passwd\/x: "etc\/passwd\/x" is below something/],
    ['proc', '/proc/sys', /nothing can be mounted at \/proc\/sys: it is below \/proc/],
    ['root', '/../..', /nothing can be mounted at \/: it is the root/],
  ] as const) {
    test(`says that nothing can be mounted at ${mountPath}`, async () => {
      await pods.script(`at-${name}`, STAY, ...mounting({ emptyDir: {} }, { mountPath }));
      assert.match(await pods.waiting(`at-${name}`, 'CreateContainerError'), why);
    });
  }

  test('mounts inside its own root whatever dots the path has', async () => {
    const { output } = await pods.result(
      'dots',
      'echo in > /inside/x; ls /inside; ls -d /../inside; test ! -e /v && echo once',
      ...mounting({ emptyDir: {} }, { mountPath: '/v/../../../inside' }),
    );
    assert.equal(output, 'x\n/../inside\nonce\n');
  });

  test('is refused by the API when a subPath leads upwards', async () => {
    for (const subPath of ['..', 'a/../..', '/etc']) {
      await assert.rejects(
        pods.script('upwards', STAY, ...mounting({ emptyDir: {} }, { subPath })),
        /volumeMounts\.subPath: Invalid value/,
      );
    }
    const [container, spec] = mounting({ emptyDir: {} });
    const volumeMounts = [{ name: 'v', mountPath: '/v', subPathExpr: '$(WAY)' }];
    await pods.script('by-expr', STAY, { ...container, volumeMounts, env: [{ name: 'WAY', value: '../..' }] }, spec);
    assert.match(await pods.waiting('by-expr', 'CreateContainerConfigError'), /must not contain '\.\.'/);
  });

  test('says that a path of the host is of another type', async () => {
    const file = join(pods.machine.folder, 'a-file');
    writeFileSync(file, '');
    for (const [name, path, type, why] of [
      ['type-directory', file, 'Directory', `hostPath type check failed: ${file} is not a directory`],
      ['type-socket', file, 'Socket', `hostPath type check failed: ${file} is not a socket file`],
      [
        'type-none',
        `${file}x`,
        'File',
        `hostPath type check failed: ${file}x does not exist, and is to be of type File`,
      ],
    ] as const) {
      await pods.script(name, STAY, ...mounting({ hostPath: { path, type } }));
      await pods.until(name, says(`MountVolume.SetUp failed for volume "v" : ${why}`));
    }
  });

  test('is not led out of a volume by a link that another container has put there', async () => {
    const outside = join(pods.machine.folder, 'outside');
    mkdirSync(outside);
    const volumes = [{ name: 'v', emptyDir: {} }];
    const volumeMounts = [{ name: 'v', mountPath: '/v' }];
    const initContainers = [
      shell(
        `ln -s ${outside} /v/absolute; ln -s ../../../../../../../../../..${outside} /v/relative; mkdir /v/real; ln -s real /v/inner`,
        {
          name: 'links',
          volumeMounts,
        },
      ),
    ];
    const by = (name: string, subPath: string): Container =>
      shell('echo here > /v/x', { name, volumeMounts: [{ name: 'v', mountPath: '/v', subPath }] });
    await pods.pod('links', [by('absolute', 'absolute'), by('relative', 'relative/deeper'), by('inner', 'inner')], {
      ...{ volumes, initContainers, restartPolicy: 'Never' },
    });
    for (const name of ['absolute', 'relative']) {
      assert.match(await pods.waiting('links', 'CreateContainerError', name), /leads out of the volume/);
    }
    await pods.until('links', (pod) => statusIn(pod, 'inner').state?.terminated?.exitCode === 0);
    assert.deepEqual(readdirSync(outside), []);
  });

  test('is kept from filling the disk: its log loses its beginning, and it is evicted when a volume has too much', async () => {
    const lines =
      "yes 'a line of some length that fills disks when nobody looks at it' | head -c 100000000; echo; echo the end";
    await pods.script('log', `${lines}; ${STAY}`);
    const [container, spec] = mounting({ emptyDir: { sizeLimit: '1Mi' } });
    await pods.script('volume', `head -c 3000000 /dev/zero > /v/file; ${STAY}`, container, spec);
    const pod = await pods.running('log');
    await pods.machine.eventually(
      () => pods.machine.kubectl('logs log --tail=1'),
      (log) => log === 'the end\n',
    );
    const folder = join(pods.machine.folder, 'state/logs', `${NAMESPACE}_log_${pod.metadata.uid}`, 'main');
    const size = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    assert.ok(size < 60 * 2 ** 20, `${size} bytes of logs`);

    const { status } = await pods.finished('volume');
    assert.equal(status?.reason, 'Evicted');
    assert.equal(status?.message, 'Usage of EmptyDir volume "v" exceeds the limit "1Mi".');
    await pods.event('volume', /^Warning Evicted: Usage of EmptyDir volume "v" exceeds the limit "1Mi"\./);
    await pods.delete('log');
  });

  test('says that it has as many processes as it may, and is gone soon when it is deleted', async () => {
    const script =
      'for (1..5000) { my $pid = fork; last if !defined $pid; if (!$pid) { sleep 1000000; exit } } print "refused: $!\\n"; sleep 1000000';
    await pods.pod('crowd', [{ name: 'main', image: 'host', command: ['perl', '-e', `$| = 1; ${script}`] }]);
    const pod = await pods.running('crowd');
    await pods.logged(pod, (log) => log === 'refused: Resource temporarily unavailable\n');
    await pods.event('crowd', /^Warning ProcessLimitReached: the pod has as many processes as it may, 4096: /);
    await pods.delete('crowd');
    await pods.gone('crowd');
  });

  test('says which of its volumes this host does not have', async () => {
    for (const [name, volume] of [
      ['persistentvolumeclaim', { persistentVolumeClaim: { claimName: 'data' } }],
      ['nfs', { nfs: { server: '192.0.2.1', path: '/' } }],
      ['csi', { csi: { driver: 'some.driver' } }],
      [
        'ephemeral',
        {
          ephemeral: {
            volumeClaimTemplate: {
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
            },
          },
        },
      ],
    ] as const) {
      await pods.script(name, STAY, ...mounting(volume as object));
      const kind = Object.keys(volume)[0];
      await pods.until(
        name,
        says(
          `MountVolume.SetUp failed for volume "v" : this host has no volumes of kind ${kind}: use emptyDir, hostPath, configMap, secret, projected or downwardAPI`,
        ),
      );
    }
  });

  for (const [what, spec, container, why] of [
    ['the processes of the host', { hostPID: true }, {}, /^spec\.hostPID: containers here always have/],
    ['the messages of the host', { hostIPC: true }, {}, /^spec\.hostIPC: containers here always have/],
    ['the processes of each other', { shareProcessNamespace: true }, {}, /^spec\.shareProcessNamespace: /],
    ['a port of the host', {}, { ports: [{ containerPort: 80, hostPort: 80 }] }, /asks for port 80 of the host/],
    [
      'a setting of the host',
      { securityContext: { sysctls: [{ name: 'kernel.panic', value: '1' }] } },
      {},
      /forbidden sysctl: "kernel\.panic" not allowlisted/,
    ],
    ['users of its own', { hostUsers: false }, {}, /^spec\.hostUsers: /],
    ['another runtime', { runtimeClassName: 'gvisor' }, {}, /^spec\.runtimeClassName: /],
    [
      'a block device',
      { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'x' } }] },
      { volumeDevices: [{ name: 'v', devicePath: '/dev/x' }] },
      /volumeDevices/,
    ],
    [
      'a filter of system calls',
      {},
      { securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: 'x.json' } } },
      /seccompProfile/,
    ],
    ['all of /proc', {}, { securityContext: { procMount: 'Unmasked' } }, /procMount/],
  ] as const) {
    test(`fails at once when it asks for ${what}, and says so`, async () => {
      const name = what.toLowerCase().replaceAll(/[^a-z]+/g, '-');
      await pods.script(name, STAY, container as Partial<Container>, spec as Partial<PodSpec>);
      const { status } = await pods.finished(name);
      assert.equal(status?.phase, 'Failed');
      assert.match(status?.message ?? '', why);
      assert.match(status?.reason ?? '', /^(UnsupportedByHost|SysctlForbidden)$/);
    });
  }

  for (const [what, spec, container, reason, why] of [
    [
      'more processors than there are',
      {},
      { resources: { requests: { cpu: '4k' } } },
      'OutOfcpu',
      /^Node didn't have enough resource: cpu, requested: 4000000, used: 0, capacity: \d+000$/,
    ],
    [
      'more memory than there is',
      {},
      { resources: { requests: { memory: '1Pi' } } },
      'OutOfmemory',
      /^Node didn't have enough resource: memory, requested: 1125899906842624, used: 0, capacity: \d+$/,
    ],
    [
      'a node with another label',
      { nodeSelector: { disk: 'none' } },
      {},
      'NodeAffinity',
      /^Predicate NodeAffinity failed: node\(s\) didn't match Pod's node affinity\/selector$/,
    ],
  ] as const) {
    test(`is refused as by a kubelet when it asks for ${what} and has asked no scheduler`, async () => {
      const name = what.replaceAll(' ', '-');
      await pods.script(name, STAY, container as Partial<Container>, spec);
      const { metadata, status } = await pods.finished(name);
      assert.deepEqual([status?.phase, status?.reason], ['Failed', reason]);
      assert.match(status?.message?.replace('Pod was rejected: ', '') ?? '', why);
      assert.equal(status?.containerStatuses, undefined);
      assert.match(await pods.event(name, new RegExp(reason)), new RegExp(`^Warning ${reason}: `));
      assert.ok(!readdirSync(join(pods.machine.folder, 'state/pods')).includes(metadata.uid));
      assert.match(await pods.machine.kubectl(['get', 'pod', name]), new RegExp(` ${reason} `));
    });
  }

  test('is refused a port that another one has, as long as that one has it; who has begun is not asked again', async () => {
    const { machine } = pods;
    const serving = [shell(STAY, { ports: [{ containerPort: 8099 }] })];
    await machine.kubectl(`label node ${machine.name} disk=some`);
    await pods.pod('holder', serving, { hostNetwork: true, nodeSelector: { disk: 'some' } });
    const before = await pods.ready('holder');
    await pods.pod('late', serving, { hostNetwork: true });
    const { status } = await pods.finished('late');
    assert.deepEqual(
      [status?.reason, status?.message],
      [
        'NodePorts',
        "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
      ],
    );

    await machine.kubectl(`label node ${machine.name} disk-`);
    await machine.end('agent', 'SIGKILL');
    await machine.startAgent();
    await pods.pod('later', serving, { hostNetwork: true });
    assert.equal((await pods.finished('later')).status?.reason, 'NodePorts');
    const after = await pods.ready('holder');
    assert.equal(statusIn(after).containerID, statusIn(before).containerID);

    await pods.delete('holder');
    await pods.gone('holder');
    await pods.pod('heir', serving, { hostNetwork: true });
    await pods.ready('heir');
    await pods.delete('heir');
  });

  test('is not started as root when it must not be', async () => {
    await pods.script('non-root', STAY, { securityContext: { runAsNonRoot: true } });
    assert.match(
      await pods.waiting('non-root', 'CreateContainerConfigError'),
      /^container has runAsNonRoot and would run as root, as images are never pulled: set runAsUser/,
    );
    await pods.script('named-root', STAY, { securityContext: { runAsNonRoot: true, runAsUser: 0 } });
    assert.match(
      await pods.waiting('named-root', 'CreateContainerConfigError'),
      /^container's runAsUser breaks non-root policy/,
    );
  });
});

const says =
  (message: string, container = 'main') =>
  (pod: Parameters<typeof statusIn>[0]): boolean =>
    statusIn(pod, container).state?.waiting?.message === message;
