import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { changeLink, requireLink } from '../../../../linux/links.ts';
import { Netlink } from '../../../../linux/netlink/connection.ts';
import { needsRoot, temporaryNamespace } from '../../../../linux/network.fixture.ts';
import { inNetworkNamespace } from '../../../../linux/network-namespace.ts';
import { connectToPod } from './pod-socket.ts';

describe('sockets into pods', needsRoot, () => {
  /** A namespace whose loopback device is there. */
  function podNamespace(t: TestContext): string {
    const namespace = temporaryNamespace(t);
    inNetworkNamespace(namespace, () => {
      using netlink = new Netlink();
      changeLink(netlink, requireLink(netlink, 'lo').index, { up: true });
    });
    return namespace;
  }

  /** Listens in a namespace, and says its name. */
  async function listen(t: TestContext, namespace: string, name: string, port = 0): Promise<number> {
    const server = createServer((socket) => socket.end(name));
    t.after(() => server.close());
    // Without a host, the socket is made before listen() returns.
    inNetworkNamespace(namespace, () => server.listen(port));
    if (!server.listening) await once(server, 'listening');
    const bound = server.address();
    assert.ok(bound !== null && typeof bound === 'object');
    return bound.port;
  }

  async function heard(socket: Socket): Promise<string> {
    socket.end();
    return text(socket);
  }

  test('lead to what listens in that pod, though others listen on the same port', async (t) => {
    const [one, other] = [podNamespace(t), podNamespace(t)];
    const port = await listen(t, one, 'one');
    await listen(t, other, 'other', port);
    assert.equal(await heard(await connectToPod(one, port)), 'one');
    assert.equal(await heard(await connectToPod(other, port)), 'other');
  });

  test('lead to what listens at ::1 alone', async (t) => {
    const namespace = podNamespace(t);
    const program = `require('net').createServer((socket) => socket.end('six')).listen(9006, '::1', () => console.log('ready'))`;
    const child = inNetworkNamespace(namespace, () => spawn(process.execPath, ['-e', program]));
    t.after(() => child.kill());
    await once(child.stdout, 'data');
    assert.equal(await heard(await connectToPod(namespace, 9006)), 'six');
  });

  test('are refused where nobody listens, or nothing is', async (t) => {
    await assert.rejects(connectToPod(podNamespace(t), 9007), /connect ECONNREFUSED 127\.0\.0\.1:9007/);
    await assert.rejects(connectToPod('/run/netns/netloom-test-that-is-not-there', 9007), /ENOENT/);
  });
});
