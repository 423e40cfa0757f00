import assert from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ownCapabilities } from '../../../linux/capabilities.ts';
import { needsRoot } from '../../../linux/network.fixture.ts';
import type { ContainerSpec, Mount } from '../runtime.ts';
import { TestHost } from './runtime.fixture.ts';

const ASLEEP = 'sleep 1000';

/** A folder of the host at /data. */
const dataFrom = (source: string, mount: Partial<Mount> = {}): Pick<ContainerSpec, 'mounts'> => ({
  mounts: [{ source, target: '/data', kind: 'bind', readOnly: false, ...mount }],
});

function folderIn(host: TestHost, name: string): string {
  const folder = path.join(host.folder, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Says what worked and what did not, one line each. */
const tries = (attempts: Readonly<Record<string, string>>): string =>
  Object.entries(attempts)
    .map(([name, command]) => `if (${command}) >/dev/null 2>&1; then echo "${name}: yes"; else echo "${name}: no"; fi`)
    .join('\n');

const answers = (stdout: string): Record<string, string> =>
  Object.fromEntries(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(': ') as [string, string]),
  );

const ARM64 = process.arch === 'arm64';
const CALLS = { ADD: ARM64 ? 217 : 248, BPF: ARM64 ? 280 : 321 };
const perl = (script: string): string =>
  `perl -MErrno -e '${script.replace(/ADD|BPF/g, (name) => `${CALLS[name as keyof typeof CALLS]}`)}'`;

/** The bits of these capabilities, as /proc says them. */
const bits = (numbers: Iterable<number>): string =>
  [...numbers]
    .reduce((sum, number) => sum | (1n << BigInt(number)), 0n)
    .toString(16)
    .padStart(16, '0');

test('a container has the capabilities that it was given, and no way to others', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const show = "sed -n 's/^Cap\\(.*\\):\\t/\\1: /p' /proc/self/status";
  const root = answers((await host.run(show, { capabilities: ['CHOWN', 'NET_BIND_SERVICE'] })).stdout);
  const given = bits([0, 10]);
  assert.deepEqual(root, { Inh: bits([]), Prm: given, Eff: given, Bnd: given, Amb: bits([]) });
  const other = answers((await host.run(show, { capabilities: ['CHOWN'], user: 1000, group: 1000 })).stdout);
  assert.deepEqual(other, { Inh: bits([]), Prm: bits([]), Eff: bits([]), Bnd: bits([0]), Amb: bits([]) });
  const privileged = answers((await host.run(show, { privileged: true })).stdout);
  assert.equal(privileged['Eff'], bits(ownCapabilities()));
});

test('a program that changes its user gains nothing where no new privileges are allowed', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const programs = folderIn(host, 'programs');
  copyFileSync('/usr/bin/id', path.join(programs, 'id'));
  chmodSync(path.join(programs, 'id'), 0o4755);
  const spec = { ...dataFrom(programs), user: 1000, group: 1000 };
  assert.equal((await host.run('/data/id -u', spec)).stdout, '0\n');
  assert.equal((await host.run('/data/id -u', { ...spec, noNewPrivileges: true })).stdout, '1000\n');
});

test('a read-only root is that, and volumes in it are not', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const script = tries({
    root: 'touch /here',
    etc: 'touch /etc/here',
    tmp: 'touch /tmp/here',
    data: 'touch /data/here',
  });
  const spec = dataFrom(folderIn(host, 'data'));
  const usual = answers((await host.run(script, spec)).stdout);
  assert.deepEqual(usual, { root: 'yes', etc: 'yes', tmp: 'yes', data: 'yes' });
  const readOnly = answers((await host.run(script, { ...spec, readOnlyRoot: true })).stdout);
  assert.deepEqual(readOnly, { root: 'no', etc: 'no', tmp: 'no', data: 'yes' });
});

test('whoever a container runs as, it may write where everybody may', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const attempts = { tmp: 'touch /tmp/here', 'var/tmp': 'touch /var/tmp/here', lock: 'touch /run/lock/here' };
  const { stdout } = await host.run(tries({ ...attempts, etc: 'touch /etc/here' }), { user: 1000, group: 1000 });
  assert.deepEqual(answers(stdout), { tmp: 'yes', 'var/tmp': 'yes', lock: 'yes', etc: 'no' });
});

