import 'reflect-metadata';
import assert from 'node:assert/strict';
import type { webcrypto } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import https from 'node:https';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { ApiError } from '../api/status.ts';
import type { System } from './clock.ts';
import { HttpTransport, type HttpTransportOptions } from './http-transport.ts';
import type { Connection } from './kubeconfig.ts';
import { system } from './system.ts';
import { Unreachable } from './transport.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A CA, a certificate of 127.0.0.1 and one of a client. */
async function certificates() {
  const pem = async (key: webcrypto.CryptoKey): Promise<string> =>
    PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
  const generate = () => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const caKeys = await generate();
  const validity = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
  const ca = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=test-ca',
    keys: caKeys,
    signingAlgorithm: ALGORITHM,
    ...validity,
    extensions: [new BasicConstraintsExtension(true), new KeyUsagesExtension(KeyUsageFlags.keyCertSign)],
  });
  const issue = async (subject: string, extensions: SubjectAlternativeNameExtension[]) => {
    const keys = await generate();
    const cert = await X509CertificateGenerator.create({
      subject,
      issuer: ca.subject,
      signingKey: caKeys.privateKey,
      publicKey: keys.publicKey,
      signingAlgorithm: ALGORITHM,
      ...validity,
      extensions,
    });
    return { cert: cert.toString('pem'), key: await pem(keys.privateKey) };
  };
  const names = new SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }]);
  return { ca: ca.toString('pem'), server: await issue('CN=server', [names]), client: await issue('CN=alice', []) };
}

