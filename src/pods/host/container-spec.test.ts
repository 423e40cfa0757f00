import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Container, Pod, Profile, SecurityContext } from '../../api/core/pod.ts';
import { ConfigError, containerSpec } from './container-spec.ts';
import { dispensabilityOf, podLimits } from './limits.ts';
import { Places } from './places.ts';
import { containerWith, podWith, sourceFor } from './pod.fixture.ts';

const users = {
  groupOf: (user: number) => (user === 1000 ? 100 : 0),
  homeOf: (user: number) => (user === 1000 ? '/home/ada' : '/'),
  groupsNaming: (user: number) => (user === 1000 ? [27, 6] : []),
};

function specOf(container: Container, pod: Pod = podWith()) {
  const source = {
    ...sourceFor(pod),
    places: new Places('/state'),
    users,
    hostname: 'web',
    programs: '/opt/netloom/bin',
  };
  return containerSpec({ ...source, mountsOf: () => [] }, container, { attempt: 2, backoff: 10_000 });
}

const fails = (container: Container, message: RegExp, pod?: Pod): void =>
  assert.throws(
    () => specOf(container, pod),
    (error) => error instanceof ConfigError && message.test(error.message),
  );

describe('a container', () => {
  test('runs its command with its arguments, references replaced', () => {
    const env = [{ name: 'PORT', value: '80' }];
    const { command } = specOf(
      containerWith({ command: ['serve', '$(PORT)'], args: ['--on=$(PORT)', '$(HOSTNAME)'], env }),
    );
    assert.deepEqual(command, ['serve', '80', '--on=80', 'web']);
    assert.deepEqual(specOf({ name: 'main', args: ['sleep', '1'] }).command, ['sleep', '1']);
  });

  test('needs something to run', () => {
    fails({ name: 'main', image: 'nginx' }, /names no command, and images are never pulled here.*say in "command"/);
  });

  test('finds the programs of the host, and those of netloom last', () => {
    const env = new Map(specOf(containerWith({ tty: true, securityContext: { runAsUser: 1000 } })).env);
    assert.equal(env.get('PATH'), '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/netloom/bin');
    assert.equal(env.get('HOME'), '/home/ada');
    assert.equal(env.get('TERM'), 'xterm');
    const own = new Map(specOf(containerWith({ env: [{ name: 'PATH', value: '/mine' }] })).env);
    assert.equal(own.get('PATH'), '/mine');
  });

  test('is the same for whoever starts the same attempt', () => {
    assert.equal(specOf(containerWith({})).id, specOf(containerWith({})).id);
    assert.notEqual(specOf(containerWith({})).id, specOf(containerWith({ name: 'other' })).id);
  });
});

