import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { Address } from '../api/address.ts';
import { addAddress } from './addresses.ts';
import { addLink, changeLink, requireLink } from './links.ts';
import { Netlink } from './netlink/connection.ts';
import { needsRoot, temporaryNamespace } from './network.fixture.ts';
import { inNetworkNamespace, withDescriptor } from './network-namespace.ts';
import { shapeLink, shaping } from './shaping.ts';

/** Two namespaces with a cable between them, with `10.0.0.1` and `10.0.0.2`. */
function cabled(t: TestContext): [string, string] {
  const [left, right] = [temporaryNamespace(t), temporaryNamespace(t)];
  within(left, (netlink) =>
    withDescriptor(right, (namespace) =>
      addLink(netlink, { name: 'v0', kind: { is: 'veth', peer: { name: 'v0', namespace } } }),
    ),
  );
  for (const [namespace, address] of [
    [left, '10.0.0.1'],
    [right, '10.0.0.2'],
  ] as const) {
    within(namespace, (netlink) => {
      changeLink(netlink, 'v0', { up: true });
      const link = requireLink(netlink, 'v0').index;
      addAddress(netlink, { link, address: Address.parse(address) as Address, length: 24 });
    });
  }
  return [left, right];
}

function within<T>(namespace: string, work: (netlink: Netlink) => T): T {
  return inNetworkNamespace(namespace, () => {
    using netlink = new Netlink();
    return work(netlink);
  });
}

/** How long it takes until so many bytes have come from the right to the left. */
async function millisecondsFor(t: TestContext, [left, right]: readonly [string, string], bytes: number) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(Buffer.alloc(bytes));
  });
  inNetworkNamespace(right, () => server.listen(0));
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  const began = performance.now();
  const child = inNetworkNamespace(left, () =>
    spawn('timeout', ['30', 'bash', '-c', `exec 3<>/dev/tcp/10.0.0.2/${port} && wc -c <&3`]),
  );
  const [counted] = await Promise.all([text(child.stdout), once(child, 'close')]);
  assert.equal(counted.trim(), `${bytes}`);
  return performance.now() - began;
}

test('a link lets so many bits pass in a second, and again all of them when nothing is said', needsRoot, async (t) => {
  const ends = cabled(t);
  const shape = (bitsPerSecond?: number) =>
    within(ends[1], (netlink) => shapeLink(netlink, requireLink(netlink, 'v0').index, { bitsPerSecond }));
  for (const _ of ['once', 'and again']) shape(20_000_000);
  // 2.5 MB in a second.
  const slow = await millisecondsFor(t, ends, 1_000_000);
  assert.ok(slow > 300 && slow < 4_000, `1 MB took ${slow} ms`);
  for (const _ of ['once', 'and again']) shape();
  const fast = await millisecondsFor(t, ends, 1_000_000);
  assert.ok(fast < slow, `without a limit it took ${fast} ms, with one ${slow} ms`);
});

test('what others have put on a link stays when nothing is said', needsRoot, (t) => {
  const [left] = cabled(t);
  within(left, (netlink) => {
    const { index } = requireLink(netlink, 'v0');
    netlink.request({ ...shaping(index, { bitsPerSecond: 1_000_000 }), body: othersTokenBucket(index) });
    shapeLink(netlink, index, {});
    assert.throws(() => netlink.request({ ...shaping(index, {}), flags: EXCLUSIVE, body: othersTokenBucket(index) }), {
      code: 'EEXIST',
    });
  });
});

test('a delay is written as tc(8) writes it', () => {
  // tc qdisc replace dev v0 root handle 6e6c: netem delay 10ms rate 100mbit limit 100000
  const { body } = shaping(1, { delayMs: 10, bitsPerSecond: 100_000_000 });
  assert.equal(
    Buffer.concat(body.slice(1)).toString('hex'),
    `0a0001006e6574656d000000${'3000' + '0200'}5a620200a0860100${'00'.repeat(16)}1400060020bcbe00${'00'.repeat(12)}`,
  );
});

/** The same, by the handle of somebody else. */
function othersTokenBucket(link: number): Buffer[] {
  const [header, ...rest] = shaping(link, { bitsPerSecond: 1_000_000 }).body.map((part) => Buffer.from(part));
  header?.writeUInt32LE(0x1_0000, 8);
  return [header as Buffer, ...rest];
}

const EXCLUSIVE = 0x600;
