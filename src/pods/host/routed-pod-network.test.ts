import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { Address } from '../../api/address.ts';
import { Prefix } from '../../api/prefix.ts';
import { addAddress } from '../../linux/addresses.ts';
import { addLink, changeLink, findLink, listLinks, requireLink } from '../../linux/links.ts';
import { Netlink } from '../../linux/netlink/connection.ts';
import { askFrom, greetIn, needsRoot, temporaryNamespace } from '../../linux/network.fixture.ts';
import {
  inNetworkNamespace,
  isNetworkNamespace,
  networkNamespacePath,
  networkNamespaces,
  removeNetworkNamespace,
  withDescriptor,
} from '../../linux/network-namespace.ts';
import { listRoutes, OUR_ROUTES, putRoute } from '../../linux/routes.ts';
import { writeSysctl } from '../../linux/sysctl.ts';
import type { PodNetwork } from './pod-network.ts';
import { RoutedPodNetwork } from './routed-pod-network.ts';

const pod = (uid: string = randomUUID()) => ({ uid, namespace: 'default', name: 'web' });

/** Whose namespace is gone after the test, and all that hangs on it. */
function passingPod(t: TestContext) {
  const made = pod();
  t.after(() => removeNetworkNamespace(`netloom-pod-${made.uid}`));
  return made;
}

/** An agent lives in its host's namespace; a test visits it. Everything the network does is over when its call returns. */
function on<T>(host: string, work: (network: PodNetwork) => Promise<T>, underlayAddress?: string): Promise<T> {
  let answer: Promise<T> = Promise.reject(new Error('never'));
  answer.catch(() => {});
  inNetworkNamespace(host, () => {
    answer = work(new RoutedPodNetwork({ underlayAddress }));
  });
  return answer;
}

const parse = (text: string): Address => Address.parse(text) as Address;

function give(host: string, link: string, address: string, length: number): void {
  inNetworkNamespace(host, () => {
    using netlink = new Netlink();
    const { index } = requireLink(netlink, link);
    changeLink(netlink, index, { up: true });
    addAddress(netlink, { link: index, address: parse(address), length });
  });
}

/** A cable between two hosts. */
function cable(one: string, other: string): void {
  inNetworkNamespace(one, () => {
    using netlink = new Netlink();
    withDescriptor(other, (namespace) =>
      addLink(netlink, { name: 'ul0', kind: { is: 'veth', peer: { name: 'ul0', namespace } }, mtu: 1400 }),
    );
  });
}

for (const { family, one, other, host } of [
  { family: 'IPv4', one: '10.244.7.2', other: '10.244.7.3', host: '192.0.2.1' },
  { family: 'IPv6', one: 'fd00:7::2', other: 'fd00:7::3', host: '2001:db8::1' },
]) {
  test(`pods of one host reach each other and the host by ${family}`, needsRoot, async (t) => {
    const home = temporaryNamespace(t);
    give(home, 'lo', host, family === 'IPv4' ? 32 : 128);
    const [a, b] = [passingPod(t), passingPod(t)];
    const first = await on(home, (network) => network.attach(a, [one]));
    const second = await on(home, (network) => network.attach(b, [other]));

    assert.equal(await askFrom(second.namespacePath, one, await greetIn(t, first.namespacePath)), other);
    assert.equal(await askFrom(home, one, await greetIn(t, first.namespacePath)), host);
    assert.equal(await askFrom(first.namespacePath, host, await greetIn(t, home)), one);
  });
}

test(
  'a pod has addresses of both families, and loses all that led to one that it has no more',
  needsRoot,
  async (t) => {
    const home = temporaryNamespace(t);
    give(home, 'lo', '192.0.2.1', 32);
    give(home, 'lo', '2001:db8::1', 128);
    const [a, b] = [passingPod(t), passingPod(t)];
    const both = ['10.244.7.2', 'fd00:7::2'];
    const first = await on(home, (network) => network.attach(a, both));
    const second = await on(home, (network) => network.attach(b, ['fd00:7::3', '10.244.7.3']));
    const port = await greetIn(t, first.namespacePath);
    assert.equal(await askFrom(second.namespacePath, '10.244.7.2', port), '10.244.7.3');
    assert.equal(await askFrom(second.namespacePath, 'fd00:7::2', port), 'fd00:7::3');
    const known = async (): Promise<unknown> =>
      (await on(home, (network) => network.list())).find(({ uid }) => uid === a.uid);
    assert.deepEqual(await known(), { uid: a.uid, addresses: both });

    await on(home, (network) => network.attach(a, ['10.244.7.2']));

    assert.deepEqual(await known(), { uid: a.uid, addresses: ['10.244.7.2'] });
    assert.deepEqual(ours(home), ['10.244.7.2/32', '10.244.7.3/32', 'fd00:7::3/128']);
    for (const { uid } of [a, b]) await on(home, (network) => network.detach(uid));
    assert.deepEqual(ours(home), []);
    assert.equal(ruleset(home), '');
  },
);

