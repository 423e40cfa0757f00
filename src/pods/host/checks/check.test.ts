import 'reflect-metadata';
import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { X509CertificateGenerator } from '@peculiar/x509';
import type { Probe } from '../../../api/core/pod.ts';
import { system } from '../../../runtime/system.ts';
import { SimulatedRuntime } from '../simulated-runtime.fixture.ts';
import { check } from './check.ts';

const runtime = new SimulatedRuntime(system, () => ({}));

function ask(action: Probe, port = 80, { timeoutMs = 2_000, giveUp = new AbortController().signal } = {}) {
  const container = { name: 'main', ports: [{ name: 'web', containerPort: port }] };
  return check({ runtime, system }, { containerId: 'x', container, podIP: '127.0.0.1' }, action, { timeoutMs, giveUp });
}

async function listening(t: TestContext, server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

describe('asking by HTTP', () => {
  const pages: http.RequestListener = (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    const [, kind = '', value = ''] = pathname.split('/');
    if (kind === 'status') response.writeHead(Number(value)).end();
    else if (kind === 'to') response.writeHead(302, { location: decodeURIComponent(value) }).end();
    else if (kind === 'loop') response.writeHead(302, { location: '/loop' }).end();
    else if (kind === 'header') response.writeHead(request.headers['x-key'] === 'a' ? 200 : 400).end();
    else if (kind === 'endless') {
      response.writeHead(200);
      response.write('x'.repeat(100_000));
    } else if (kind !== 'hangs') response.end(request.url);
  };
  const get = (path: string): Probe => ({ httpGet: { path, port: 'web' } });

  for (const [path, ok, message] of [
    ['/', true, '/'],
    ['/page?a=b%20c', true, '/page?a=b%20c'],
    ['/status/204', true, ''],
    ['/status/399', true, ''],
    ['/status/404', false, 'HTTP probe failed with statuscode: 404'],
    ['/status/503', false, 'HTTP probe failed with statuscode: 503'],
    ['/to/%2Fstatus%2F500', false, 'HTTP probe failed with statuscode: 500'],
    ['/to/http%3A%2F%2F192.0.2.1%2F', true, 'redirected to http://192.0.2.1, which is not asked'],
  ] as const) {
    test(`${path} is ${ok ? 'good' : 'bad'}`, async (t) => {
      const port = await listening(t, http.createServer(pages));
      assert.deepEqual(await ask(get(path), port), { ok, message });
    });
  }

  test('ends with circles, with what never ends, and with silence', async (t) => {
    const port = await listening(t, http.createServer(pages));
    assert.match((await ask(get('/loop'), port)).message, /stopped after 10 redirects/);
    assert.equal((await ask(get('/endless'), port)).ok, true);
    assert.deepEqual(await ask(get('/hangs'), port, { timeoutMs: 100 }), {
      ok: false,
      message: 'Get "/hangs" timed out after 0s',
    });
  });

  test('sends the headers that are asked for', async (t) => {
    const port = await listening(t, http.createServer(pages));
    const httpHeaders = [{ name: 'X-Key', value: 'a' }];
    assert.equal((await ask({ httpGet: { path: '/header', port, httpHeaders } })).ok, true);
  });

  test('says who does not answer', async () => {
    const { ok, message } = await ask({ httpGet: { port: 1, path: '/' } });
    assert.equal(ok, false);
    assert.equal(message, 'Get "http://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused');
  });

  test('does not take just any port', async () => {
    assert.deepEqual(await ask({ httpGet: { port: 'nothing' } }), {
      ok: false,
      message: 'container main has no port named "nothing"',
    });
    assert.equal((await ask({ tcpSocket: { port: 'toString' } })).ok, false);
  });
});

test('asking by HTTPS does not mind whose certificate it is', async (t) => {
  const { key, cert } = await selfSigned();
  const port = await listening(
    t,
    https.createServer({ key, cert }, (_, response) => response.end('ok')),
  );
  assert.deepEqual(await ask({ httpGet: { port, scheme: 'HTTPS' } }), { ok: true, message: 'ok' });
});

test('asking by TCP is content with a connection', async (t) => {
  const port = await listening(
    t,
    net.createServer(() => {}),
  );
  assert.equal((await ask({ tcpSocket: { port } })).ok, true);
  const { message } = await ask({ tcpSocket: { port: 1 } });
  assert.equal(message, 'dial tcp 127.0.0.1:1: connect: connection refused');
});

describe('asking by gRPC', () => {
  const health = (answer: readonly number[], status = '0') =>
    http2.createServer().on('stream', (stream, headers) => {
      stream.resume();
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () =>
        stream.sendTrailers({ 'grpc-status': headers[':path'] === '/grpc.health.v1.Health/Check' ? status : '12' }),
      );
      stream.end(Buffer.from([0, 0, 0, 0, answer.length, ...answer]));
    });

  for (const [what, answer, status, message] of [
    ['one that serves is good', [0x08, 1], '0', undefined],
    ['one that does not is bad', [0x08, 2], '0', 'service unhealthy (web: responded with "NOT_SERVING")'],
    ['one that says nothing is bad', [], '0', 'service unhealthy (web: responded with "UNKNOWN")'],
    ['one that does not know the service is bad', [], '5', 'the service answered with gRPC status 5'],
  ] as const) {
    test(what, async (t) => {
      const port = await listening(t, health(answer, status));
      const outcome = await ask({ grpc: { port, service: 'web' } });
      assert.deepEqual(
        outcome,
        message === undefined ? { ok: true, message: 'service healthy' } : { ok: false, message },
      );
    });
  }

  test('one that does not come to an end is bad', async (t) => {
    const server = http2.createServer().on('stream', (stream) => {
      stream.on('error', () => {});
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
      const flood = (): void => {
        while (!stream.destroyed && stream.write(Buffer.alloc(65_536)));
      };
      stream.on('drain', flood);
      flood();
    });
    const port = await listening(t, server);
    const { ok, message } = await ask({ grpc: { port } }, port, { timeoutMs: 60_000 });
    assert.deepEqual([ok, message], [false, 'the service answered with more than 10240 bytes']);
  });

  test('nobody there is bad', async () => {
    assert.deepEqual(await ask({ grpc: { port: 1 } }), {
      ok: false,
      message: 'dial tcp 127.0.0.1:1: connect: connection refused',
    });
  });

  test('silence is bad', async (t) => {
    const port = await listening(
      t,
      net.createServer(() => {}),
    );
    assert.equal((await ask({ grpc: { port } }, port, { timeoutMs: 100 })).ok, false);
  });
});

test('what is told to give up does so', async (t) => {
  const port = await listening(
    t,
    net.createServer(() => {}),
  );
  const giveUp = new AbortController();
  const answer = ask({ httpGet: { port } }, port, { timeoutMs: 60_000, giveUp: giveUp.signal });
  giveUp.abort();
  assert.deepEqual(await answer, { ok: false, message: 'given up' });
});

async function selfSigned(): Promise<{ key: string; cert: string }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=somebody else',
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    keys,
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return { key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`, cert: certificate.toString('pem') };
}
