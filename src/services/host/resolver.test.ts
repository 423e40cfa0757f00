import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { Resolver as Client } from 'node:dns/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { silentLog } from '../../runtime/log.ts';
import { Cluster } from './cluster.fixture.ts';
import { parseAnswers, questionFor } from './dns-answers.ts';
import { encodeReply, parseQuestion, TYPES } from './dns-message.ts';
import { framed, Resolver } from './resolver.ts';
import { ServiceZone } from './service-zone.ts';

/** A real client of DNS asks a real server on a real socket. */
describe('the resolver of a host', () => {
  const cluster = new Cluster();
  let resolver: Resolver;
  const client = new Client({ timeout: 2_000, tries: 1 });

  before(async () => {
    const zone = new ServiceZone({ services: cluster.services, slices: cluster.slices, domain: 'cluster.local' });
    resolver = await Resolver.start({
      address: '127.0.0.1',
      port: 0,
      answer: (question) => zone.answer(question),
      upstream: () => [],
      log: silentLog,
    });
    client.setServers([`127.0.0.1:${resolver.port}`]);
    cluster.service('web', {
      clusterIP: '10.96.0.10',
      clusterIPs: ['10.96.0.10', 'fd00:96::10'],
      ports: [{ name: 'http', port: 80 }],
    });
    cluster.service('db', { clusterIP: 'None', ports: [{ name: 'sql', port: 5432 }] });
    cluster.endpoints(
      'db',
      [
        { addresses: ['10.244.0.5'], hostname: 'db-0', conditions: { ready: true } },
        { addresses: ['10.244.1.6'], hostname: 'db-1', conditions: { ready: true } },
        { addresses: ['10.244.1.7'], hostname: 'db-2', conditions: { ready: false } },
      ],
      [{ name: 'sql', port: 5432 }],
    );
    cluster.endpoints('web', [
      { addresses: ['10.244.2.1'], hostname: 'web-0', conditions: { ready: true } },
      { addresses: ['10.244.2.2'], conditions: { ready: true } },
    ]);
    cluster.service('idle', { clusterIP: 'None' });
    cluster.service('elsewhere', { type: 'ExternalName', externalName: 'db.example.com.' });
  });

  after(() => resolver.stop());

  const codeOf = (asked: Promise<unknown>): Promise<string> =>
    asked.then(
      () => 'answered',
      (error: { code?: string }) => error.code ?? '',
    );

  it('answers for a Service with and without the domain of the cluster, in both families', async () => {
    assert.deepEqual(await client.resolve4('web.openstack.svc.cluster.local'), ['10.96.0.10']);
    assert.deepEqual(await client.resolve4('web.openstack.svc'), ['10.96.0.10']);
    assert.deepEqual(await client.resolve4('WEB.OpenStack.SVC'), ['10.96.0.10']);
    assert.deepEqual(await client.resolve6('web.openstack.svc'), ['fd00:96::10']);
  });

  it('answers for a headless Service with its ready pods, and for each of them by name', async () => {
    const found = await client.resolve4('db.openstack.svc.cluster.local');
    assert.deepEqual(found.sort(), ['10.244.0.5', '10.244.1.6']);
    assert.deepEqual(await client.resolve4('db-1.db.openstack.svc.cluster.local'), ['10.244.1.6']);
    assert.equal(await codeOf(client.resolve4('db-2.db.openstack.svc.cluster.local')), 'ENOTFOUND');
  });

  it('answers for each pod of any Service by name', async () => {
    assert.deepEqual(await client.resolve4('web-0.web.openstack.svc.cluster.local'), ['10.244.2.1']);
    assert.deepEqual(await client.resolve4('10-244-2-2.web.openstack.svc.cluster.local'), ['10.244.2.2']);
    assert.equal(await codeOf(client.resolve4('web-1.web.openstack.svc.cluster.local')), 'ENOTFOUND');
  });

  it('names a pod of both families once behind a port, and with both addresses', async () => {
    cluster.service('both', { clusterIP: 'None', ports: [{ name: 'sql', port: 5432 }] });
    const ports = [{ name: 'sql', port: 5432 }];
    const slice = cluster.endpoints('both', [{ addresses: ['10.244.2.8'], hostname: 'both-0' }], ports);
    const metadata = { ...slice.metadata, name: 'both-2' };
    const endpoints = [{ addresses: ['fd00:244::8'], hostname: 'both-0' }];
    cluster.slices.set({ ...slice, metadata, addressType: 'IPv6', endpoints });
    const found = await client.resolveSrv('_sql._tcp.both.openstack.svc.cluster.local');
    assert.deepEqual(
      found.map(({ name }) => name),
      ['both-0.both.openstack.svc.cluster.local'],
    );
    assert.deepEqual(await client.resolve6('both-0.both.openstack.svc.cluster.local'), ['fd00:244::8']);
  });

  it('says on which port a Service answers', async () => {
    const [srv] = await client.resolveSrv('_http._tcp.web.openstack.svc.cluster.local');
    assert.deepEqual([srv?.name, srv?.port], ['web.openstack.svc.cluster.local', 80]);
    const all = await client.resolveSrv('_sql._tcp.db.openstack.svc.cluster.local');
    assert.deepEqual(all.map(({ name, port }) => `${name}:${port}`).sort(), [
      'db-0.db.openstack.svc.cluster.local:5432',
      'db-1.db.openstack.svc.cluster.local:5432',
    ]);
    assert.equal(await codeOf(client.resolveSrv('_ftp._tcp.web.openstack.svc.cluster.local')), 'ENOTFOUND');
  });

  it('finds the way back from an address, and to a name elsewhere', async () => {
    assert.deepEqual(await client.reverse('10.96.0.10'), ['web.openstack.svc.cluster.local']);
    assert.deepEqual(await client.reverse('fd00:96::10'), ['web.openstack.svc.cluster.local']);
    assert.deepEqual(await client.reverse('10.244.0.5'), ['db-0.db.openstack.svc.cluster.local']);
    cluster.service('plain', { clusterIP: 'None' });
    cluster.endpoints('plain', [{ addresses: ['10.244.2.9'] }]);
    assert.deepEqual(await client.reverse('10.244.2.9'), ['10-244-2-9.plain.openstack.svc.cluster.local']);
    assert.notEqual(
      await codeOf(client.reverse('10.244.2.2')),
      'answered',
      'one without a name of its own is known by its Service',
    );
    assert.notEqual(
      await codeOf(client.reverse('10.244.1.7')),
      'answered',
      'of a pod that is not ready nothing is told',
    );
    assert.deepEqual(await client.resolveCname('elsewhere.openstack.svc'), ['db.example.com']);
  });

  it('tells a name that is not there from one that has no such record', async () => {
    assert.equal(await codeOf(client.resolve4('nobody.openstack.svc.cluster.local')), 'ENOTFOUND');
    assert.equal(await codeOf(client.resolve4('something.cluster.local')), 'ENOTFOUND');
    assert.equal(await codeOf(client.resolve4('idle.openstack.svc.cluster.local')), 'ENOTFOUND');
    assert.equal(await codeOf(client.resolve6('db.openstack.svc.cluster.local')), 'ENODATA');
    assert.equal((await client.resolveSoa('cluster.local')).minttl, 5);
    assert.equal(await codeOf(client.resolveTxt('web.openstack.svc')), 'ENODATA');
    assert.equal(await codeOf(client.resolve4('openstack.svc.cluster.local')), 'ENODATA');
    assert.equal(await codeOf(client.resolve4('nowhere.svc.cluster.local')), 'ENOTFOUND');
    assert.equal(await codeOf(client.resolve4('_tcp.web.openstack.svc.cluster.local')), 'ENODATA');
  });

  it('refuses names of others where nobody could be asked', async () => {
    assert.equal(await codeOf(client.resolve4('www.example.com')), 'EREFUSED');
  });

  it('answers at once what has changed', async () => {
    cluster.service('moving', { clusterIP: '10.96.0.20' });
    assert.deepEqual(await client.resolve4('moving.openstack.svc'), ['10.96.0.20']);
    cluster.service('moving', { clusterIP: '10.96.0.21' });
    assert.deepEqual(await client.resolve4('moving.openstack.svc'), ['10.96.0.21']);
  });

  it('sends what is too long for UDP over TCP', async () => {
    cluster.service('many', { clusterIP: 'None' });
    const pods = Array.from({ length: 200 }, (_, i) => ({ addresses: [`10.244.9.${i}`] }));
    cluster.endpoints('many', pods);
    // The client asks again over TCP by itself.
    assert.equal((await client.resolve4('many.openstack.svc.cluster.local')).length, 200);
  });

  it('sends of what is too long as much as fits, and says what it takes itself', async () => {
    const answer = await exchange(Buffer.concat([questionFor('many.openstack.svc', TYPES.A), OPT]), resolver.port);
    const found = parseAnswers(answer);
    assert.ok(found?.isCut && found.records.length > 50, `${found?.records.length} records`);
    assert.ok(answer.length <= 1232 && answer.readUInt16BE(10) === 1);
    assert.deepEqual(answer.subarray(-11, -6), Buffer.from([0, 0, 41, 0x04, 0xd0]));
  });

  it('says which EDNS it speaks to who speaks another one', async () => {
    const later = Buffer.from(OPT);
    later.writeUInt8(1, 6);
    const answer = await exchange(Buffer.concat([questionFor('web.openstack.svc', TYPES.A), later]), resolver.port);
    assert.deepEqual([answer.readUInt16BE(2) & 0xf, answer.readUInt16BE(6)], [0, 0]);
    assert.deepEqual(answer.subarray(-6, -4), Buffer.from([1, 0]), 'sixteen, in two parts, and version 0');
  });

  it('says where the pods behind a port are, without being asked twice', async () => {
    const port = questionFor('_sql._tcp.db.openstack.svc.cluster.local', TYPES.SRV);
    const answer = await exchange(Buffer.concat([port, OPT]), resolver.port);
    assert.equal(answer.readUInt16BE(10), 3, 'two addresses beside the answer, and what it takes itself');
  });

  it('goes on from a name that stands for another one, and not for ever', async () => {
    cluster.service('alias', { type: 'ExternalName', externalName: 'web.openstack.svc.cluster.local' });
    assert.deepEqual(await client.resolve4('alias.openstack.svc'), ['10.96.0.10']);
    cluster.service('one', { type: 'ExternalName', externalName: 'two.openstack.svc' });
    cluster.service('two', { type: 'ExternalName', externalName: 'one.openstack.svc' });
    assert.equal(await codeOf(client.resolve4('one.openstack.svc')), 'ESERVFAIL');
    assert.equal(await codeOf(client.resolve4('elsewhere.openstack.svc')), 'ESERVFAIL', 'nobody knows the other name');
  });

  it('does not care for noise, on either socket', async () => {
    const socket = createSocket('udp4');
    for (const noise of [
      Buffer.alloc(0),
      Buffer.alloc(17, 0xff),
      Buffer.alloc(4000, 0xc0),
      Buffer.from('GET / HTTP/1.1'),
    ]) {
      socket.send(noise, resolver.port, '127.0.0.1');
    }
    socket.close();
    const connection = connect(resolver.port, '127.0.0.1');
    connection.write(framed(Buffer.alloc(40, 0xc0)));
    await once(connection, 'close');
    assert.deepEqual(await client.resolve4('web.openstack.svc'), ['10.96.0.10']);
  });

  it('reads any bytes without falling', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const question = parseQuestion(Buffer.from(bytes));
        assert.ok(question === undefined || question.name.length <= 255);
        const reply = Buffer.from(bytes);
        if (reply.length > 2) reply.writeUInt8(reply.readUInt8(2) | 0x80, 2);
        for (const { name } of parseAnswers(reply)?.records ?? []) assert.ok(name.length <= 255);
      }),
    );
  });

  it('reads what it writes itself', () => {
    const question = parseQuestion(questionFor('a.example.com', TYPES.A));
    assert.ok(question);
    const answers = [
      { name: 'a.example.com', ttl: 7, type: 'CNAME', target: 'b.example.com' } as const,
      { name: 'b.example.com', ttl: 8, type: 'A', address: '192.0.2.7' } as const,
      { name: 'b.example.com', ttl: 9, type: 'AAAA', address: '2001:db8::7' } as const,
    ];
    const found = parseAnswers(encodeReply(question, { code: 0, answers }, 512));
    assert.deepEqual(found, { code: 0, isCut: false, records: answers });
  });
});

/** What stands at the end of a question of somebody who takes 4096 bytes. */
const OPT = Buffer.from([0, 0, 41, 0x10, 0, 0, 0, 0, 0, 0, 0]);

/** One question, which may have an OPT record at its end, over UDP. */
async function exchange(message: Buffer, port: number): Promise<Buffer> {
  message.writeUInt16BE(1, 10);
  const socket = createSocket('udp4');
  socket.send(message, port, '127.0.0.1');
  const [answer] = await once(socket, 'message', { signal: AbortSignal.timeout(10_000) });
  socket.close();
  return answer;
}