/** The destinations of our routes. */
const ours = (host: string): string[] =>
  inNetworkNamespace(host, () => {
    using netlink = new Netlink();
    return ([4, 6] as const)
      .flatMap((family) => listRoutes(netlink, { family, protocol: OUR_ROUTES }))
      .map(({ destination }) => `${destination}`)
      .sort();
  });

for (const { family, socketFamily, net, length } of [
  { family: 'IPv4', socketFamily: 'AF_INET', net: '10.244.7.', length: 32 },
  { family: 'IPv6', socketFamily: 'AF_INET6', net: 'fd00:7::', length: 128 },
]) {
  const [own, hears, stolen] = [`${net}2`, `${net}3`, `${net}4`];

  test(`nobody hears a pod that speaks in the name of another one by ${family}`, needsRoot, async (t) => {
    const home = temporaryNamespace(t);
    const [a, b, robbed] = [passingPod(t), passingPod(t), passingPod(t)];
    const liar = await on(home, (network) => network.attach(a, [own]));
    const hearer = await on(home, (network) => network.attach(b, [hears]));
    await on(home, (network) => network.attach(robbed, [stolen]));
    give(liar.namespacePath, 'eth0', stolen, length);

    const open = `s = socket.socket(socket.${socketFamily}, socket.SOCK_DGRAM)`;
    const receive = `s.bind(("${hears}", 5300)); print({s.recvfrom(99)[1][0] for _ in range(10)})`;
    const hearing = spawnIn(hearer.namespacePath, `${open}; ${receive}`);
    t.after(() => hearing.kill('SIGKILL'));
    const say = (from: string): string => `${open}; s.bind(("${from}", 0)); s.sendto(b"hello", ("${hears}", 5300))`;
    const script = ['while True:', ...[stolen, own].map((from) => `  ${say(from)}`), '  time.sleep(0.05)'].join('\n');
    const speaking = spawnIn(liar.namespacePath, script);
    t.after(() => speaking.kill('SIGKILL'));
    assert.equal(await text(hearing.stdout as Readable), `{'${own}'}\n`);
  });
}

const ruleset = (host: string): string =>
  inNetworkNamespace(host, () => execFileSync('nft', ['list', 'ruleset'], { encoding: 'utf8' }));

test(
  'the rule against that is made again when somebody sweeps it away, and goes with the last pod',
  needsRoot,
  async (t) => {
    const home = temporaryNamespace(t);
    const [a, b] = [passingPod(t), passingPod(t)];
    const guard = (): Promise<boolean> => on(home, (network) => network.guard());
    assert.equal(await guard(), false);
    assert.equal(ruleset(home), '');
    await on(home, (network) => network.attach(a, ['fd00:7::2']));
    await on(home, (network) => network.attach(b, ['fd00:7::3']));
    const whole = ruleset(home);
    assert.match(whole, /table ip6 netloom-pods/);

    for (const swept of [['ruleset'], ['table', 'ip6', 'netloom-pods']]) {
      inNetworkNamespace(home, () => execFileSync('nft', ['flush', ...swept]));
      assert.equal(await guard(), true);
      assert.equal(ruleset(home), whole);
      assert.equal(await guard(), false);
    }

    await on(home, (network) => network.detach(a.uid));
    assert.equal(ruleset(home), whole);
    await on(home, (network) => network.detach(b.uid));
    assert.equal(ruleset(home), '');
  },
);

test('pods that an older agent has wired are kept to their names by the next one', needsRoot, async (t) => {
  const home = temporaryNamespace(t);
  const a = passingPod(t);
  await on(home, (network) => network.attach(a, ['fd00:7::2']));
  const groups = (): number[] =>
    inNetworkNamespace(home, () => {
      using netlink = new Netlink();
      return listLinks(netlink).map(({ group }) => group);
    });
  const [, group] = groups();
  inNetworkNamespace(home, () => {
    using netlink = new Netlink();
    for (const { index } of listLinks(netlink)) changeLink(netlink, index, { group: 0 });
  });
  await on(home, (network) => network.guard());
  assert.deepEqual(groups(), [0, group]);
});

function spawnIn(namespace: string, script: string): ChildProcess {
  const words = ['-c', `import socket, time\n${script}`];
  return inNetworkNamespace(namespace, () => spawn('python3', words, { stdio: ['ignore', 'pipe', 'inherit'] }));
}

