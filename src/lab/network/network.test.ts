import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Address } from '../../api/address.ts';
import { addAddress, listAddresses } from '../../linux/addresses.ts';
import { addLink, changeLink, deleteLink, findLink, listLinks, requireLink } from '../../linux/links.ts';
import { Netlink } from '../../linux/netlink/connection.ts';
import { askFrom, greetIn, needsRoot, uniqueName } from '../../linux/network.fixture.ts';
import {
  inNetworkNamespace,
  isNetworkNamespace,
  networkNamespacePath,
  networkNamespaces,
  removeNetworkNamespace,
} from '../../linux/network-namespace.ts';
import { changeFirewall } from '../../linux/nftables.ts';
import { PacketSocket } from '../../linux/packet-socket.fixture.ts';
import { addVlan } from '../../linux/vlan.ts';
import { system } from '../../runtime/system.ts';
import { cutLinks, healed, killed, NO_FAULTS } from '../faults.ts';
import { chooseManagementSubnet } from '../management-subnet.ts';
import type { LabPlan, PlannedHost } from '../plan/lab-plan.ts';
import { planned } from '../plan/planned.fixture.ts';
import { makeNetwork } from './make-network.ts';
import { portCounts } from './port-counts.ts';
import { removeHostNetworks, removeNetwork } from './remove-network.ts';
import { usedNetworks } from './used-networks.ts';

/** A lab of these switches, hosts and links, whose network is gone after the test. */
function passing(t: TestContext, body: string): LabPlan {
  const name = uniqueName();
  const management = chooseManagementSubnet(name, usedNetworks(''));
  const plan = planned(`lab: ${name}\n${body}`, `${management}`);
  t.after(() => removeNetwork(plan, system));
  return plan;
}

const hostOf = (plan: LabPlan, name: string): PlannedHost => {
  const found = plan.hosts.find((host) => host.name === name);
  assert.ok(found);
  return found;
};
const placeOf = (plan: LabPlan, name: string): string => networkNamespacePath(hostOf(plan, name).namespace);

function within<T>(namespace: string, work: (netlink: Netlink) => T): T {
  return inNetworkNamespace(namespace, () => {
    using netlink = new Netlink();
    return work(netlink);
  });
}

const carrier = (plan: LabPlan, host: string, link: string): boolean =>
  within(placeOf(plan, host), (netlink) => requireLink(netlink, link).carrier);

const rack = 'switches: { rack: { subnet: 10.9.0.0/24, vlans: { 20: 10.9.20.0/24, 21: 10.9.21.0/24 } } }';

test('hosts reach each other over their switch, and the machine over the management network', needsRoot, async (t) => {
  const plan = passing(t, `${rack}\nhosts: [a, b]`);
  for (const _ of ['once', 'and again']) makeNetwork(plan, NO_FAULTS);
  const port = await greetIn(t, placeOf(plan, 'b'));
  assert.equal(await askFrom(placeOf(plan, 'a'), '10.9.0.11', port), '10.9.0.10');
  const [address = ''] = hostOf(plan, 'b').management.address.split('/');
  assert.equal(await askFrom('/proc/self/ns/net', address, port), plan.management.address.split('/')[0]);
});

test(
  'a switch passes on what rules for packets would not, where the kernel would show them every frame',
  needsRoot,
  async (t) => {
    const plan = passing(t, `${rack}\nhosts: [a, b]`);
    makeNetwork(plan, NO_FAULTS);
    const table = { family: 'inet', table: 'netloom-test' };
    const forward = { ...table, name: 'forward', type: 'filter', hook: 'forward', prio: 0, policy: 'drop' };
    const commands = [{ add: { table: { family: 'inet', name: 'netloom-test' } } }, { add: { chain: forward } }];
    await changeFirewall(commands, networkNamespacePath(plan.namespace));
    const port = await greetIn(t, placeOf(plan, 'b'));
    assert.equal(await askFrom(placeOf(plan, 'a'), '10.9.0.11', port), '10.9.0.10');
  },
);

