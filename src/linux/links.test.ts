import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Address } from '../api/address.ts';
import { Prefix } from '../api/prefix.ts';
import { addAddress, deleteAddress, listAddresses } from './addresses.ts';
import { addLink, changeLink, deleteLink, findLink, listLinks, requireLink } from './links.ts';
import { deleteNeighbour, listNeighbours, putNeighbour } from './neighbours.ts';
import { Netlink } from './netlink/connection.ts';
import { needsRoot, temporaryNamespace, uniqueName } from './network.fixture.ts';
import {
  createNetworkNamespace,
  inNetworkNamespace,
  networkNamespaceId,
  networkNamespaces,
  withDescriptor,
} from './network-namespace.ts';
import { deleteRoutes, listRoutes, OUR_ROUTES, putRoute, putRoutes } from './routes.ts';
import { addRule, deleteRule, listRules } from './rules.ts';

const parse = (text: string): Address => Address.parse(text) as Address;
const network = (text: string): Prefix => Prefix.parse(text) as Prefix;

/** Talks to the kernel about this namespace. */
function within<T>(namespace: string, work: (netlink: Netlink) => T): T {
  return inNetworkNamespace(namespace, () => {
    using netlink = new Netlink();
    return work(netlink);
  });
}

test('a veth pair is made with one end in another namespace, and goes as a whole', needsRoot, (t) => {
  const [here, there] = [temporaryNamespace(t), temporaryNamespace(t)];
  const pair = { is: 'veth', peer: { name: 'inner', namespace: 0, mac: '02:00:00:00:00:02' } } as const;
  within(here, (netlink) =>
    withDescriptor(there, (namespace) => {
      for (const _ of ['once', 'and again']) {
        addLink(
          netlink,
          { name: 'outer', mtu: 1300, kind: { ...pair, peer: { ...pair.peer, namespace } } },
          { up: true },
        );
      }
    }),
  );

  const outer = within(here, (netlink) => requireLink(netlink, 'outer'));
  const inner = within(there, (netlink) => requireLink(netlink, 'inner'));
  assert.deepEqual([outer.kind, outer.up, outer.mtu, outer.otherIsElsewhere], ['veth', true, 1300, true]);
  assert.equal(inner.mac, '02:00:00:00:00:02');
  assert.equal(outer.other, inner.index);

  within(there, (netlink) => deleteLink(netlink, 'inner'));
  within(there, (netlink) => deleteLink(netlink, 'inner'));
  assert.equal(
    within(here, (netlink) => findLink(netlink, 'outer')),
    undefined,
  );
});

test('bridge, macvlan and vxlan are made, changed, renamed and moved', needsRoot, (t) => {
  const [here, there] = [temporaryNamespace(t), temporaryNamespace(t)];
  within(here, (netlink) => {
    const bridge = addLink(netlink, { name: 'br', kind: { is: 'bridge' } });
    addLink(netlink, { name: 'v0', kind: { is: 'veth', peer: { name: 'v1' } } }, { master: bridge.index });
    addLink(netlink, { name: 'mv', kind: { is: 'macvlan', parent: requireLink(netlink, 'v1').index, mode: 'bridge' } });
    addLink(netlink, { name: 'vx', kind: { is: 'vxlan', id: 7, local: parse('192.0.2.1'), learning: false } });
    changeLink(netlink, 'v1', { name: 'renamed', alias: 'the far end', mac: '02:00:00:00:00:09', mtu: 1400 });
    withDescriptor(there, (namespace) => changeLink(netlink, 'vx', { namespace }));

    const kinds = listLinks(netlink).map(({ name, kind }) => `${name} ${kind}`);
    assert.deepEqual(kinds.sort(), ['br bridge', 'lo undefined', 'mv macvlan', 'renamed veth', 'v0 veth']);
    const { alias, mac, mtu } = requireLink(netlink, 'renamed');
    assert.deepEqual({ alias, mac, mtu }, { alias: 'the far end', mac: '02:00:00:00:00:09', mtu: 1400 });
    assert.equal(requireLink(netlink, 'v0').master, bridge.index);
    assert.throws(() => addLink(netlink, { name: 'v0', kind: { is: 'bridge' } }), /another link of that name, veth/);
  });
  assert.equal(within(there, (netlink) => requireLink(netlink, 'vx')).kind, 'vxlan');
});

