import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { after, before, describe, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { createAuthority, issueClient } from '../../src/engine/auth/authority.ts';
import { type Connection, readKubeconfig } from '../../src/runtime/kubeconfig.ts';
import { at, configMap, MAPS } from '../engine/engine-in-test.ts';
import { RunningNetloom } from './netloom.ts';

describe('an engine among bad clients', () => {
  let engine: RunningNetloom;
  let connection: Connection;
  before(async () => {
    engine = await RunningNetloom.start('engine');
    connection = await readKubeconfig(engine.kubeconfig);
  });
  after(() => engine.stopAndRemove());

  /** A request as raw as it gets: any body, any header. */
  async function send(
    method: string,
    path: string,
    body: Buffer | string = '',
    headers: Record<string, string> = { 'Content-Type': 'application/json' },
  ): Promise<{ status: number; text: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
    const options = { method, ca: connection.ca, headers: { Authorization: `Bearer ${connection.token}`, ...headers } };
    const sent = request(`${engine.url}${path}`, options, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.end(body);
    return promise;
  }

  async function raw(): Promise<TLSSocket> {
    const { port, hostname } = new URL(engine.url);
    const socket = connect({ host: hostname, port: Number(port), ca: connection.ca, servername: 'localhost' });
    socket.on('error', () => {});
    await new Promise((resolve) => socket.once('secureConnect', resolve));
    return socket;
  }

  const stillServes = async () => assert.equal((await send('GET', '/readyz')).text, 'ok');

  test('a certificate of somebody else is no ticket, not even to what everybody may see', async () => {
    const now = new Date();
    const stranger = await createAuthority('netloom', now);
    const shown = await issueClient(stranger, { user: 'kubernetes-admin', groups: ['system:masters'] }, now);
    const status = async (options: RequestOptions) => {
      const sent = request(`${engine.url}/readyz`, { ca: connection.ca, agent: false, ...options });
      sent.end();
      const [response]: IncomingMessage[] = await once(sent, 'response');
      response?.resume();
      return response?.statusCode;
    };
    const { key, certificate: cert } = shown;
    assert.deepEqual(
      [
        await status({}),
        await status({ key, cert }),
        await status({ key, cert, headers: { Authorization: `Bearer ${connection.token}` } }),
      ],
      [200, 401, 200],
    );
  });

  test('bodies that are no object are refused with a sentence', async () => {
    const bodies = [
      '',
      '{',
      'null',
      '[]',
      '"text"',
      '{"a":1}trailing',
      '\u0000',
      '{"metadata":7}',
      Buffer.from([0xff, 0xfe, 0x7b]),
    ];
    for (const body of bodies) {
      const { status, text } = await send('POST', MAPS, body);
      assert.equal(status, 400, `${JSON.stringify(String(body))} → ${text}`);
      assert.equal(JSON.parse(text).kind, 'Status');
      assert.ok(JSON.parse(text).message.length > 10);
    }
    await stillServes();
  });

  test('a body that is nested without end is refused', async () => {
    const { status } = await send('POST', MAPS, `{"data":${'['.repeat(200_000)}${']'.repeat(200_000)}}`);
    assert.equal(status, 400);
    await stillServes();
  });

  test('a body over 3 MiB is refused as too large, announced or not', async () => {
    const large = Buffer.alloc(4 * 1024 * 1024, 'x');
    const announced = await send('POST', MAPS, large);
    assert.equal(announced.status, 413);
    assert.equal(JSON.parse(announced.text).reason, 'RequestEntityTooLarge');
    const chunked = await send('POST', MAPS, large, {
      'Content-Type': 'application/json',
      'Transfer-Encoding': 'chunked',
    });
    assert.equal(chunked.status, 413);
    await stillServes();
  });

  test('keys that mean something to JavaScript are only data', async () => {
    const body =
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"proto","labels":{"constructor":"a"}},"data":{"constructor":"b","toString":"c"},"__proto__":{"polluted":"yes"}}';
    const { status, text } = await send('POST', MAPS, body);
    assert.equal(status, 201, text);
    assert.equal(JSON.parse(text).data.constructor, 'b');
    const { text: other } = await send('POST', MAPS, JSON.stringify(configMap('clean')));
    assert.equal(JSON.parse(other).polluted, undefined);
  });

  test('garbage in place of protobuf is refused', async () => {
    for (const body of ['', 'k8s\0', Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(1000, 0xff)])]) {
      const { status } = await send('POST', MAPS, body, { 'Content-Type': 'application/vnd.kubernetes.protobuf' });
      assert.equal(status, 400);
    }
    await stillServes();
  });

  test('a text that unfolds into something huge is refused', async () => {
    const lines = [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...'bcdefghijkl'
        .split('')
        .map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghijkl'[i]}`).join(',')}]`),
    ];
    const { status } = await send('POST', MAPS, lines.join('\n'), { 'Content-Type': 'application/yaml' });
    assert.equal(status, 400);
    await stillServes();
  });

  test('a wrong token is refused; a client certificate of the authority is an administrator', async () => {
    const wrong = await send('GET', MAPS, '', { Authorization: 'Bearer nonsense' });
    assert.equal(wrong.status, 401);
    const pem = await readFile(`${engine.directory}/pki/admin.pem`, 'utf8');
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const options = { ca: connection.ca, cert: pem, key: pem };
    request(`${engine.url}${MAPS}`, options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
    assert.equal(await promise, 200);
  });

  test('clients that vanish in the middle of a request or a watch leave nothing behind', async () => {
    for (let i = 0; i < 20; i++) {
      const socket = await raw();
      const head = `Host: x\r\nAuthorization: Bearer ${connection.token}\r\nContent-Type: application/json\r\n`;
      if (i % 2 === 0) socket.write(`POST ${MAPS} HTTP/1.1\r\n${head}Content-Length: 1000\r\n\r\n{"apiVersion"`);
      else socket.write(`GET ${MAPS}?watch=1 HTTP/1.1\r\n${head}\r\n`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      socket.destroy();
    }
    const deadline = Date.now() + 10_000;
    for (;;) {
      const watches = /netloom_engine_watches (\d+)/.exec((await send('GET', '/metrics')).text)?.[1];
      if (watches === '0') break;
      assert.ok(Date.now() < deadline, `${watches} watches are still counted`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await stillServes();
  });

  test('a watcher that does not read is dropped, and the others get everything', async () => {
    const slow = await raw();
    slow.pause();
    slow.write(`GET ${MAPS}?watch=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${connection.token}\r\n\r\n`);
    const isDropped = new Promise((resolve) => slow.once('close', resolve));
    const weight = 'x'.repeat(900_000);
    let dropped = '0';
    for (let i = 0; dropped === '0'; i++) {
      assert.ok(i < 120, 'the watcher should have been dropped by now');
      const { status } = await send(
        'PUT',
        `${MAPS}/heavy`,
        JSON.stringify(configMap('heavy', { i: String(i), weight })),
      );
      if (status === 404) await send('POST', MAPS, JSON.stringify(configMap('heavy', { i: String(i), weight })));
      dropped = /netloom_engine_dropped_clients_total (\d+)/.exec((await send('GET', '/metrics')).text)?.[1] ?? '0';
    }
    slow.resume();
    await isDropped;
    const { text } = await send('GET', `${MAPS}/heavy`);
    assert.ok(Number(at(JSON.parse(text), 'data.i')) >= 30);
    await stillServes();
  });
});