test('VLANs are kept apart, with real tags on the wire', needsRoot, async (t) => {
  const plan = passing(
    t,
    `${rack}\nhosts: { a: , b: , laptop: { links: { eth0: { switch: rack, vlan: 20 } } }, other: { links: { eth0: { switch: rack, vlan: 21 } } } }`,
  );
  makeNetwork(plan, NO_FAULTS);
  for (const [host, last] of [
    ['a', 1],
    ['b', 2],
  ] as const) {
    within(placeOf(plan, host), (netlink) => {
      for (const id of [20, 21]) {
        const name = `rack.${id}`;
        addVlan(netlink, { name, parent: 'rack', id });
        changeLink(netlink, name, { up: true });
        const address = Address.parse(`10.9.${id}.${last}`) as Address;
        addAddress(netlink, { link: requireLink(netlink, name).index, address, length: 24 });
      }
    });
  }
  const port = await greetIn(t, placeOf(plan, 'b'));
  const wire = new PacketSocket(placeOf(plan, 'b'), 'rack');
  t.after(() => wire.close());
  assert.equal(await askFrom(placeOf(plan, 'a'), '10.9.20.2', port), '10.9.20.1');
  assert.deepEqual([...new Set(wire.passed().flatMap(({ type, vlan }) => (type === 0x800 ? [vlan] : [])))], [20]);
  assert.equal(await askFrom(placeOf(plan, 'a'), '10.9.21.2', port), '10.9.21.1');
  // Without a tag on its own cable.
  const cable = new PacketSocket(placeOf(plan, 'laptop'), 'eth0');
  t.after(() => cable.close());
  assert.equal(await askFrom(placeOf(plan, 'laptop'), '10.9.20.2', port), '10.9.20.12');
  assert.ok(cable.passed().every(({ vlan }) => vlan === undefined));
  // Whoever shouts in another VLAN is not heard in this one.
  const other = new PacketSocket(placeOf(plan, 'other'), 'eth0');
  t.after(() => other.close());
  other.send({ content: 'hello' });
  const heard = await eventually(() => wire.received());
  assert.deepEqual(
    heard.map(({ vlan }) => vlan),
    [21],
  );
  assert.deepEqual(cable.received(), []);
});

test('a link between two hosts needs no switch, and holds back what is too much', needsRoot, async (t) => {
  const plan = passing(t, 'hosts: [a, b]\nlinks: [ { between: a:eth1 -- b:eth1, subnet: 10.9.0.0/31, rate: 20mbit } ]');
  makeNetwork(plan, NO_FAULTS);
  for (const [from, to, address] of [
    ['a', 'b', '10.9.0.1'],
    ['b', 'a', '10.9.0.0'],
  ] as const) {
    const milliseconds = await millisecondsFor(t, placeOf(plan, from), placeOf(plan, to), address, 500_000);
    // 2.5 MB in a second.
    assert.ok(milliseconds > 120 && milliseconds < 3_000, `500 kB took ${milliseconds} ms from ${to} to ${from}`);
  }
});

test('frames get lost where the document says so, and are counted', needsRoot, async (t) => {
  const plan = passing(t, 'switches: { rack: }\nhosts: { a: { links: { rack: { loss: 50% } } }, b: }');
  makeNetwork(plan, NO_FAULTS);
  const sender = new PacketSocket(placeOf(plan, 'b'), 'rack');
  t.after(() => sender.close());
  const receiver = new PacketSocket(placeOf(plan, 'a'), 'rack');
  t.after(() => receiver.close());
  const [link] = hostOf(plan, 'a').links;
  const lost = () => portCounts(plan).get(link?.port ?? '')?.lost ?? 0;
  // A bridge forwards a moment after its ports have carriers.
  await eventually(() => {
    sender.send({ content: 'is anybody there?' });
    return receiver.received();
  });
  const before = lost();
  let arrived = 0;
  for (let i = 0; i < 20; i++) {
    for (let j = 0; j < 20; j++) sender.send({ content: 'counted' });
    await pause(5);
    arrived += receiver.received().filter(({ content }) => content === 'counted').length;
  }
  // 200 with a standard deviation of 10.
  assert.ok(arrived > 120 && arrived < 280, `${arrived} of 400 frames arrived`);
  assert.ok(lost() - before > 120 && lost() - before < 280, `${lost() - before} of 400 frames were lost`);
});

test('what a link holds back or loses can become something else while it is used', needsRoot, async (t) => {
  const wire = (quality: string) =>
    `hosts: [a, b]\nlinks: [ { between: a:eth1 -- b:eth1, subnet: 10.9.0.0/31${quality} } ]`;
  const plan = passing(t, `switches: { rack: }\n${wire(', loss: 100%, rate: 8kbit')}`);
  const other = planned(`lab: ${plan.name}\nswitches: { rack: }\n${wire('')}`, plan.management.subnet);
  const ports = plan.hosts.flatMap(({ links }) => links.map(({ port }) => port));
  makeNetwork(plan, NO_FAULTS);
  assert.deepEqual([...portCounts(plan).keys()].sort(), ports.filter((port) => port.endsWith('eth1')).sort());
  makeNetwork(other, NO_FAULTS);
  const milliseconds = await millisecondsFor(t, placeOf(plan, 'a'), placeOf(plan, 'b'), '10.9.0.1', 500_000);
  assert.ok(milliseconds < 10_000, `500 kB took ${milliseconds} ms`);
  const switched = (loss: string) =>
    planned(
      `lab: ${plan.name}\nhosts: { a: { links: { rack: { loss: ${loss} } } }, b: }\nswitches: { rack: }`,
      plan.management.subnet,
    );
  const lossy = switched('100%');
  await removeNetwork(plan, system);
  makeNetwork(lossy, NO_FAULTS);
  assert.equal(portCounts(lossy).size, 1);
  makeNetwork(switched('0%'), NO_FAULTS);
  assert.equal(portCounts(lossy).size, 0, 'frames still get lost');
});

