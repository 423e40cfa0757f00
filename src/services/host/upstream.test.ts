import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { Resolver as Client } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { silentLog } from '../../runtime/log.ts';
import { Cluster } from './cluster.fixture.ts';
import { questionFor } from './dns-answers.ts';
import { CODES, encodeReply, parseQuestion, TYPES } from './dns-message.ts';
import { ip, moveIntoOwnNetwork, needsRoot } from './own-network.fixture.ts';
import { framed, Resolver } from './resolver.ts';
import { ServiceZone } from './service-zone.ts';
import { Upstream } from './upstream.ts';

/** A question of twelve bytes is enough for who only passes it on. */
const QUESTION = Buffer.from('0102000000000000000000ff', 'hex');

/** Real sockets in a network of their own, where the port of DNS is free. */
describe('the name servers of a host', needsRoot, () => {
  let servers: string[] = [];
  const upstream = new Upstream(() => servers);

  before(() => moveIntoOwnNetwork());
  after(() => upstream.close());
  beforeEach(() => {
    servers = [];
  });

  it('are asked what is not ours, and their answers passed on as they are', async (t) => {
    servers = [await nameServer(t, '127.0.0.2')];
    const answer = await upstream.ask(QUESTION, 'udp');
    assert.deepEqual(answer, Buffer.concat([answering(QUESTION), Buffer.from('127.0.0.2')]));
    assert.deepEqual(
      await upstream.ask(QUESTION, 'tcp'),
      Buffer.concat([answering(QUESTION), Buffer.from('over TCP')]),
    );
  });

  it('that no route leads to are passed over', async (t) => {
    servers = ['192.0.2.53', '2001:db8::53', await nameServer(t, '127.0.0.3')];
    assert.match(String(await upstream.ask(QUESTION, 'udp')), /127\.0\.0\.3$/);
    assert.match(String(await upstream.ask(QUESTION, 'tcp')), /over TCP$/);
  });

  it('that refuse are passed over, and when nobody is left there is no answer', async () => {
    ip('addr add 127.0.0.4/32 dev lo');
    servers = ['127.0.0.4', '192.0.2.53', 'no address at all'];
    assert.equal(await upstream.ask(QUESTION, 'udp'), undefined);
    assert.equal(await upstream.ask(QUESTION, 'tcp'), undefined);
  });

  it('are not believed when the answer is to another question, or none', async (t) => {
    const asked = questionFor('www.example.com', TYPES.A);
    const forgeries: ((answer: Buffer) => unknown)[] = [
      (answer) => answer.writeUInt16BE(answer.readUInt16BE(0) ^ 1, 0),
      (answer) => answer.writeUInt8(answer.readUInt8(2) & 0x7f, 2),
      (answer) => answer.write('v', 13),
    ];
    servers = ['127.0.0.5', await nameServer(t, '127.0.0.6')];
    for (const forge of forgeries) {
      const forger = createSocket('udp4', (message, from) => {
        const forged = answering(message);
        forge(forged);
        forger.send(forged, from.port, from.address);
      });
      forger.bind(53, '127.0.0.5');
      await once(forger, 'listening');
      const answer = await new Upstream(() => servers).ask(asked, 'udp');
      forger.close();
      assert.match(String(answer), /127\.0\.0\.6$/);
    }
  });

  it('may write the question in other letters', async (t) => {
    const server = createSocket('udp4', (message, from) => {
      const answer = answering(message);
      answer.write('WWW', 13);
      server.send(answer, from.port, from.address);
    });
    server.bind(53, '127.0.0.10');
    await once(server, 'listening');
    t.after(() => server.close());
    servers = ['127.0.0.10'];
    assert.match(String(await upstream.ask(questionFor('www.example.com', TYPES.A), 'udp')), /WWW/);
  });

  it('are asked after the others for a while when they were silent, so that only one question waits for them', async (t) => {
    let heard = 0;
    const silent = createSocket('udp4', () => {
      heard += 1;
    });
    silent.bind(53, '127.0.0.11');
    await once(silent, 'listening');
    t.after(() => silent.close());
    servers = ['127.0.0.11', await nameServer(t, '127.0.0.12')];
    for (let i = 0; i < 5; i += 1) assert.match(String(await upstream.ask(QUESTION, 'udp')), /127\.0\.0\.12$/);
    assert.equal(heard, 1);
    servers = ['127.0.0.11'];
    assert.equal(await upstream.ask(QUESTION, 'udp'), undefined, 'where there is no other it is asked all the same');
    assert.equal(heard, 2);
  });
});

