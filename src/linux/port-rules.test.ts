import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { addLink, changeLink, requireLink } from './links.ts';
import { Netlink } from './netlink/connection.ts';
import { needsRoot, temporaryNamespace } from './network.fixture.ts';
import { inNetworkNamespace } from './network-namespace.ts';
import { type Frame, PacketSocket } from './packet-socket.fixture.ts';
import { countsOfPort, type PortRules, setPortRules } from './port-rules.ts';
import { writeSysctl } from './sysctl.ts';

/** A switch in a namespace of its own, and cables from it; the far ends are there as well. */
function switchWith(t: TestContext, ports: Readonly<Record<string, Omit<PortRules, 'link'>>>) {
  const place = quietNamespace(t);
  within(place, (netlink) => {
    const master = addLink(
      netlink,
      { name: 'rack', kind: { is: 'bridge', multicastSnooping: false } },
      { up: true, ownIpv6Address: false },
    ).index;
    const rules: PortRules[] = [];
    for (const [name, rule] of Object.entries(ports)) {
      addLink(
        netlink,
        { name, kind: { is: 'veth', peer: { name: far(name) } } },
        { up: true, master, ownIpv6Address: false },
      );
      changeLink(netlink, far(name), { up: true, ownIpv6Address: false });
      rules.push({ link: requireLink(netlink, name).index, ...rule });
    }
    setPortRules(netlink, rules);
  });
  return { place, ends: endsAt(t, place, Object.keys(ports)) };
}

/** Where nobody says anything by himself. */
function quietNamespace(t: TestContext): string {
  const place = temporaryNamespace(t);
  inNetworkNamespace(place, () => writeSysctl(['net', 'ipv6', 'conf', 'default', 'disable_ipv6'], '1'));
  return place;
}

function endsAt(t: TestContext, place: string, names: readonly string[]): Record<string, PacketSocket> {
  const ends = Object.fromEntries(names.map((name) => [name, new PacketSocket(place, far(name))]));
  t.after(() => {
    for (const end of Object.values(ends)) end.close();
  });
  return ends;
}

const far = (name: string): string => `${name}-far`;

function within<T>(namespace: string, work: (netlink: Netlink) => T): T {
  return inNetworkNamespace(namespace, () => {
    using netlink = new Netlink();
    return work(netlink);
  });
}

/** Who gets a frame that somebody sends, and with which tag. */
async function whoGets(ends: Record<string, PacketSocket>, sender: string, frame: Partial<Frame>, times = 1) {
  for (const end of Object.values(ends)) end.passed();
  for (let i = 0; i < times; i++) ends[sender]?.send({ content: 'hello', ...frame });
  // On an idle machine they are there already.
  await pause(10);
  return Object.entries(ends)
    .filter(([name]) => name !== sender)
    .flatMap(([name, end]) => end.received().map(({ vlan }) => `${name} ${vlan ?? 'untagged'}`));
}

const trunk = { loss: 0, vlans: { untagged: 'native', tagged: [20, 21] } } as const;
const access = (vlan: number) => ({ loss: 0, vlans: { untagged: vlan, tagged: [] } }) as const;

test('a frame reaches the ports of its VLAN, tagged where tags are spoken', needsRoot, async (t) => {
  const { ends } = switchWith(t, {
    one: trunk,
    two: trunk,
    narrow: { loss: 0, vlans: { untagged: 'none', tagged: [21] } },
    access20: access(20),
    access21: access(21),
  });
  assert.deepEqual(await whoGets(ends, 'one', { vlan: 20 }), ['two 20', 'access20 untagged']);
  assert.deepEqual(await whoGets(ends, 'one', { vlan: 21 }), ['two 21', 'narrow 21', 'access21 untagged']);
  assert.deepEqual(await whoGets(ends, 'one', {}), ['two untagged']);
  assert.deepEqual(await whoGets(ends, 'access20', {}), ['one 20', 'two 20']);
  assert.deepEqual(await whoGets(ends, 'access21', {}), ['one 21', 'two 21', 'narrow 21']);
});