describe('the HTTP transport', () => {
  let pki: Awaited<ReturnType<typeof certificates>>;
  let server: Server;
  let handler: Handler = () => {};
  let connection: Connection;
  const sockets = new Set<Socket>();
  const transports: HttpTransport[] = [];
  let accepted = 0;

  before(async () => {
    pki = await certificates();
    const tls = { ...pki.server, ca: pki.ca, requestCert: true, rejectUnauthorized: false };
    server = https.createServer(tls, (request, response) => handler(request, response));
    server.on('secureConnection', (socket: Socket) => {
      accepted += 1;
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    connection = {
      server: `https://127.0.0.1:${port}`,
      ca: pki.ca,
      insecure: false,
      token: 'me',
      namespace: 'default',
    };
  });
  afterEach(() => {
    for (const transport of transports.splice(0)) transport.close();
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const transport = (options: Partial<HttpTransportOptions> = {}): HttpTransport => {
    const made = new HttpTransport({ connection, system, ...options });
    transports.push(made);
    return made;
  };
  const json = (
    response: ServerResponse,
    status: number,
    body: unknown,
    headers: Record<string, string> = {},
  ): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
  const get = { method: 'GET', path: '/x' } as const;

  it('sends a JSON body with its type and our token, and gives back status, body and warnings', async () => {
    handler = async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { method, url, headers } = request;
      const seen = {
        method,
        url,
        body,
        type: headers['content-type'],
        auth: headers.authorization,
        agent: headers['user-agent'],
      };
      json(response, 201, seen, { warning: '299 - "mind \\"this\\""' });
    };
    const answer = await transport({ userAgent: 'netloom/test' }).request({
      method: 'PATCH',
      path: '/apis/x?force=true',
      body: { text: 'ö\ud800' },
      contentType: 'application/merge-patch+json',
    });
    assert.deepEqual(answer.body, {
      method: 'PATCH',
      url: '/apis/x?force=true',
      body: '{"text":"ö\\ud800"}',
      type: 'application/merge-patch+json',
      auth: 'Bearer me',
      agent: 'netloom/test',
    });
    assert.deepEqual([answer.status, answer.warnings], [201, ['mind "this"']]);
  });

  it('keeps its connection from one request to the next', async () => {
    handler = (_, response) => json(response, 200, {});
    const one = transport();
    const before = accepted;
    for (let i = 0; i < 5; i += 1) await one.request(get);
    assert.equal(accepted - before, 1);
  });

  it('shows its client certificate', async () => {
    handler = ({ socket }, response) => {
      const peer = 'getPeerCertificate' in socket ? (socket as import('node:tls').TLSSocket).getPeerCertificate() : {};
      json(response, 200, { subject: JSON.stringify(peer) });
    };
    const { cert: clientCert, key: clientKey } = pki.client;
    const answer = await transport({ connection: { ...connection, clientCert, clientKey } }).request(get);
    assert.match(String(answer.body['subject']), /"CN":"alice"/);
  });

  it('does not talk to a server whose certificate it cannot believe, unless told to', async () => {
    handler = (_, response) => json(response, 200, {});
    const { ca: _, ...stranger } = connection;
    await assert.rejects(transport({ connection: stranger }).request(get), Unreachable);
    assert.equal((await transport({ connection: { ...stranger, insecure: true } }).request(get)).status, 200);
  });

  it('turns a refusal in plain words into a Status', async () => {
    handler = (_, response) =>
      void response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n');
    const { status, body } = await transport().request(get);
    assert.deepEqual([status, body['kind'], body['message'], body['code']], [404, 'Status', '404 page not found', 404]);
  });

  it('says Unreachable when nobody listens, and when the answer is not JSON', async () => {
    handler = (_, response) => void response.end('<html>');
    await assert.rejects(transport().request(get), Unreachable);
    const nobody = { ...connection, server: 'https://127.0.0.1:1' };
    await assert.rejects(transport({ connection: nobody }).request(get), /GET \/x: .*ECONNREFUSED/);
  });

  it('says Unreachable when the connection breaks in the middle of the answer', async () => {
    handler = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"half":');
      setTimeout(() => response.destroy(), 5);
    };
    await assert.rejects(transport().request(get), Unreachable);
  });

  it('asks again when the server closed an idle connection that a read was about to reuse', async () => {
    handler = (_, response) => json(response, 200, {});
    const one = transport();
    await one.request(get);
    let asked = 0;
    handler = (request, response) => {
      asked += 1;
      if (asked === 1) request.socket.destroy();
      else json(response, 200, { asked });
    };
    assert.equal((await one.request(get)).body['asked'], 2);
    asked = 0;
    await assert.rejects(one.request({ ...get, method: 'POST', body: {} }), Unreachable);
  });

  it('waits and asks again while the server puts it off, but not for ever', async () => {
    let asked = 0;
    const slept: number[] = [];
    // Limits of seconds stay what they are; what remains are the pauses between two tries.
    const hasty: System = {
      ...system,
      timer: (ms, ring) => {
        if (ms < 10_000) slept.push(ms);
        return system.timer(ms < 10_000 ? 1 : ms, ring);
      },
    };
    handler = (_, response) => {
      asked += 1;
      if (asked < 3) json(response, 429, { details: { retryAfterSeconds: 2 } });
      else json(response, 200, { asked });
    };
    const one = transport({ system: hasty, limits: { putOff: 3 } });
    assert.equal((await one.request(get)).body['asked'], 3);
    assert.equal(slept.length, 2);
    for (const ms of slept) assert.ok(ms >= 2_000 && ms <= 2_500, `slept ${ms} ms`);
    handler = (_, response) => json(response, 429, {}, { 'retry-after': '1' });
    assert.equal((await one.request(get)).status, 429);
  });

  it('gives up on a server that does not answer, or stops in the middle', async () => {
    handler = () => {};
    const hurried = transport({ limits: { answer: 30 } });
    await assert.rejects(hurried.request(get), /the answer took longer than 30 ms/);
    handler = (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{');
    await assert.rejects(hurried.request(get), /the rest of the answer took longer than 30 ms/);
  });

  it('gives up on a peer that accepts but does not speak TLS', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const lost = transport({
      connection: { ...connection, server: `https://127.0.0.1:${port}` },
      limits: { connect: 30 },
    });
    await assert.rejects(lost.request(get), /connecting took longer than 30 ms/);
    silent.close();
  });

  it('gives up what is under way when told that the way was interrupted, and goes on over new connections', async () => {
    const silent = Promise.withResolvers<void>();
    handler = (request, response) => {
      if (request.url === '/watch') response.writeHead(200, { 'content-type': 'application/json' }).write('{"n":1}\n');
      else silent.resolve();
    };
    const own = transport();
    const seen: unknown[] = [];
    const watching = (async () => {
      for await (const line of own.stream({ method: 'GET', path: '/watch' })) seen.push(line['n']);
    })();
    const asking = own.request({ ...get, method: 'PUT', body: {} });
    await silent.promise;
    while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const given = [assert.rejects(asking, Unreachable), assert.rejects(watching, Unreachable)];
    own.reconnect();
    await Promise.all(given);
    const before = accepted;
    handler = (_, response) => json(response, 200, {});
    assert.equal((await own.request(get)).status, 200);
    assert.equal(accepted, before + 1);
  });

  it('ends a request at once when its signal aborts', async () => {
    handler = () => {};
    const stop = new AbortController();
    const asking = transport().request({ ...get, signal: stop.signal });
    setTimeout(() => stop.abort(new Error('enough')), 10);
    await assert.rejects(asking, /enough/);
  });

  it('reads a token from its file again when the server refuses the old one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'netloom-token-'));
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, 'old\n');
    handler = ({ headers: { authorization } }, response) =>
      json(response, authorization === 'Bearer new' ? 200 : 401, { message: 'Unauthorized' });
    const { token: _, ...rest } = connection;
    const one = transport({ connection: { ...rest, tokenFile } });
    assert.equal((await one.request(get)).status, 401);
    await writeFile(tokenFile, 'new\n');
    assert.equal((await one.request(get)).status, 200);
    await rm(folder, { recursive: true });
  });

  it('gives the lines of a watch as they come, until the server ends it', async () => {
    handler = async (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      for (const part of ['{"n":1}\n{"n"', ':2}\n', '{"n":3}']) {
        response.write(part);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      response.end();
    };
    const seen: unknown[] = [];
    for await (const line of transport().stream(get)) seen.push(line['n']);
    assert.deepEqual(seen, [1, 2, 3]);
  });

  it('does not read a watch faster than it is taken', async () => {
    let sent = 0;
    const line = `${JSON.stringify({ filler: 'x'.repeat(1000) })}\n`;
    handler = async (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.on('error', () => {});
      while (!response.destroyed && sent < 50_000) {
        sent += 1;
        if (!response.write(line))
          await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
      }
    };
    for await (const _ of transport().stream(get)) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      break;
    }
    assert.ok(sent < 40_000, `${sent} lines of 1 KiB were sent for one that was taken`);
  });

  it('refuses a watch with an ApiError, and ends one quietly when its signal aborts', async () => {
    handler = (_, response) =>
      json(response, 410, { kind: 'Status', reason: 'Expired', message: 'too old', code: 410 });
    const refused = transport().stream(get);
    await assert.rejects(
      refused.next(),
      (error) => error instanceof ApiError && error.code === 410 && error.reason === 'Expired',
    );
    handler = (_, response) => void response.writeHead(200).write('{"n":1}\n');
    const stop = new AbortController();
    const seen: unknown[] = [];
    for await (const line of transport().stream({ ...get, signal: stop.signal })) {
      seen.push(line['n']);
      stop.abort();
    }
    assert.deepEqual(seen, [1]);
  });

  it('says Unreachable when the connection of a watch breaks', async () => {
    handler = (_, response) => {
      response.writeHead(200).write('{"n":1}\n');
      setTimeout(() => response.destroy(), 10);
    };
    const lines = transport().stream(get);
    assert.equal((await lines.next()).done, false);
    await assert.rejects(lines.next(), Unreachable);
  });

  it('answers nothing any more once closed', async () => {
    handler = (_, response) => json(response, 200, {});
    const one = transport();
    await one.request(get);
    one.close();
    await assert.rejects(one.request(get), /the transport is closed/);
  });
});