describe('the identity of a container', () => {
  const identity = (securityContext: SecurityContext, ofPod: Pod['spec']['securityContext'] = {}) =>
    specOf(containerWith({ securityContext }), podWith({ securityContext: ofPod }));

  test('is its own before that of its pod', () => {
    const ofPod = { runAsUser: 1000, runAsGroup: 7 };
    const one = identity({}, ofPod);
    assert.deepEqual([one.user, one.group], [1000, 7]);
    const other = identity({ runAsUser: 3, runAsGroup: 4 }, ofPod);
    assert.deepEqual([other.user, other.group], [3, 4]);
    assert.equal(identity({ runAsUser: 1000 }).group, 100);
  });

  test('has the groups that the pod names, and those that name its user unless that is ruled out', () => {
    const ofPod = { runAsUser: 1000, supplementalGroups: [5, 6], fsGroup: 8 };
    const groups = (policy: { supplementalGroupsPolicy?: 'Merge' | 'Strict' }) =>
      identity({}, { ...ofPod, ...policy }).supplementalGroups;
    assert.deepEqual(groups({}), [5, 6, 8, 27]);
    assert.deepEqual(groups({ supplementalGroupsPolicy: 'Merge' }), [5, 6, 8, 27]);
    assert.deepEqual(groups({ supplementalGroupsPolicy: 'Strict' }), [5, 6, 8]);
    assert.deepEqual(identity({ runAsUser: 3 }, ofPod).supplementalGroups, [5, 6, 8], 'it goes by who the user is');
  });

  test('is not root where it must not be', () => {
    const main = (securityContext: SecurityContext) => containerWith({ securityContext });
    fails(
      main({ runAsNonRoot: true }),
      /runAsNonRoot and would run as root, as images are never pulled: set runAsUser/,
    );
    fails(main({ runAsNonRoot: true, runAsUser: 0 }), /container's runAsUser breaks non-root policy/);
    fails(main({ runAsUser: 0 }), /breaks non-root policy/, podWith({ securityContext: { runAsNonRoot: true } }));
    assert.equal(identity({ runAsNonRoot: true, runAsUser: 5 }).user, 5);
    assert.equal(identity({ runAsNonRoot: false }, { runAsNonRoot: true }).user, 0);
  });

  test('filters system calls unless it says otherwise', () => {
    const filters = (type: Profile['type']) => ({ seccompProfile: { type } });
    assert.equal(identity({}).filtersCalls, true);
    assert.equal(identity(filters('RuntimeDefault'), filters('Unconfined')).filtersCalls, true);
    assert.equal(identity({}, filters('Unconfined')).filtersCalls, false);
    assert.equal(identity(filters('Unconfined'), filters('RuntimeDefault')).filtersCalls, false);
    assert.equal(identity({ privileged: true, ...filters('RuntimeDefault') }).filtersCalls, false);
  });

  for (const [what, capabilities, has, lacks] of [
    ['nothing said', {}, ['CHOWN', 'NET_BIND_SERVICE'], ['SYS_ADMIN', 'NET_ADMIN']],
    ['one added', { add: ['NET_ADMIN'] }, ['CHOWN', 'NET_ADMIN'], ['SYS_ADMIN']],
    ['one added by its long name', { add: ['CAP_NET_ADMIN'] }, ['NET_ADMIN'], ['SYS_ADMIN']],
    ['one dropped', { drop: ['CHOWN'] }, ['KILL'], ['CHOWN']],
    ['all dropped', { drop: ['ALL'] }, [], ['CHOWN', 'KILL']],
    ['all dropped but one', { drop: ['ALL'], add: ['NET_BIND_SERVICE'] }, ['NET_BIND_SERVICE'], ['CHOWN']],
    ['all added but one', { add: ['ALL'], drop: ['SYS_ADMIN'] }, ['NET_ADMIN', 'BPF'], ['SYS_ADMIN']],
  ] as const) {
    test(`has capabilities: ${what}`, () => {
      const found = identity({ capabilities: capabilities as SecurityContext['capabilities'] & object }).capabilities;
      for (const name of has) assert.ok(found.includes(name), name);
      for (const name of lacks) assert.ok(!found.includes(name), name);
    });
  }
});

describe('the limits of a pod', () => {
  const limited = (name: string, cpu: string, memory: string): Container => ({
    name,
    resources: { limits: { cpu, memory } },
  });

  test('are those of its containers together, or of the init container that needs more', () => {
    const containers = [limited('a', '500m', '64Mi'), limited('b', '1', '64Mi')];
    const { processes, cpuMillis, memoryBytes } = podLimits(podWith({ containers }));
    assert.deepEqual([processes, cpuMillis, memoryBytes], [4096, 1500, 2 ** 27]);
    const initContainers = [limited('init', '2', '1Gi')];
    assert.equal(podLimits(podWith({ containers, initContainers })).memoryBytes, 2 ** 30);
  });

  test('say how much of the processors was asked for, all together', () => {
    const asking = (name: string, cpu: string): Container => ({ name, resources: { requests: { cpu } } });
    const containers = [asking('a', '250m'), asking('b', '1'), { name: 'c' }];
    assert.equal(podLimits(podWith({ containers })).cpuAskedMillis, 1250);
    assert.equal(podLimits(podWith({ containers, initContainers: [asking('init', '3')] })).cpuAskedMillis, 3000);
  });

  test('say who goes first when the host has no memory left', () => {
    const asking = (memory: string): Container => ({ name: 'a', resources: { requests: { memory } } });
    const score = (container: Container, qosClass: string): number =>
      dispensabilityOf({ ...podWith(), status: { phase: 'Pending', qosClass } }, container, 2 ** 30);
    assert.deepEqual(
      [score({ name: 'a' }, 'BestEffort'), score(asking('1Gi'), 'Guaranteed'), score({ name: 'a' }, 'Burstable')],
      [1000, -997, 999],
    );
    assert.deepEqual([score(asking('256Mi'), 'Burstable'), score(asking('1Gi'), 'Burstable')], [750, 3]);
  });

  test('are open where one of them has none', () => {
    const containers = [limited('a', '500m', '64Mi'), { name: 'b' }];
    assert.deepEqual(podLimits(podWith({ containers })), { processes: 4096, cpuAskedMillis: 0 });
  });
});
