import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'node:tls';
import type { JsonObject } from '../../src/api/json.ts';
import { AgentInTest } from './agent-in-test.ts';
import { EngineInTest, eventually } from './engine-in-test.ts';

const PODS = '/api/v1/namespaces/default/pods';

describe('what the engine hands on to the agent of a node', () => {
  let api: EngineInTest;
  let agent: AgentInTest;
  let authority: string;
  let token: string;
  let answer: NonNullable<Parameters<typeof AgentInTest.start>[1]['answer']> = (_, response) => response.end();
  let upgrade: NonNullable<Parameters<typeof AgentInTest.start>[1]['upgrade']> = (_, socket) => socket.destroy();

  before(async () => {
    api = await EngineInTest.start();
    authority = (await readFile(`${api.directory}/pki/ca.pem`, 'utf8')).split('-----BEGIN PRIVATE KEY-----')[0] ?? '';
    token = (await readFile(`${api.directory}/pki/admin.token`, 'utf8')).trim();
    agent = await AgentInTest.start(api.directory, {
      answer: (asked, response) => answer(asked, response),
      upgrade: (asked, socket) => upgrade(asked, socket),
    });
    await api.post('/api/v1/nodes', agent.node('n'));
    await api.post(PODS, pod('one', [{ name: 'c', image: 'none' }]));
    const two = [
      { name: 'a', image: 'none' },
      { name: 'b', image: 'none' },
    ];
    await api.post(PODS, pod('two', two));
    await api.post(PODS, pod('main', two, { 'kubectl.kubernetes.io/default-container': 'b' }));
    await api.post(PODS, { ...pod('unplaced', two), spec: { containers: two } });
    await api.post(PODS, { ...pod('lost', two), spec: { nodeName: 'gone', containers: two } });
  });
  beforeEach(() => {
    agent.seen.length = 0;
  });
  after(async () => {
    await agent.stop();
    await api.stop();
  });

  const pod = (name: string, containers: JsonObject[], annotations: JsonObject = {}): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, annotations },
    spec: { nodeName: 'n', containers },
  });

  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const asked = request(`${api.engine.url}${path}`, {
        ca: authority,
        method,
        agent: false,
        headers: { authorization: `Bearer ${token}`, ...headers },
      });
      asked.on('response', resolve);
      asked.on('upgrade', (response, socket, head) => {
        socket.unshift(head);
        resolve(Object.assign(response, { tunnel: socket }));
      });
      asked.on('error', reject);
      asked.end();
    });

  const refusal = async (path: string): Promise<[number | undefined, string]> => {
    const refused = await ask(path);
    const body = JSON.parse(await text(refused));
    assert.equal(body.kind, 'Status');
    return [refused.statusCode, body.message];
  };

  test('logs come from the agent of the node, asked for by the engine itself', async () => {
    answer = (_, response) => response.end('hello\n');
    const found = await ask(`${PODS}/one/log?follow=true&tailLines=3&timestamps=false&previous=1&sinceSeconds=60`);
    assert.equal(found.statusCode, 200);
    assert.equal(await text(found), 'hello\n');
    const [seen] = agent.seen;
    assert.equal(seen?.path, '/containerLogs/default/one/c?follow=true&previous=true&tailLines=3&sinceSeconds=60');
    assert.equal(seen?.by, 'kube-apiserver-kubelet-client');
    assert.equal(seen?.headers.authorization, undefined);
  });

  test('a container must be named where there are several, unless the pod says which', async () => {
    assert.deepEqual(await refusal(`${PODS}/two/log`), [
      400,
      'a container name must be specified for pod two, choose one of: [a b]',
    ]);
    assert.deepEqual(await refusal(`${PODS}/two/log?container=x`), [400, 'container x is not valid for pod two']);
    answer = (_, response) => response.end('');
    await text(await ask(`${PODS}/main/log`));
    assert.equal(agent.seen[0]?.path, '/containerLogs/default/main/b');
  });

  test('what comes back to the API by a Node that says it is there gets nothing that its sender may not have', async () => {
    const { hostname, port } = new URL(api.engine.url);
    const status = {
      addresses: [{ type: 'InternalIP', address: hostname }],
      daemonEndpoints: { kubeletEndpoint: { Port: Number(port) } },
    };
    await api.post('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'mirror' }, status });
    const through = (path: string) => ask(`/api/v1/nodes/mirror/proxy${path}`);
    const secrets = await through('/api/v1/secrets');
    assert.equal(secrets.statusCode, 403);
    assert.match(await text(secrets), /User \\"kube-apiserver-kubelet-client\\" cannot list resource \\"secrets\\"/);
    assert.equal((await through('/api/v1/nodes')).statusCode, 200, 'it is the API that answers');
  });

  test('what cannot be is refused with a sentence, and no agent is asked', async () => {
    assert.deepEqual(await refusal(`${PODS}/none/log`), [404, 'pods "none" not found']);
    assert.deepEqual(await refusal(`${PODS}/lost/log?container=a`), [404, 'nodes "gone" not found']);
    assert.deepEqual(await refusal(`${PODS}/one/exec?stdout=1&command=ls`), [400, 'Upgrade request required']);
    const [code, message] = await refusal(`${PODS}/one/log?tailLines=-1`);
    assert.equal(code, 422);
    assert.match(message, /tailLines: Invalid value: -1: must be greater than or equal to 0/);
    assert.equal(await text(await ask(`${PODS}/unplaced/log?container=a`)), '');
    const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1' };
    const refused = await ask(`${PODS}/unplaced/exec?stdout=1&container=a&command=ls`, headers);
    assert.equal(refused.statusCode, 400);
    assert.match(await text(refused), /pod unplaced does not have a host assigned/);
    assert.deepEqual(agent.seen, []);
  });

  test('what the agent has against it is told as a Status', async () => {
    answer = (_, response) => {
      response.writeHead(400, { 'Content-Type': 'text/plain' });
      response.end('container "c" in pod "one" is waiting to start: PodInitializing');
    };
    assert.deepEqual(await refusal(`${PODS}/one/log`), [
      400,
      'container "c" in pod "one" is waiting to start: PodInitializing',
    ]);
  });

  test('an agent that cannot be reached, or is somebody else, is told from one that answers', async () => {
    const nobody = { ...agent.node('dead'), status: { addresses: [], daemonEndpoints: {} } };
    await api.post('/api/v1/nodes', nobody);
    assert.match((await refusal('/api/v1/nodes/dead/proxy/healthz'))[1], /node dead has no address/);
    const impostor = await AgentInTest.start(api.directory, { answer: (_, response) => response.end('!') }, [
      'else.test',
    ]);
    await api.post('/api/v1/nodes', impostor.node('impostor'));
    const [code, message] = await refusal('/api/v1/nodes/impostor/proxy/healthz');
    assert.equal(code, 500);
    assert.match(message, /error dialing backend: the agent at 127\.0\.0\.1:\d+ cannot be reached: .*altnames/);
    await impostor.stop();
    assert.match((await refusal('/api/v1/nodes/impostor/proxy/healthz'))[1], /ECONNREFUSED/);
  });

  test('anything that an agent serves is reached through its node', async () => {
    answer = (asked, response) => response.end(`${asked.method} ok`);
    assert.equal(await text(await ask('/api/v1/nodes/n/proxy/healthz?verbose=1')), 'GET ok');
    assert.equal(await text(await ask('/api/v1/nodes/n/proxy/')), 'GET ok');
    assert.equal(await text(await ask('/api/v1/nodes/n/proxy/a%20b/c', {}, 'POST')), 'POST ok');
    assert.deepEqual(
      agent.seen.map(({ path }) => path),
      ['/healthz?verbose=1', '/', '/a%20b/c'],
    );
  });

  test('a log is followed as it grows, and the agent is let go when the client goes', async () => {
    let grow: (line: string) => void = () => {};
    const ended = Promise.withResolvers<void>();
    answer = (_, response) => {
      response.flushHeaders();
      grow = (line) => void response.write(line);
      response.once('close', ended.resolve);
    };
    const followed = await ask(`${PODS}/one/log?follow=true`);
    const lines: string[] = [];
    followed.on('data', (chunk) => lines.push(String(chunk)));
    grow('first\n');
    await eventually(
      async () => lines.join(''),
      (seen) => seen === 'first\n',
    );
    grow('second\n');
    await eventually(
      async () => lines.join(''),
      (seen) => seen === 'first\nsecond\n',
    );
    followed.destroy();
    await ended.promise;
  });

  test('a client that does not read holds the agent back instead of filling the engine', async () => {
    let written = 0;
    answer = (_, response) => {
      const block = Buffer.alloc(64 * 1024, 'x');
      const pour = () => {
        while (written < 512 * 1024 * 1024 && response.write(block)) written += block.length;
      };
      response.on('drain', pour);
      pour();
    };
    const followed = await ask(`${PODS}/one/log`);
    followed.pause();
    let before = -1;
    await eventually(
      async () => {
        const grown = written !== before;
        before = written;
        await pause(200);
        return grown;
      },
      (grown) => !grown,
    );
    assert.ok(written < 64 * 1024 * 1024, `${written} bytes were taken for a client that reads none`);
    followed.destroy();
  });

  const upgraded = async (path: string, headers: Record<string, string> = {}) => {
    const found = await ask(path, { connection: 'Upgrade', upgrade: 'websocket', ...headers });
    assert.equal(found.statusCode, 101);
    return { found, tunnel: (found as IncomingMessage & { tunnel: Socket }).tunnel };
  };
  const agree = (socket: Socket, greeting = '') =>
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n${greeting}`,
    );

  test('exec hands both sides to each other, byte for byte, once the agent agrees', async () => {
    upgrade = (_, socket) => {
      agree(socket, 'welcome|');
      socket.on('data', (bytes) => socket.write(bytes.toString().toUpperCase()));
    };
    const query = 'command=sh&command=-c&command=echo+1&stdin=true&stdout=true&tty=true';
    const { found, tunnel } = await upgraded(`${PODS}/one/exec?${query}`, {
      'sec-websocket-protocol': 'v5.channel.k8s.io,v4.channel.k8s.io',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    });
    assert.equal(found.headers['sec-websocket-protocol'], 'v5.channel.k8s.io');
    const [seen] = agent.seen;
    assert.equal(seen?.path, '/exec/default/one/c?input=1&output=1&tty=1&command=sh&command=-c&command=echo+1');
    assert.equal(seen?.headers['sec-websocket-protocol'], 'v5.channel.k8s.io,v4.channel.k8s.io');
    assert.equal(seen?.headers.authorization, undefined);
    let heard = '';
    tunnel.on('data', (bytes) => {
      heard += bytes;
    });
    tunnel.write('hello');
    await eventually(
      async () => heard,
      (all) => all === 'welcome|HELLO',
    );
    tunnel.destroy();
    await eventually(
      async () => agent.openConnections,
      (open) => open <= 1,
    );
  });

  test('what the agent says last arrives before the tunnel closes', async () => {
    const last = 'x'.repeat(3_000_000);
    upgrade = (_, socket) => {
      agree(socket);
      socket.end(last);
    };
    const { tunnel } = await upgraded(`${PODS}/one/portforward`, { upgrade: 'SPDY/3.1' });
    assert.equal((await text(tunnel)).length, last.length);
    assert.equal(agent.seen[0]?.path, '/portForward/default/one');
  });

  test('as long as the agent has not agreed, nothing of the client gets to it but the one request', async () => {
    upgrade = (_, socket) => socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
    const { hostname, port } = new URL(api.engine.url);
    const socket = connect({ host: hostname, port: Number(port), ca: authority });
    const head = [
      `POST ${PODS}/one/exec?command=ls&stdout=1 HTTP/1.1`,
      'Host: x',
      `Authorization: Bearer ${token}`,
      'Connection: Upgrade',
      'Upgrade: SPDY/3.1',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\nGET /exec/kube-system/other/c HTTP/1.1\r\nHost: x\r\n\r\n`);
    const heard = await text(socket);
    assert.match(heard, /^HTTP\/1\.1 403 Forbidden\r\n/);
    assert.match(heard, /\r\n\r\nno$/);
    assert.deepEqual(
      agent.seen.map(({ path }) => path),
      ['/exec/default/one/c?output=1&command=ls'],
    );
  });

  test('who has no right to exec is refused before any agent hears of it', async () => {
    const refused = await ask(`${PODS}/one/exec?command=ls&stdout=1`, {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'impersonate-user': 'alice',
    });
    assert.equal(refused.statusCode, 403);
    assert.match(await text(refused), /cannot get resource \\"pods\/exec\\" in API group/);
    assert.deepEqual(agent.seen, []);
  });

  test('a watch whose client offers another protocol is answered as one that does not', async () => {
    const listed = await ask(`${PODS}?limit=1`, { connection: 'Upgrade', upgrade: 'h2c' });
    assert.equal(listed.statusCode, 200);
    assert.equal(JSON.parse(await text(listed)).kind, 'PodList');
  });
});