test('a refusal is in the kernel’s own words', needsRoot, (t) => {
  within(temporaryNamespace(t), (netlink) => {
    assert.throws(() => changeLink(netlink, 'absent', { up: true }), { code: 'ENODEV' });
    assert.throws(
      () => addLink(netlink, { name: 'mv', kind: { is: 'macvlan', parent: 99, mode: 'bridge' } }),
      /make the macvlan mv: .*\((ENODEV|EINVAL)\)/,
    );
  });
});

test('addresses, neighbours and rules may be set and removed twice', needsRoot, (t) => {
  within(temporaryNamespace(t), (netlink) => {
    const link = addLink(netlink, { name: 'v0', kind: { is: 'veth', peer: { name: 'v1' } } }, { up: true }).index;
    const address = { link, address: parse('192.0.2.1'), length: 24 };
    const neighbour = { link, address: parse('192.0.2.2'), mac: '02:00:00:00:00:02' };
    const mark = { value: 7, mask: 0xff };
    const from = network('192.0.2.0/24');
    const rule = { family: 4, priority: 1000, table: 500, from, mark, arrivedOn: 'v0', protocol: OUR_ROUTES } as const;
    for (const _ of ['once', 'and again']) {
      addAddress(netlink, address);
      putNeighbour(netlink, neighbour);
      addRule(netlink, rule);
    }
    assert.deepEqual(
      listAddresses(netlink).filter((found) => found.address.family === 4),
      [address],
    );
    assert.deepEqual(
      listNeighbours(netlink).filter(({ permanent }) => permanent),
      [{ ...neighbour, permanent: true }],
    );
    assert.deepEqual(listRules(netlink, 4, { protocol: OUR_ROUTES }), [rule]);
    for (const _ of ['once', 'and again']) {
      deleteNeighbour(netlink, neighbour);
      deleteRule(netlink, rule);
      deleteAddress(netlink, address);
    }
    assert.deepEqual(
      listAddresses(netlink).filter((found) => found.address.family === 4),
      [],
    );
    assert.deepEqual(listRules(netlink, 4, { protocol: OUR_ROUTES }), []);
  });
});

test('what has gone with its link need not be removed', needsRoot, (t) => {
  within(temporaryNamespace(t), (netlink) => {
    const { index: link } = addLink(netlink, { name: 'v0', kind: { is: 'veth', peer: { name: 'v1' } } }, { up: true });
    const destination = network('198.51.100.0/24');
    putRoutes(netlink, [{ destination, link, protocol: OUR_ROUTES }]);
    deleteLink(netlink, 'v0');
    for (const address of ['192.0.2.1', '2001:db8::1'].map(parse)) {
      deleteAddress(netlink, { link, address, length: 24 });
      deleteNeighbour(netlink, { link, address });
    }
    assert.deepEqual(deleteRoutes(netlink, [{ destination, link, protocol: OUR_ROUTES }]), [undefined]);
  });
});

test('a link of somebody else that has the name is not touched', needsRoot, (t) => {
  within(temporaryNamespace(t), (netlink) => {
    const before = addLink(netlink, { name: 'theirs', kind: { is: 'bridge' } });
    const pair = { is: 'veth', peer: { name: 'inner' } } as const;
    assert.throws(
      () => addLink(netlink, { name: 'theirs', kind: pair }, { up: true, mtu: 1300, alias: 'ours' }),
      /cannot make the veth theirs: there is another link of that name, bridge/,
    );
    assert.deepEqual(requireLink(netlink, 'theirs'), before);
    assert.throws(() => addLink(netlink, { name: 'ours', kind: { ...pair, peer: { name: 'theirs' } } }), {
      code: 'EEXIST',
    });
    assert.equal(listLinks(netlink).length, 2);
  });
});