describe('a name that stands for one elsewhere', needsRoot, () => {
  it('is followed to its end by the resolver of the host', async (t) => {
    const elsewhere = createSocket('udp4', (message, from) => {
      const question = parseQuestion(message);
      assert.ok(question?.name === 'db.example.com');
      const address = { name: question.name, ttl: 9, type: 'A', address: '192.0.2.9' } as const;
      elsewhere.send(encodeReply(question, { code: 0, answers: [address] }, 512), from.port, from.address);
    });
    elsewhere.bind(53, '127.0.0.8');
    await once(elsewhere, 'listening');
    t.after(() => elsewhere.close());
    const cluster = new Cluster();
    cluster.service('db', { type: 'ExternalName', externalName: 'db.example.com' });
    const zone = new ServiceZone({ ...cluster, domain: 'cluster.local' });
    const resolver = await Resolver.start({
      ...{ address: '127.0.0.1', port: 0, log: silentLog },
      answer: (question) => zone.answer(question),
      upstream: () => ['127.0.0.8'],
    });
    t.after(() => resolver.stop());
    const client = new Client({ timeout: 5_000, tries: 1 });
    client.setServers([`127.0.0.1:${resolver.port}`]);
    assert.deepEqual(await client.resolve4('db.openstack.svc'), ['192.0.2.9']);
    assert.deepEqual(await client.resolveCname('db.openstack.svc'), ['db.example.com']);
  });
});

describe('a client that means ill', needsRoot, () => {
  it('harms nobody by a packet that comes from nowhere', async (t) => {
    const resolver = await Resolver.start({
      ...{ address: '127.0.0.1', port: 0, log: silentLog },
      answer: () => ({ code: CODES.noSuchName, answers: [] }),
      upstream: () => [],
    });
    t.after(() => resolver.stop());
    const question = questionFor('any.example.com', TYPES.A).toString('hex');
    const script = `use Socket; my $q = pack 'H*', '${question}'; socket my $s, PF_INET, SOCK_RAW, 17;
      send $s, pack('nnnn', 0, ${resolver.port}, 8 + length $q, 0) . $q, 0, pack_sockaddr_in(0, inet_aton('127.0.0.1'))`;
    execFileSync('perl', ['-e', script]);
    const client = new Client({ timeout: 5_000, tries: 1 });
    client.setServers([`127.0.0.1:${resolver.port}`]);
    await assert.rejects(client.resolve4('any.example.com'), { code: 'ENOTFOUND' });
  });

  it('is refused when it asks too much, and takes nothing from others: neither answers nor connections', async (t) => {
    const silent = createSocket('udp4').bind(53, '127.0.0.9');
    await once(silent, 'listening');
    t.after(() => silent.close());
    const resolver = await Resolver.start({
      ...{ address: '127.0.0.1', port: 0, log: silentLog },
      answer: () => undefined,
      upstream: () => ['127.0.0.9'],
    });
    t.after(() => resolver.stop());
    const greedy = createSocket('udp4').bind(0, '127.0.0.2');
    t.after(() => greedy.close());
    const refused = once(greedy, 'message', { signal: AbortSignal.timeout(30_000) });
    for (let i = 0; i < 250; i += 1)
      greedy.send(questionFor(`name-${i}.example.com`, TYPES.A), resolver.port, '127.0.0.1');
    const [answer] = await refused;
    assert.equal(answer.readUInt16BE(2) & 0xf, CODES.refused);

    const kept: Socket[] = [];
    t.after(() => {
      for (const socket of kept) socket.destroy();
    });
    for (let i = 0; i < 40; i += 1) {
      const socket = connect({ port: resolver.port, host: '127.0.0.1', localAddress: '127.0.0.2' }).on(
        'error',
        () => {},
      );
      kept.push(socket);
      await once(socket, 'connect');
    }
    await once(kept.at(-1) as Socket, 'close');
    const modest = connect({ port: resolver.port, host: '127.0.0.1', localAddress: '127.0.0.3' });
    kept.push(modest);
    modest.write(framed(questionFor('other.example.com', TYPES.A)));
    const [failed] = await once(modest, 'data', { signal: AbortSignal.timeout(30_000) });
    assert.equal(failed.readUInt16BE(4) & 0xf, CODES.serverFailure, 'nobody elsewhere answers, but it was asked');
  });
});

/** The question as it stands at the beginning of an answer. */
function answering(message: Buffer): Buffer {
  const answer = Buffer.from(message);
  answer.writeUInt8(answer.readUInt8(2) | 0x80, 2);
  return answer;
}

/** Says back what it was asked, and where. */
async function nameServer(t: TestContext, address: string): Promise<string> {
  const udp = createSocket('udp4', (message, from) => {
    udp.send(Buffer.concat([answering(message), Buffer.from(address)]), from.port, from.address);
  });
  udp.bind(53, address);
  await once(udp, 'listening');
  const tcp = createServer((socket) => {
    socket.once('data', (data) =>
      socket.end(framed(Buffer.concat([answering(data.subarray(2)), Buffer.from('over TCP')]))),
    );
  });
  tcp.listen(53, address);
  await once(tcp, 'listening');
  t.after(() => {
    udp.close();
    tcp.close();
  });
  return address;
}