test('a container cannot change the kernel or the host, though it is root', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const perl = (call: string): string => `perl -e 'exit(syscall(${call}) == -1)'`;
  const script = tries({
    'a tmpfs': 'mount -t tmpfs none /mnt',
    'a bind mount': 'mount --bind /etc /mnt',
    'a new proc': 'mkdir -p /tmp/p && mount -t proc proc /tmp/p',
    'the cgroups of the host': 'mkdir -p /tmp/c && mount -t cgroup -o pids none /tmp/c',
    'a cgroup': 'mkdir /sys/fs/cgroup/mine',
    'unmount proc': 'umount /proc/sys || umount -l /proc',
    'make root writable': 'mount -o remount,rw /proc/sys',
    'a sysctl': 'echo 1 > /proc/sys/kernel/panic',
    'a sysctl of the network': 'echo 1 > /proc/sys/net/ipv4/ip_forward',
    'a system request': 'echo h > /proc/sysrq-trigger',
    'the name of the core': "echo '|/bin/true' > /proc/sys/kernel/core_pattern",
    'a uevent': 'echo /tmp/x > /sys/kernel/uevent_helper',
    'a module': perl(`${process.arch === 'arm64' ? 105 : 175}, "x", 1, ""`),
    'the clock': 'date -s 2001-01-01',
    'another root': 'unshare -m true',
    'the namespaces of the first process': 'nsenter -t 1 -n true',
    'the memory of the kernel': 'head -c 1 /proc/kcore | grep -q .',
    keys: 'grep -q . /proc/keys',
    'a raw disk': 'mknod /tmp/disk b 254 0 && head -c 1 /tmp/disk',
    'memory of the machine': 'mknod /tmp/mem c 1 1 && head -c 1 /tmp/mem',
    'a null device of its own': 'mknod /tmp/null c 1 3 && echo x > /tmp/null',
    'the null device': 'echo x > /dev/null && test ! -s /dev/null',
  });
  const said = answers((await host.run(script)).stdout);
  const possible = Object.entries(said).flatMap(([name, answer]) => (answer === 'yes' ? [name] : []));
  assert.deepEqual(possible, ['the null device']);
});

/** What asks for no right of the host, and reaches beyond a container all the same. */
const BEYOND = {
  'a user namespace': 'unshare --user true',
  'the cgroups of the host, as root of other users': `unshare --user --map-root-user --mount --cgroup sh -c '${[
    'mount -t cgroup -o devices none /mnt',
    'mount -t cgroup -o pids none /mnt',
    'mount -t cgroup2 none /mnt',
  ].join(' || ')}'`,
  'a key for all that are root': perl(
    '($type, $name, $key) = qw(user netloom-test k); exit(syscall(ADD, $type, $name, $key, 1, -4) < 0)',
  ),
  'a program in the kernel': perl('exit(syscall(BPF, 0, 0, 0) >= 0 || !$!{EINVAL})'),
  'a ring of calls': perl('exit(syscall(425, 1, pack "x120") < 0)'),
};

test('a container cannot reach beyond itself by what is for everybody', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const possible = async (spec: Partial<ContainerSpec>): Promise<string[]> =>
    Object.entries(answers((await host.run(tries(BEYOND), spec)).stdout)).flatMap(([name, is]) =>
      is === 'yes' ? [name] : [],
    );
  assert.deepEqual(await possible({}), []);
  assert.deepEqual(await possible({ user: 1000, group: 1000, capabilities: [] }), []);
  const unfiltered = await possible({ filtersCalls: false });
  assert.ok(
    unfiltered.includes('a user namespace') && unfiltered.includes('a key for all that are root'),
    `${unfiltered}`,
  );
  const container = await host.start(ASLEEP);
  assert.notEqual((await host.exec(container, BEYOND['a user namespace'])).exitCode, 0);
});

test('a container gets the calls of a capability with it', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const capabilities = ['SYS_ADMIN'];
  const { stdout } = await host.run(
    'unshare --mount --uts sh -c "hostname other; hostname"; grep ^Seccomp: /proc/self/status',
    { capabilities },
  );
  assert.match(stdout, /^other\nSeccomp:\t2\n$/);
  assert.match((await host.run('grep ^Seccomp: /proc/self/status', { privileged: true })).stdout, /\t0\n$/);
});