test('a route of somebody else that leads there is not replaced, and one of ours is', needsRoot, (t) => {
  within(temporaryNamespace(t), (netlink) => {
    const pair = { is: 'veth', peer: { name: 'v1' } } as const;
    const link = addLink(netlink, { name: 'v0', kind: pair }, { up: true }).index;
    changeLink(netlink, 'v1', { up: true });
    addAddress(netlink, { link, address: parse('192.0.2.1'), length: 24 });
    addAddress(netlink, { link, address: parse('2001:db8::1'), length: 64 });
    for (const [text, hops] of [
      ['198.51.100.0/24', ['192.0.2.7', '192.0.2.8', '192.0.2.9']],
      ['2001:db8:1::/64', ['2001:db8::7', '2001:db8::8', '2001:db8::9']],
    ] as const) {
      const destination = network(text);
      const [theirs, ours, later] = hops.map(parse) as [Address, Address, Address];
      const there = () =>
        listRoutes(netlink, { family: destination.family })
          .filter((route) => route.destination.equals(destination))
          .map(({ via, metric, protocol }) => `${via} ${metric} ${protocol}`);
      putRoute(netlink, { destination, via: theirs, link, protocol: 4 });
      const before = there();
      assert.throws(() => putRoute(netlink, { destination, via: ours, link, protocol: OUR_ROUTES }), {
        code: 'EEXIST',
        message: /^make the route to .* via .*: somebody else has made one to there, which is not ours to replace/,
      });
      assert.deepEqual(there(), before);
      // With a metric of its own it is another one.
      for (const via of [ours, ours, later]) {
        const [refusal] = putRoutes(netlink, [{ destination, via, link, metric: 7, protocol: OUR_ROUTES }]);
        assert.equal(refusal, undefined);
      }
      assert.deepEqual(there().sort(), [...before, `${later} 7 ${OUR_ROUTES}`].sort());
    }
  });
});

test('a namespace that cannot be made leaves not even its name', needsRoot, () => {
  const name = `netloom-test-${uniqueName()}`;
  const fail = (): void => {
    throw new Error('no');
  };
  assert.throws(() => createNetworkNamespace(name, fail), /^Error: no$/);
  assert.deepEqual(networkNamespaces(name), []);
});

test('hundreds of routes go in one call, and the one that cannot be is told apart', needsRoot, (t) => {
  within(temporaryNamespace(t), (netlink) => {
    const link = addLink(netlink, { name: 'v0', kind: { is: 'veth', peer: { name: 'v1' } } }, { up: true }).index;
    changeLink(netlink, 'v1', { up: true });
    addAddress(netlink, { link, address: parse('192.0.2.1'), length: 24 });
    const route = (i: number, via: string) => ({
      destination: network(`10.${i >> 8}.${i & 255}.0/24`),
      via: parse(via),
      table: 1000,
      protocol: OUR_ROUTES,
    });
    const routes = Array.from({ length: 350 }, (_, i) => route(i, i === 123 ? '198.51.100.1' : '192.0.2.2'));

    const answers = putRoutes(netlink, routes);

    assert.deepEqual(
      answers.flatMap((refusal, i) => (refusal === undefined ? [] : [`${i} ${refusal.code}`])),
      ['123 ENETUNREACH'],
    );
    const here = () => listRoutes(netlink, { family: 4, table: 1000, protocol: OUR_ROUTES });
    assert.equal(here().length, 349);
    deleteRoutes(netlink, routes);
    assert.equal(here().length, 0);
  });
});

test('what is done in a namespace is over when it is left, whatever happens inside', needsRoot, (t) => {
  const there = temporaryNamespace(t);
  const own = networkNamespaceId();
  assert.equal(inNetworkNamespace(there, networkNamespaceId), networkNamespaceId(there));
  assert.throws(() =>
    inNetworkNamespace(there, () => {
      throw new Error('inside');
    }),
  );
  assert.throws(() => inNetworkNamespace(there, async () => {}), /cannot take a while/);
  assert.equal(networkNamespaceId(), own);
});