test('a frame of a VLAN that does not pass at a port is refused and counted', needsRoot, async (t) => {
  const { place, ends } = switchWith(t, {
    one: trunk,
    two: trunk,
    access20: access(20),
    narrow: { loss: 0, vlans: { untagged: 'none', tagged: [21] } },
  });
  assert.deepEqual(await whoGets(ends, 'one', { vlan: 22 }), []);
  assert.deepEqual(await whoGets(ends, 'access20', { vlan: 20 }), []);
  assert.deepEqual(await whoGets(ends, 'access20', { vlan: 21 }), []);
  assert.deepEqual(await whoGets(ends, 'narrow', {}), []);
  // A tag with the number 0 says a priority, not a VLAN.
  assert.deepEqual(await whoGets(ends, 'one', { vlan: 0 }), ['two untagged']);
  within(place, (netlink) => {
    const refused = (name: string) => countsOfPort(netlink, requireLink(netlink, name).index)?.refused;
    assert.deepEqual(['one', 'two', 'access20', 'narrow'].map(refused), [1, 0, 2, 1]);
  });
});

test('a frame for somebody behind a port of another VLAN does not get there', needsRoot, async (t) => {
  const { ends } = switchWith(t, { one: trunk, access20: access(20), access21: access(21) });
  const from = '02:00:00:00:00:20';
  await whoGets(ends, 'access20', { from });
  assert.deepEqual(await whoGets(ends, 'access21', { to: from }), []);
  assert.deepEqual(await whoGets(ends, 'one', { to: from, vlan: 21 }), []);
  assert.deepEqual(await whoGets(ends, 'one', { to: from, vlan: 20 }), ['access20 untagged']);
});

test('a switch without VLANs passes every tag', needsRoot, async (t) => {
  const { ends } = switchWith(t, { one: { loss: 0 }, two: { loss: 0 } });
  assert.deepEqual(await whoGets(ends, 'one', { vlan: 4000 }), ['two 4000']);
  assert.deepEqual(await whoGets(ends, 'one', {}), ['two untagged']);
});

test('about so many frames get lost in each direction, and are counted', needsRoot, async (t) => {
  const { place, ends } = switchWith(t, { one: { loss: 0.25 }, two: { loss: 0 } });
  const received = async (sender: string) => {
    let count = 0;
    for (let i = 0; i < 20; i++) count += (await whoGets(ends, sender, {}, 100)).length;
    return count;
  };
  // 1500 of 2000 with a standard deviation of 19.
  for (const sender of ['one', 'two']) {
    const count = await received(sender);
    assert.ok(count > 1300 && count < 1700, `${count} of 2000 frames of ${sender} arrived`);
  }
  within(place, (netlink) => {
    const lost = countsOfPort(netlink, requireLink(netlink, 'one').index)?.lost ?? 0;
    assert.ok(lost > 600 && lost < 1400, `${lost} frames counted as lost`);
  });
});

test('a port that loses everything lets nothing pass', needsRoot, async (t) => {
  const { ends } = switchWith(t, { one: { loss: 1 }, two: { loss: 0 } });
  assert.deepEqual(await whoGets(ends, 'one', {}, 100), []);
});

test('a cable hands everything to its other end, even what a switch keeps to itself', needsRoot, async (t) => {
  const place = quietNamespace(t);
  within(place, (netlink) => {
    for (const name of ['one', 'two']) {
      const peer = { name: far(name) };
      addLink(netlink, { name, kind: { is: 'veth', peer } }, { up: true, ownIpv6Address: false });
      changeLink(netlink, far(name), { up: true, ownIpv6Address: false });
    }
    const [one, two] = ['one', 'two'].map((name) => requireLink(netlink, name).index) as [number, number];
    setPortRules(netlink, [
      { link: one, loss: 0, wire: two },
      { link: two, loss: 0, wire: one },
    ]);
  });
  const ends = endsAt(t, place, ['one', 'two']);
  assert.deepEqual(await whoGets(ends, 'one', { vlan: 7 }), ['two 7']);
  assert.deepEqual(await whoGets(ends, 'two', { to: '01:80:c2:00:00:0e' }), ['one untagged']);
});

test('rules that are set again replace those before', needsRoot, async (t) => {
  const { place, ends } = switchWith(t, { one: trunk, two: trunk });
  assert.deepEqual(await whoGets(ends, 'one', { vlan: 20 }), ['two 20']);
  within(place, (netlink) =>
    setPortRules(netlink, [{ link: requireLink(netlink, 'two').index, loss: 0, vlans: { untagged: 20, tagged: [] } }]),
  );
  assert.deepEqual(await whoGets(ends, 'one', { vlan: 20 }), ['two untagged']);
});