test('a container that may mount finds no root of the groups of the host', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const kinds = readFileSync('/proc/self/cgroup', 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(':')[1] ?? '');
  // Only a root has the one of these files, and only a root lacks the other.
  const finding = (kind: string): string =>
    kind === ''
      ? 'mount -t cgroup2 none /mnt && test ! -e /mnt/cgroup.events'
      : `mount -t cgroup -o ${kind} none /mnt && test -e /mnt/release_agent`;
  const attempts = Object.fromEntries(kinds.map((kind) => [kind || 'version 2', finding(kind)]));
  const { stdout } = await host.run(tries({ ...attempts, none: 'mount -t tmpfs none /mnt' }), {
    capabilities: ['SYS_ADMIN'],
  });
  const possible = Object.entries(answers(stdout)).flatMap(([name, is]) => (is === 'yes' ? [name] : []));
  assert.deepEqual(possible, ['none'], 'and it could mount');
});

test('a container has threads, and processes of its own making', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const threads = 'import threading; t = threading.Thread(target=lambda: print("thread")); t.start(); t.join()';
  const { stdout } = await host.run([
    'python3',
    '-c',
    `${threads}; import subprocess; subprocess.run(["echo", "process"])`,
  ]);
  assert.deepEqual(stdout.trim().split('\n').sort(), ['process', 'thread']);
});

test('a container sees its own processes and no others', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const sandbox = await host.sandbox();
  await host.start('sleep 4412345', { sandbox });
  const { stdout } = await host.run('ps axo pid,args; kill -0 -1 && echo signalled', { sandbox });
  assert.match(stdout, /^ *1 sh -c/m);
  assert.doesNotMatch(stdout, /4412345|node|supervisor/);
  const seen = await host.run('ls -d /proc/[0-9]* | wc -l');
  assert.ok(Number(seen.stdout) < 5, seen.stdout);
});

test('a container sees neither homes nor secrets of the host, nor what the supervisor has', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const script = `cat /etc/shadow; ls -A /home /run ${host.stateDirectory} ${path.join(host.folder, 'run')}`;
  const { stdout, stderr } = await host.run(script);
  assert.match(stderr, /shadow: No such file/);
  const visible = stdout.split('\n').filter((line) => line !== '' && !line.endsWith(':'));
  assert.deepEqual(visible, ['lock']);
  assert.doesNotMatch(readdirSync('/run').join(), /^lock$/);
});

test('a container does not see what users of the host may not read, wherever that is', needsRoot, async (t) => {
  const [open, closed] = ['/opt', '/srv'].map((folder) => mkdtempSync(path.join(folder, 'netloom-[test]-'))) as [
    string,
    string,
  ];
  t.after(() => {
    for (const folder of [open, closed]) rmSync(folder, { recursive: true });
  });
  chmodSync(open, 0o755);
  mkdirSync(path.join(open, 'deep'));
  writeFileSync(path.join(open, 'deep/program'), 'for all');
  writeFileSync(path.join(open, 'deep/key'), 'secret', { mode: 0o600 });
  writeFileSync(path.join(closed, 'key'), 'secret');
  const host = await TestHost.start(t);
  const { stdout } = await host.run([
    'sh',
    '-c',
    'cat "$1"/deep/program; ls -A "$1"/deep "$2"; cat "$1"/deep/key',
    'sh',
    open,
    closed,
  ]);
  assert.equal(stdout, `for all${open}/deep:\nprogram\n\n${closed}:\n`);
});

test('a program begins with its input and output, and nothing else is open', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const spec = dataFrom(folderIn(host, 'data/sub'), { source: path.join(host.folder, 'data'), subPath: 'sub' });
  const script = 'ls /proc/$$/fd';
  assert.deepEqual((await host.run(script, spec)).stdout.trim().split('\n'), ['0', '1', '2']);
  const container = await host.start(ASLEEP, spec);
  assert.deepEqual((await host.exec(container, script)).stdout.trim().split('\n'), ['0', '1', '2']);
});

test('a working directory cannot lead to what was open before the container began', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const spec = dataFrom(folderIn(host, 'data/sub'), { source: path.join(host.folder, 'data'), subPath: 'sub' });
  const sandbox = await host.sandbox();
  for (let descriptor = 3; descriptor < 24; descriptor += 1) {
    const workingDirectory = `/proc/self/fd/${descriptor}`;
    await assert.rejects(host.start(ASLEEP, { ...spec, sandbox, workingDirectory }), /cannot be entered/);
    await assert.rejects(host.start([`${workingDirectory}/../../bin/true`], { ...spec, sandbox }), /exec: /);
  }
});