test('a cut link has no carrier, and when it is healed traffic passes again', needsRoot, async (t) => {
  const plan = passing(t, `${rack}\nhosts: [a, b]\nlinks: [ a:eth1 -- b:eth1 ]`);
  makeNetwork(plan, NO_FAULTS);
  const [a, b] = [hostOf(plan, 'a'), hostOf(plan, 'b')];
  const port = await greetIn(t, placeOf(plan, 'b'));

  const cut = cutLinks(NO_FAULTS, a, undefined);
  makeNetwork(plan, cut);
  for (const link of ['rack', 'eth1', 'management']) assert.equal(carrier(plan, 'a', link), false, link);
  assert.deepEqual(
    ['rack', 'eth1', 'management'].map((link) => carrier(plan, 'b', link)),
    [true, false, true],
  );
  makeNetwork(plan, healed(cut, b, 'eth1'));
  assert.deepEqual([carrier(plan, 'a', 'eth1'), carrier(plan, 'a', 'rack')], [true, false]);

  makeNetwork(plan, NO_FAULTS);
  assert.equal(await askFrom(placeOf(plan, 'a'), '10.9.0.11', port), '10.9.0.10');
});

test('a dead host is not there, whoever has a cable to it notices, and the others go on', needsRoot, async (t) => {
  const plan = passing(t, `${rack}\nhosts: [a, b, c]\nlinks: [ a:eth1 -- b:eth1 ]`);
  makeNetwork(plan, NO_FAULTS);
  const port = await greetIn(t, placeOf(plan, 'c'));
  await removeHostNetworks(plan, [hostOf(plan, 'b')], system);
  makeNetwork(plan, killed(NO_FAULTS, 'b'));
  assert.equal(isNetworkNamespace(placeOf(plan, 'b')), false);
  assert.equal(carrier(plan, 'a', 'eth1'), false);
  assert.equal(await askFrom(placeOf(plan, 'a'), '10.9.0.12', port), '10.9.0.10');

  makeNetwork(plan, NO_FAULTS);
  assert.equal(carrier(plan, 'a', 'eth1'), true);
  assert.equal(await askFrom(placeOf(plan, 'b'), '10.9.0.12', port), '10.9.0.11');
});

test(
  'whatever is missing, because a crash came in between or somebody took it away, is made again',
  needsRoot,
  async (t) => {
    const plan = passing(
      t,
      `${rack}\nhosts: [a, b]\nlinks: [ { between: a:eth1 -- b:eth1, subnet: 10.9.1.0/30, rate: 1gbit } ]`,
    );
    makeNetwork(plan, NO_FAULTS);
    // A bridge has its carrier a moment after its ports have theirs.
    await pause(500);
    const whole = everythingOf(plan);
    const switches = networkNamespacePath(plan.namespace);
    const [a] = plan.hosts as [PlannedHost, PlannedHost];
    const damages: Record<string, () => void> = {
      'the end of a link': () => within(placeOf(plan, 'a'), (netlink) => deleteLink(netlink, 'rack')),
      'the other end of a link': () => within(switches, (netlink) => deleteLink(netlink, 'b.eth1')),
      'the management link': () => within('/proc/self/ns/net', (netlink) => deleteLink(netlink, a.management.port)),
      'the management bridge': () =>
        within('/proc/self/ns/net', (netlink) => deleteLink(netlink, plan.management.bridge)),
      'a switch': () => within(switches, (netlink) => deleteLink(netlink, 'rack')),
      'all switches': () => removeNetworkNamespace(plan.namespace),
      'a host': () => removeNetworkNamespace(a.namespace),
      'the state of a link': () => within(placeOf(plan, 'a'), (netlink) => changeLink(netlink, 'eth1', { up: false })),
      'the state of a port': () =>
        within(switches, (netlink) => changeLink(netlink, 'a.rack', { up: false, master: 0 })),
      'an address': () =>
        within(placeOf(plan, 'b'), (netlink) => {
          changeLink(netlink, 'rack', { up: false });
          deleteLink(netlink, 'eth1');
        }),
    };
    for (const [what, damage] of Object.entries(damages)) {
      damage();
      assert.notDeepEqual(everythingOf(plan), whole, what);
      makeNetwork(plan, NO_FAULTS);
      await eventually(() => (isDeepStrictEqual(everythingOf(plan), whole) ? [true] : [])).catch(() => {});
      assert.deepEqual(everythingOf(plan), whole, what);
    }
  },
);

