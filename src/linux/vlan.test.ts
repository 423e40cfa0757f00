import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Address } from '../api/address.ts';
import { addAddress } from './addresses.ts';
import { attachedProgram } from './filters.ts';
import { addLink, changeLink, listLinks, requireLink } from './links.ts';
import { Netlink } from './netlink/connection.ts';
import { askFrom, greetIn, needsRoot, temporaryNamespace } from './network.fixture.ts';
import { inNetworkNamespace, withDescriptor } from './network-namespace.ts';
import { PacketSocket } from './packet-socket.fixture.ts';
import { addVlan, deleteVlan } from './vlan.ts';

/** Talks to the kernel about this namespace. */
function within<T>(namespace: string, work: (netlink: Netlink) => T): T {
  return inNetworkNamespace(namespace, () => {
    using netlink = new Netlink();
    return work(netlink);
  });
}

/** Two namespaces with a cable between them, `enp6s0` on both sides. */
function cabled(t: TestContext): [string, string] {
  const [left, right] = [temporaryNamespace(t), temporaryNamespace(t)];
  within(left, (netlink) =>
    withDescriptor(right, (namespace) =>
      addLink(netlink, { name: 'enp6s0', kind: { is: 'veth', peer: { name: 'enp6s0', namespace } } }, { up: true }),
    ),
  );
  within(right, (netlink) => changeLink(netlink, 'enp6s0', { up: true }));
  return [left, right];
}

function give(namespace: string, link: string, address: string): void {
  within(namespace, (netlink) => {
    changeLink(netlink, link, { up: true });
    const { index } = requireLink(netlink, link);
    addAddress(netlink, { link: index, address: Address.parse(address) as Address, length: 24 });
  });
}

const vlan = (id: number) => ({ name: `enp6s0.${id}`, parent: 'enp6s0', id });

test('what crosses a VLAN has its tag on the wire, and nothing else has', needsRoot, async (t) => {
  const [left, right] = cabled(t);
  for (const [namespace, host] of [
    [left, 1],
    [right, 2],
  ] as const) {
    give(namespace, 'enp6s0', `192.0.2.${host}`);
    for (const id of [20, 21]) {
      for (const _ of ['once', 'and again']) within(namespace, (netlink) => addVlan(netlink, vlan(id)));
      give(namespace, `enp6s0.${id}`, `10.0.${id}.${host}`);
    }
  }
  const wire = new PacketSocket(right, 'enp6s0');
  t.after(() => wire.close());
  const port = await greetIn(t, right);

  assert.equal(await askFrom(left, '10.0.20.2', port), '10.0.20.1');
  const tagged = wire.passed().filter(({ type }) => type === IPV4);
  assert.ok(tagged.length > 0);
  // Seen are what comes in, with the tag, and what goes out, with the tag.
  assert.deepEqual([...new Set(tagged.map(({ vlan: id }) => id))], [20]);

  assert.equal(await askFrom(left, '10.0.21.2', port), '10.0.21.1');
  assert.deepEqual([...new Set(wire.passed().flatMap(({ type, vlan: id }) => (type === IPV4 ? [id] : [])))], [21]);

  assert.equal(await askFrom(left, '192.0.2.2', port), '192.0.2.1');
  assert.deepEqual(
    [...new Set(wire.passed().flatMap(({ type, vlan: id }) => (type === IPV4 ? [id] : [])))],
    [undefined],
  );
});

test('a link for a VLAN has the address of its parent, as hardware does it', needsRoot, (t) => {
  const [left] = cabled(t);
  within(left, (netlink) => {
    addVlan(netlink, vlan(20));
    assert.equal(requireLink(netlink, 'enp6s0.20').mac, requireLink(netlink, 'enp6s0').mac);
  });
});

test('a macvlan on a VLAN is reached from the other side', needsRoot, async (t) => {
  const [left, right] = cabled(t);
  const pod = temporaryNamespace(t);
  for (const namespace of [left, right]) within(namespace, (netlink) => addVlan(netlink, vlan(20)));
  give(left, 'enp6s0.20', '10.0.20.1');
  within(right, (netlink) => {
    changeLink(netlink, 'enp6s0.20', { up: true });
    const parent = requireLink(netlink, 'enp6s0.20').index;
    addLink(netlink, { name: 'net1', kind: { is: 'macvlan', parent, mode: 'bridge' } });
    withDescriptor(pod, (namespace) => changeLink(netlink, 'net1', { namespace }));
  });
  give(pod, 'net1', '10.0.20.30');

  assert.equal(await askFrom(left, '10.0.20.30', await greetIn(t, pod)), '10.0.20.1');
});

test('a VLAN that is deleted leaves nothing, however often it is asked for', needsRoot, (t) => {
  const [left] = cabled(t);
  within(left, (netlink) => {
    addVlan(netlink, vlan(20));
    addVlan(netlink, vlan(21));
    for (const _ of ['once', 'and again']) deleteVlan(netlink, 'enp6s0.20');
    const names = listLinks(netlink).map(({ name }) => name);
    assert.equal(names.filter((name) => name.endsWith('20')).length, 0);
    assert.ok(names.includes('enp6s0.21'));
    const link = requireLink(netlink, 'enp6s0').index;
    assert.equal(attachedProgram(netlink, { link, direction: 'in', number: 0x4000 + 20 }), undefined);
  });
});

test('a link that is something else is neither taken nor deleted', needsRoot, (t) => {
  const [left] = cabled(t);
  within(left, (netlink) => {
    addLink(netlink, { name: 'enp6s0.20', kind: { is: 'veth', peer: { name: 'other' } } });
    addLink(netlink, { name: 'enp6s0.21', kind: { is: 'bridge' } });
    assert.throws(() => addVlan(netlink, vlan(20)), /another link of that name, veth/);
    assert.throws(() => addVlan(netlink, vlan(21)), /another link of that name, bridge/);
    deleteVlan(netlink, 'enp6s0.20');
    requireLink(netlink, 'enp6s0.20');
    assert.throws(() => addVlan(netlink, { ...vlan(22), parent: 'absent' }), /no link absent/);
  });
});

const IPV4 = 0x0800;