test('a volume is mounted inside the root, whatever the paths and links of the root say', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const data = folderIn(host, 'data');
  for (const target of [
    '/../../../../mnt/data',
    '/mnt/./x/../data',
    '/proc/self/../../mnt/data',
    '/run/../../mnt/data',
  ]) {
    const { stdout } = await host.run('touch /mnt/data/here && ls /mnt/data', {
      mounts: [{ source: data, target, kind: 'bind', readOnly: false }],
    });
    assert.equal(stdout, 'here\n', target);
    rmSync(path.join(data, 'here'));
  }
  for (const target of ['/proc', '/proc/self/cwd', '/', '/..']) {
    const mounts: Mount[] = [{ source: data, target, kind: 'bind', readOnly: false }];
    await assert.rejects(host.run('true', { mounts }), /nothing can be mounted at/, target);
  }
  const overFile: Mount[] = [{ source: data, target: '/etc/passwd', kind: 'bind', readOnly: false }];
  await assert.rejects(
    host.run('true', { mounts: overFile }),
    /\/etc\/passwd: a directory cannot be mounted over a file/,
  );
});

test('a volume may take the place of /dev, and hides nothing that is concealed', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const spec: Pick<ContainerSpec, 'mounts'> = {
    mounts: [{ source: folderIn(host, 'dev'), target: '/dev', kind: 'bind', readOnly: false }],
  };
  const { stdout } = await host.run('ls /dev; wc -c < /proc/keys; wc -c < /proc/timer_list', spec);
  assert.equal(stdout, '0\n0\n');
});

test('a volume whose contents a container changes meanwhile never leads out of it', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const [shared, outside] = [folderIn(host, 'shared'), folderIn(host, 'outside/x')];
  mkdirSync(path.join(shared, 'sub/x'), { recursive: true });
  symlinkSync(path.join(host.folder, 'outside'), path.join(shared, 'link'));
  const call = process.arch === 'arm64' ? 276 : 316;
  const exchange = `($a, $b) = ("/data/sub", "/data/link"); 1 while !syscall(${call}, -100, $a, -100, $b, 2); die $!`;
  const exchanging = await host.start(['perl', '-e', exchange], { ...dataFrom(shared), name: 'hostile' });
  let [mounted, refused] = [0, 0];
  for (let round = 0; round < 60 && (mounted < 5 || refused < 5 || round < 20); round += 1) {
    try {
      await host.run('touch /data/was-here', dataFrom(shared, { subPath: 'sub/x' }));
      mounted += 1;
    } catch (error) {
      assert.match(String(error), /cannot be mounted at \/data/);
      refused += 1;
    }
  }
  assert.ok(mounted > 0 && refused > 0, `${mounted} were mounted, ${refused} refused`);
  assert.deepEqual(readdirSync(outside), []);
  await host.runtime.signal(exchanging.id, 'SIGKILL');
});

test('odd characters in names, words and paths mean nothing but themselves', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const odd = `a b\n"c" 'd' $(id) \`id\` \\ ; & | é 漢 %s ,:= -n`;
  const source = folderIn(host, `odd ${odd}`);
  const result = await host.run(['sh', '-c', 'printf "%s\\0" "$1" "$ODD"; pwd; echo found > here', 'sh', odd], {
    env: [
      ['PATH', '/usr/bin:/bin'],
      ['ODD', odd],
    ],
    labels: { odd },
    mounts: [{ source, target: `/mnt/${odd}`, kind: 'bind', readOnly: false }],
    workingDirectory: `/mnt/${odd}`,
  });
  assert.equal(result.stdout, `${odd}\0${odd}\0/mnt/${odd}\n`);
  assert.equal(readFileSync(path.join(source, 'here'), 'utf8'), 'found\n');
  assert.deepEqual(result.labels, { odd });
  await assert.rejects(host.run(['echo', 'a\0b']), /zero byte/);
  await assert.rejects(host.run('true', { id: '../../escape' }), /cannot be the name of a sandbox or a container/);
  await assert.rejects(host.sandbox('../escape'), /cannot be the name of a sandbox or a container/);
});