test('nothing is left of a lab, also of half a lab, and labs beside it stay', needsRoot, async (t) => {
  const [plan, other] = [passing(t, `${rack}\nhosts: [a, b]`), passing(t, `${rack}\nhosts: [c, d]`)];
  makeNetwork(plan, NO_FAULTS);
  makeNetwork(other, NO_FAULTS);
  await pause(500);
  const untouched = everythingOf(other);
  removeNetworkNamespace(hostOf(plan, 'a').namespace);
  for (const _ of ['once', 'and again']) await removeNetwork(plan, system);
  assert.deepEqual(networkNamespaces(plan.namespace), []);
  within('/proc/self/ns/net', (netlink) => {
    assert.equal(findLink(netlink, plan.management.bridge), undefined);
    for (const { management } of plan.hosts) assert.equal(findLink(netlink, management.port), undefined);
  });
  assert.deepEqual(everythingOf(other), untouched);
});

test('a bridge of somebody else is neither taken nor removed', needsRoot, async (t) => {
  const plan = passing(t, 'hosts: [a]');
  using netlink = new Netlink();
  addLink(netlink, { name: plan.management.bridge, kind: { is: 'bridge' } }, { up: true });
  t.after(() => within('/proc/self/ns/net', (own) => deleteLink(own, plan.management.bridge)));
  assert.throws(() => makeNetwork(plan, NO_FAULTS), /which is not of the lab/);
  await removeNetwork(plan, system);
  requireLink(netlink, plan.management.bridge);
});

/** What there is of something as soon as there is anything. */
async function eventually<T>(look: () => readonly T[]): Promise<readonly T[]> {
  for (let tries = 0; tries < 500; tries++) {
    const found = look();
    if (found.length > 0) return found;
    await pause(10);
  }
  return assert.fail('nothing came of it within five seconds');
}

/** Every link of a lab as the kernel has it, with its addresses and what it is plugged into. */
function everythingOf(plan: LabPlan): Record<string, unknown> {
  const ours = new Set([plan.management.bridge, ...plan.hosts.map(({ management }) => management.port)]);
  const hosts = plan.hosts.flatMap(({ management, links }) => [management.mac, ...links.map(({ mac }) => mac)]);
  const macs = new Set([plan.management.mac, ...hosts]);
  const places = [plan.namespace, ...plan.hosts.map(({ namespace }) => namespace)];
  const outside = within('/proc/self/ns/net', (netlink) => linksIn(netlink, macs, (name) => ours.has(name)));
  const inside = places.map((name) => {
    const file = networkNamespacePath(name);
    return [name, isNetworkNamespace(file) ? within(file, (netlink) => linksIn(netlink, macs, () => true)) : 'gone'];
  });
  return { outside, ...Object.fromEntries(inside) };
}

function linksIn(netlink: Netlink, macs: ReadonlySet<string>, isOurs: (name: string) => boolean): unknown[] {
  const links = listLinks(netlink);
  const addresses = listAddresses(netlink).filter(({ address }) => !`${address}`.startsWith('fe80'));
  return links
    .filter(({ name }) => isOurs(name))
    .map(({ index, name, kind, up, carrier: isCarried, mtu, mac, master, alias }) => ({
      ...{ name, kind, up, isCarried, mtu, alias },
      // Others are made up by the kernel.
      mac: macs.has(mac ?? '') ? mac : 'some',
      master: links.find((link) => link.index === master)?.name,
      addresses: addresses.filter(({ link }) => link === index).map(({ address, length }) => `${address}/${length}`),
    }))
    .sort((one, another) => (one.name < another.name ? -1 : 1));
}

/** How long it takes until so many bytes have come to a namespace from another. */
async function millisecondsFor(
  t: TestContext,
  to: string,
  from: string,
  address: string,
  bytes: number,
): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(Buffer.alloc(bytes));
  });
  inNetworkNamespace(from, () => server.listen(0));
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  const began = performance.now();
  const child = inNetworkNamespace(to, () =>
    spawn('timeout', ['20', 'bash', '-c', `exec 3<>/dev/tcp/${address}/${port} && wc -c <&3`]),
  );
  const [counted] = await Promise.all([text(child.stdout), once(child, 'close')]);
  assert.equal(counted.trim(), `${bytes}`);
  return performance.now() - began;
}
