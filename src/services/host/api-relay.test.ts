import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { ApiRelay } from './api-relay.ts';

const portOf = (server: Server): number => {
  const address = server.address();
  return address === null || typeof address === 'string' ? 0 : address.port;
};

describe('the relay to the API', () => {
  let server: Server;
  let relay: ApiRelay;
  before(async () => {
    // Answers when the question has ended, as half-closed connections allow.
    server = createServer({ allowHalfOpen: true }, async (socket) => {
      socket.on('error', () => {});
      const question = await text(socket).catch(() => '');
      socket.end(`you said ${question.length} bytes`);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const target = { host: '127.0.0.1', port: portOf(server) };
    relay = await ApiRelay.start({ address: '127.0.0.1', port: 0, target });
  });
  after(async () => {
    await relay.stop();
    server.close();
  });

  it('passes on everything and the end of it, in both directions', async () => {
    const socket = connect(relay.port, '127.0.0.1');
    socket.end(Buffer.alloc(3_000_000));
    assert.equal(await text(socket), 'you said 3000000 bytes');
  });

  it('lets go of a connection when either side breaks', async () => {
    const socket = connect(relay.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('half a question');
    socket.resetAndDestroy();
    const another = connect(relay.port, '127.0.0.1');
    another.end('whole');
    assert.equal(await text(another), 'you said 5 bytes');
  });

  it('closes at once where the API does not listen', async () => {
    const nowhere = createServer();
    nowhere.listen(0, '127.0.0.1');
    await once(nowhere, 'listening');
    const port = portOf(nowhere);
    nowhere.close();
    const deaf = await ApiRelay.start({ address: '127.0.0.1', port: 0, target: { host: '127.0.0.1', port } });
    const socket = connect(deaf.port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'close');
    await deaf.stop();
  });
});
