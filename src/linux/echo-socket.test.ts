import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Address, type Family } from '../api/address.ts';
import { EchoSocket } from './echo-socket.ts';
import { changeLink } from './links.ts';
import { Netlink } from './netlink/connection.ts';
import { needsRoot, temporaryNamespace } from './network.fixture.ts';
import { inNetworkNamespace } from './network-namespace.ts';

const parse = (text: string): Address => Address.parse(text) as Address;

/** Sockets in a network where nobody is but ourselves. */
function alone(t: TestContext, ...wanted: readonly (readonly [family: Family, id: number])[]): EchoSocket[] {
  return inNetworkNamespace(temporaryNamespace(t), () => {
    using netlink = new Netlink();
    changeLink(netlink, 'lo', { up: true });
    return wanted.map(([family, id]) => {
      const socket = new EchoSocket(family, id);
      t.after(() => socket.close());
      return socket;
    });
  });
}

/** Asks until somebody answers. */
async function answered(socket: EchoSocket, ...addresses: readonly string[]): Promise<string[]> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    for (const address of addresses) socket.ask(parse(address));
    await sleep(20);
    const found = socket.answers();
    if (found.length > 0) return [...new Set(found.map(String))];
  }
  return [];
}

test('an echo comes from who is there, and from nobody else', needsRoot, async (t) => {
  const [four, six] = alone(t, [4, 7], [6, 7]) as [EchoSocket, EchoSocket];
  assert.deepEqual(await answered(four, '127.0.0.9', '192.0.2.1'), ['127.0.0.9']);
  assert.deepEqual(await answered(six, '::1', '2001:db8::1'), ['::1']);
});

test('an answer waits for who looks late, and belongs to who asked', needsRoot, async (t) => {
  const [one, other] = alone(t, [4, 7], [4, 8]) as [EchoSocket, EchoSocket];
  one.ask(parse('127.0.0.1'));
  assert.deepEqual(await answered(other, '127.0.0.2'), ['127.0.0.2']);
  assert.deepEqual(one.answers().map(String), ['127.0.0.1']);
  assert.deepEqual(one.answers(), []);
});