test('pods of two hosts reach each other by the routes between them', needsRoot, async (t) => {
  const [left, right] = [temporaryNamespace(t), temporaryNamespace(t)];
  cable(left, right);
  give(left, 'ul0', '192.0.2.1', 24);
  give(right, 'ul0', '192.0.2.2', 24);
  for (const host of [left, right]) {
    inNetworkNamespace(host, () => writeSysctl(['net', 'ipv4', 'conf', 'ul0', 'forwarding'], '1'));
  }
  const [a, b] = [passingPod(t), passingPod(t)];
  const first = await on(left, (network) => network.attach(a, ['10.244.1.2']), '192.0.2.1');
  const second = await on(right, (network) => network.attach(b, ['10.244.2.2']), '192.0.2.2');
  const routes = (from: string, podCidr: string, via: string) =>
    on(from, (network) => network.routeTo([{ podCidr, via }]));

  assert.deepEqual(await routes(left, '10.244.2.0/24', '192.0.2.2'), []);
  assert.deepEqual(await routes(right, '10.244.1.0/24', '192.0.2.1'), []);

  assert.equal(await askFrom(second.namespacePath, '10.244.1.2', await greetIn(t, first.namespacePath)), '10.244.2.2');
  const mtu = inNetworkNamespace(first.namespacePath, () => {
    using netlink = new Netlink();
    return requireLink(netlink, 'eth0').mtu;
  });
  assert.equal(mtu, 1400, 'the MTU of the link between the hosts');
});

test('pods of two hosts reach each other by IPv6, too', needsRoot, async (t) => {
  const [left, right] = [temporaryNamespace(t), temporaryNamespace(t)];
  for (const host of [left, right]) {
    inNetworkNamespace(host, () => {
      writeSysctl(['net', 'ipv6', 'conf', 'all', 'forwarding'], '1');
      // For pods a host asks with the address that only the link knows, once nobody else is found to have that: after a second.
      for (const links of ['all', 'default']) writeSysctl(['net', 'ipv6', 'conf', links, 'accept_dad'], '0');
    });
  }
  cable(left, right);
  give(left, 'ul0', '2001:db8::1', 64);
  give(right, 'ul0', '2001:db8::2', 64);
  const [a, b] = [passingPod(t), passingPod(t)];
  const first = await on(left, (network) => network.attach(a, ['10.244.1.2', 'fd00:1::2']));
  const second = await on(right, (network) => network.attach(b, ['10.244.2.2', 'fd00:2::2']));
  assert.deepEqual(await on(left, (network) => network.routeTo([{ podCidr: 'fd00:2::/64', via: '2001:db8::2' }])), []);
  assert.deepEqual(await on(right, (network) => network.routeTo([{ podCidr: 'fd00:1::/64', via: '2001:db8::1' }])), []);

  assert.equal(await askFrom(second.namespacePath, 'fd00:1::2', await greetIn(t, first.namespacePath)), 'fd00:2::2');
});

test('what is there is found by whoever comes next, and repaired', needsRoot, async (t) => {
  const home = temporaryNamespace(t);
  const a = passingPod(t);
  await on(home, (network) => network.attach(a, ['10.244.7.2']));
  assert.deepEqual(await on(home, (network) => network.list()), [{ uid: a.uid, addresses: ['10.244.7.2'] }]);

  inNetworkNamespace(networkNamespacePath(`netloom-pod-${a.uid}`), () => {
    using netlink = new Netlink();
    changeLink(netlink, 'eth0', { up: false });
  });
  const { namespacePath } = await on(home, (network) => network.attach(a, ['10.244.7.9']));

  assert.deepEqual(await on(home, (network) => network.list()), [{ uid: a.uid, addresses: ['10.244.7.9'] }]);
  await assert.rejects(askFrom(home, '10.244.7.2', await greetIn(t, namespacePath)), 'the old address is gone');
});

test('the pods of another host are not ours', needsRoot, async (t) => {
  const [home, elsewhere] = [temporaryNamespace(t), temporaryNamespace(t)];
  const a = passingPod(t);
  await on(elsewhere, (network) => network.attach(a, ['10.244.7.2']));

  assert.deepEqual(await on(home, (network) => network.list()), []);
});

test('a pod that is detached leaves nothing, however often it is asked for', needsRoot, async (t) => {
  const home = temporaryNamespace(t);
  const a = passingPod(t);
  await on(home, (network) => network.attach(a, ['10.244.7.2']));
  await on(home, (network) => network.detach(a.uid));
  await on(home, (network) => network.detach(a.uid));

  assert.deepEqual(networkNamespaces(`netloom-pod-${a.uid}`), []);
  inNetworkNamespace(home, () => {
    using netlink = new Netlink();
    assert.deepEqual(
      listLinks(netlink).map((link) => link.name),
      ['lo'],
    );
    assert.deepEqual(listRoutes(netlink, { family: 4, protocol: OUR_ROUTES }), []);
  });
  assert.equal(ruleset(home), '');
});

