import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import type { Json } from '../../src/api/json.ts';
import { createAuthority, issueClient, type KeyPair } from '../../src/engine/auth/authority.ts';
import { HttpTransport } from '../../src/runtime/http-transport.ts';
import { system } from '../../src/runtime/system.ts';
import { CHANNEL_PROTOCOLS, Channels } from '../../src/runtime/websocket/channels.ts';
import { dialWebSocket } from '../../src/runtime/websocket/dial.ts';
import { OPCODES } from '../../src/runtime/websocket/frame-reader.ts';
import { clientFrame } from '../../src/runtime/websocket/frames.fixture.ts';
import { HostInTest } from '../end-to-end/host-in-test.ts';
import { EngineInTest, eventually } from './engine-in-test.ts';

const EXEC = '/exec/default/web/main';

describe('the API that an agent serves', () => {
  let engine: EngineInTest;
  let host: HostInTest;
  let authority: KeyPair;
  let apiServer: KeyPair;
  before(async () => {
    engine = await EngineInTest.start();
    authority = await pairIn(`${engine.directory}/pki/ca.pem`);
    apiServer = await pairIn(`${engine.directory}/pki/kubelet-client.pem`);
    // What is done now and then is done often, so that no test has to wait for it.
    const hurried = { ...system, timer: (ms: number, ring: () => void) => system.timer(ms / 40, ring) };
    host = await HostInTest.start(engine.directory, hurried);
    host.pod('n', 'web', ['main', 'later']);
    host.run('web', 'echo hello; sleep 1000');
  });
  after(async () => {
    await host.stop();
    await engine.stop();
  });

  async function pairIn(file: string): Promise<KeyPair> {
    const pem = await readFile(file, 'utf8');
    const at = pem.indexOf('-----BEGIN PRIVATE KEY-----');
    return { certificate: pem.slice(0, at), key: pem.slice(at) };
  }

  const tls = (identity: KeyPair | 'nobody' = apiServer): TLSSocket =>
    connect({
      host: '127.0.0.1',
      port: host.port,
      ca: authority.certificate,
      ...(identity === 'nobody' ? {} : { cert: identity.certificate, key: identity.key }),
    });

  /** The status and the body of an answer. */
  async function ask(path: string, identity: KeyPair | 'nobody' = apiServer): Promise<[number, string]> {
    const socket = tls(identity);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    const [head = '', ...body] = (await text(socket)).split('\r\n\r\n');
    return [Number(head.split(' ')[1]), body.join('\r\n\r\n')];
  }

  test('is for the API server, and for nobody else', async () => {
    const now = new Date();
    const issue = (user: string, groups: string[], by = authority) => issueClient(by, { user, groups }, now);
    assert.deepEqual(await ask('/healthz'), [200, 'ok']);
    assert.deepEqual(await ask('/healthz', 'nobody'), [401, 'Unauthorized']);
    const impostor = await issue('kube-apiserver', ['system:masters'], await createAuthority('netloom', now));
    assert.deepEqual(await ask('/healthz', impostor), [401, 'Unauthorized']);
    const forbidden = 'Forbidden (user=system:node:other, verb=get, resource=nodes, subresource(s)=[proxy])';
    const other = await issue('system:node:other', ['system:nodes']);
    for (const path of ['/healthz', '/containerLogs/default/web/main', EXEC]) {
      assert.deepEqual(await ask(path, other), [403, forbidden]);
    }
    const refused = tls(other);
    refused.write(
      `POST ${EXEC}?output=1&command=id HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`,
    );
    assert.match(await text(refused), /^HTTP\/1\.1 403 .*Forbidden \(user=system:node:other/s);
  });

  test('says what is wrong with a request', async () => {
    const logs = '/containerLogs/default/web';
    const refusals: Record<string, [number, string | RegExp]> = {
      '/nothing/here': [404, '404 page not found'],
      '/containerLogs/default/web/': [400, 'the path names no container'],
      '/containerLogs/default/%ff/main': [400, '"%ff" is not encoded as parts of a path are'],
      '/containerLogs/default/none/main': [404, 'pod "none" does not exist'],
      '/containerLogs/other/web/main': [404, 'pod "web" does not exist'],
      [`${logs}/none`]: [404, 'container "none" not found in pod "web"'],
      [`${logs}/later`]: [400, 'container "later" in pod "web" is waiting to start: ContainerCreating'],
      [`${logs}/main?previous=true`]: [400, 'previous terminated container "main" in pod "web" not found'],
      [`${logs}/main?tailLines=x`]: [400, 'tailLines must be a whole number, not "x"'],
      [`${logs}/main?tailLines=-1`]: [422, 'tailLines must be 0 or more, not -1'],
      [`${logs}/main?sinceTime=now`]: [400, 'sinceTime must be a time as in RFC 3339, not "now"'],
      [`${logs}/main?stream=both`]: [400, 'invalid stream type "both"'],
      [`${EXEC}?output=1`]: [400, 'Upgrade request required'],
    };
    for (const [path, refusal] of Object.entries(refusals)) assert.deepEqual(await ask(path), refusal, path);
  });

  const upgrade = async (path: string, headers: Record<string, string>): Promise<[TLSSocket, string]> => {
    const socket = tls();
    const lines = Object.entries({ Host: 'x', Connection: 'Upgrade', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    const [head] = await once(socket, 'data');
    return [socket, String(head)];
  };
  const webSocket = (path: string, protocol = 'v5.channel.k8s.io') =>
    upgrade(path, {
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      'Sec-WebSocket-Protocol': protocol,
    });

  test('agrees only to what it speaks', async () => {
    const spoken = `${EXEC}?output=1&command=id`;
    const refusals: [Record<string, string>, RegExp][] = [
      [{ Upgrade: 'h2c' }, /400 .*neither a WebSocket nor SPDY\/3\.1 was asked for, but h2c/s],
      [{ Upgrade: 'websocket', 'Sec-WebSocket-Version': '8' }, /426 .*only version 13/s],
      [{ Upgrade: 'websocket', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'short' }, /400 .*16 bytes/s],
      [{ Upgrade: 'websocket', 'Sec-WebSocket-Protocol': 'chat, talk' }, /400 .*none of the protocols chat, talk/s],
      [{ Upgrade: 'SPDY/3.1', 'X-Stream-Protocol-Version': 'v9' }, /403 .*unable to negotiate protocol/s],
    ];
    for (const [headers, refusal] of refusals) {
      const [socket, answer] = await upgrade(spoken, headers);
      assert.match(answer, refusal);
      socket.destroy();
    }
    for (const query of ['', '?output=0', '?tty=1&error=1']) {
      const [socket, answer] = await webSocket(`${EXEC}${query}`);
      assert.match(answer, /400 .*you must specify at least 1 of stdin, stdout, stderr/s);
      socket.destroy();
    }
    const [socket, answer] = await webSocket('/exec/default/web/another-uid/main?output=1&command=id');
    assert.match(answer, /404 .*pod not found/s);
    socket.destroy();
  });

  const transport = (): HttpTransport =>
    new HttpTransport({
      connection: {
        server: `https://127.0.0.1:${host.port}`,
        namespace: 'default',
        insecure: false,
        ca: authority.certificate,
        clientCert: apiServer.certificate,
        clientKey: apiServer.key,
      },
      system,
    });

  /** Runs a command over a protocol of channels, and gathers what comes over each of them. */
  async function run(protocol: string, script: string, input?: Buffer): Promise<Map<number, string>> {
    const query = new URLSearchParams({ input: '1', output: '1', error: '1' });
    for (const word of ['sh', '-c', script]) query.append('command', word);
    const path = `${EXEC}?${query}`;
    const fault = (error: unknown) => assert.fail(String(error));
    const { socket } = await dialWebSocket(transport(), { path, protocols: [protocol], system, fault });
    const channels = new Channels(socket, CHANNEL_PROTOCOLS.get(protocol) ?? assert.fail());
    if (input !== undefined) await channels.send(0, input);
    if (protocol === 'v5.channel.k8s.io') await channels.send(255, Buffer.of(0));
    const heard = new Map<number, string>();
    for await (const { channel, bytes } of channels.arrivals())
      heard.set(channel, `${heard.get(channel) ?? ''}${bytes}`);
    return heard;
  }

  test('runs commands in every protocol of channels there is', async () => {
    const status = (text: string | undefined): Json => JSON.parse(text ?? 'null').details?.causes ?? 'none';
    for (const protocol of CHANNEL_PROTOCOLS.keys()) {
      const script = 'head -c 5; echo out; echo err >&2; exit 3';
      const heard = await run(protocol, script, Buffer.from('input'));
      assert.deepEqual([heard.get(1), heard.get(2)], ['inputout\n', 'err\n'], protocol);
      if (protocol.startsWith('v')) assert.deepEqual(status(heard.get(3)), [{ reason: 'ExitCode', message: '3' }]);
      else assert.equal(heard.get(3), 'command terminated with non-zero exit code: exit status 3');
      const succeeded = (await run(protocol, 'true')).get(3);
      if (protocol.startsWith('v')) assert.equal(JSON.parse(succeeded ?? '').status, 'Success');
      else assert.equal(succeeded, undefined);
    }
  });

  test('tells a command that its input has ended, where the protocol can', async () => {
    const heard = await run('v5.channel.k8s.io', 'cat; echo end', Buffer.from('all of it, '));
    assert.equal(heard.get(1), 'all of it, end\n');
  });

  test('closes on those who break the protocol, and says why', async () => {
    const path = `${EXEC}?input=1&output=1&command=cat`;
    const [socket] = await webSocket(path);
    socket.write(Buffer.of(0x82, 2, 0, 65));
    const closed = Buffer.from(await text(socket), 'utf8').toString();
    assert.match(closed, /a frame of a client must be masked/);
    await eventually(
      async () => host.runs('cat'),
      (runs) => !runs,
    );
  });

  test('holds back who sends more than a command takes, tells that it is there, and finds out who is gone', async () => {
    const [socket] = await webSocket(`${EXEC}?input=1&output=1&command=sleep&command=123`);
    await eventually(
      async () => host.runs("'123'"),
      (runs) => runs,
    );
    const heard: Buffer[] = [];
    socket.on('data', (bytes) => heard.push(bytes));
    const block = clientFrame({ opcode: OPCODES.binary, payload: Buffer.alloc(64 * 1024) });
    let written = 0;
    const pour = () => {
      while (written < 256 * 1024 * 1024 && socket.write(block)) written += block.length;
    };
    socket.on('drain', pour);
    pour();
    let before = -1;
    await eventually(
      async () => {
        const still = written === before;
        before = written;
        await pause(200);
        return still;
      },
      (still) => still,
    );
    assert.ok(written < 32 * 1024 * 1024, `${written} bytes were taken for a command that reads none`);
    const pong = Buffer.of(0x80 | OPCODES.pong, 0);
    await eventually(
      async () => Buffer.concat(heard).includes(pong),
      (includes) => includes,
    );
    socket.destroy();
    await eventually(
      async () => host.runs("'123'"),
      (runs) => !runs,
    );
  });

  test('survives SPDY that is none', async () => {
    for (const garbage of [
      Buffer.from('GET / HTTP/1.1\r\n\r\n'.repeat(100)),
      Buffer.alloc(100_000, 0xff),
      // A stream whose headers are nothing that was ever compressed, and one without any.
      Buffer.from('8003000100000011000000010000000000006e6f207a6c6962', 'hex'),
      Buffer.from('800300010000000400000001', 'hex'),
      Buffer.from('0000000500000000', 'hex'),
    ]) {
      const [socket, answer] = await upgrade('/portForward/default/web', {
        Upgrade: 'SPDY/3.1',
        'X-Stream-Protocol-Version': 'portforward.k8s.io',
      });
      assert.match(answer, /^HTTP\/1\.1 101 /);
      // Told that it is over, in a frame of its own.
      socket.write(garbage);
      const told = Buffer.concat(await socket.toArray());
      assert.equal(told.toString('hex', 0, 8), '8003000700000008');
    }
    assert.deepEqual(await ask('/healthz'), [200, 'ok']);
  });
});