test('a crash while a pod is being wired leaves nothing', needsRoot, async (t) => {
  const home = temporaryNamespace(t);
  const a = passingPod(t);
  // An address that the kernel refuses ends it in the middle, when the pair is there already.
  await assert.rejects(on(home, (network) => network.attach(a, ['ff02::1'])));

  inNetworkNamespace(home, () => {
    using netlink = new Netlink();
    assert.equal(findLink(netlink, 'eth0'), undefined);
  });
  assert.equal(isNetworkNamespace(networkNamespacePath(`netloom-pod-${a.uid}`)), false);
  await on(home, (network) => network.detach(a.uid));
  assert.deepEqual(networkNamespaces(`netloom-pod-${a.uid}`), []);
});

test('a route that cannot be is refused in words, and the others are made', needsRoot, async (t) => {
  const home = temporaryNamespace(t);
  const elsewhere = temporaryNamespace(t);
  cable(home, elsewhere);
  give(home, 'ul0', '192.0.2.1', 24);
  inNetworkNamespace(home, () => writeSysctl(['net', 'ipv4', 'conf', 'ul0', 'forwarding'], '1'));

  const problems = await on(home, (network) =>
    network.routeTo([
      { podCidr: '10.244.1.0/24', via: '192.0.2.2' },
      { podCidr: '10.244.2.0/24', via: '198.51.100.1' },
      { podCidr: 'nonsense', via: '192.0.2.2' },
    ]),
  );

  assert.deepEqual(problems, [
    { podCidr: 'nonsense', problem: '"nonsense" is no network' },
    {
      podCidr: '10.244.2.0/24',
      problem: 'make the route to 10.244.2.0/24 via 198.51.100.1: Nexthop has invalid gateway (ENETUNREACH)',
    },
  ]);
  inNetworkNamespace(home, () => {
    using netlink = new Netlink();
    const routes = listRoutes(netlink, { family: 4, protocol: OUR_ROUTES });
    assert.deepEqual(
      routes.map((route) => `${route.destination} ${route.via}`),
      ['10.244.1.0/24 192.0.2.2'],
    );
  });
});

test('routes to hosts that are named no more are removed, and nobody else’s', needsRoot, async (t) => {
  const home = temporaryNamespace(t);
  const elsewhere = temporaryNamespace(t);
  cable(home, elsewhere);
  give(home, 'ul0', '192.0.2.1', 24);
  inNetworkNamespace(home, () => {
    using netlink = new Netlink();
    const link = requireLink(netlink, 'ul0').index;
    const via = parse('192.0.2.9');
    for (const [text, protocol] of [
      ['198.51.100.0/24', 4],
      ['203.0.113.0/24', OUR_ROUTES],
    ] as const) {
      putRoute(netlink, { destination: Prefix.parse(text) as Prefix, via, link, protocol });
    }
  });

  await on(home, (network) => network.routeTo([{ podCidr: '10.244.1.0/24', via: '192.0.2.2' }]));
  await on(home, (network) => network.routeTo([{ podCidr: '10.244.1.0/24', via: '192.0.2.3' }]));
  const moved = listed(home);
  await on(home, (network) => network.routeTo([]));

  assert.deepEqual(moved, ['10.244.1.0/24 192.0.2.3', '198.51.100.0/24 192.0.2.9', '203.0.113.0/24 192.0.2.9']);
  assert.deepEqual(listed(home), ['198.51.100.0/24 192.0.2.9', '203.0.113.0/24 192.0.2.9']);
});

test('a link that does not forward is named, for it is not ours to change', needsRoot, async (t) => {
  const home = temporaryNamespace(t);
  const elsewhere = temporaryNamespace(t);
  cable(home, elsewhere);
  give(home, 'ul0', '192.0.2.1', 24);
  inNetworkNamespace(home, () => writeSysctl(['net', 'ipv4', 'conf', 'ul0', 'forwarding'], '0'));

  const [problem] = await on(home, (network) => network.routeTo([{ podCidr: '10.244.1.0/24', via: '192.0.2.2' }]));

  assert.match(problem?.problem ?? '', /does not forward what arrives on ul0/);
});

test('a UID that is no name of a file is refused', needsRoot, async (t) => {
  const home = temporaryNamespace(t);
  for (const uid of ['', '../x', 'a/b', 'a b']) {
    await assert.rejects(
      on(home, (network) => network.attach(pod(uid), ['10.244.7.2'])),
      /cannot be the UID of a pod/,
    );
  }
});

function listed(host: string): string[] {
  return inNetworkNamespace(host, () => {
    using netlink = new Netlink();
    return listRoutes(netlink, { family: 4 })
      .filter((route) => route.via !== undefined)
      .map((route) => `${route.destination} ${route.via}`)
      .sort();
  });
}
