import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { Exec, KubeConfig, Log, PortForward, type V1Status } from '@kubernetes/client-node';
import type { HttpTransport } from '../../src/runtime/http-transport.ts';
import { eventually } from '../engine/engine-in-test.ts';
import { EngineWithKubectl } from './engine-with-kubectl.ts';
import { HostInTest } from './host-in-test.ts';

const PODS = '/api/v1/namespaces/default/pods';
/** kubectl speaks in WebSockets by itself; this is how it is told to speak SPDY, as it does with older servers. */
const SPDY = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' };

describe('logs of pods and commands in them, with kubectl', { concurrency: 4 }, () => {
  let api: EngineWithKubectl;
  let host: HostInTest;
  let transport: HttpTransport;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'netloom-pod-access-'));
    api = await EngineWithKubectl.start();
    host = await HostInTest.start(api.engine.directory);
    transport = await api.engine.transport();
    await api.ok('create -f -', host.node('n'));
  });
  after(async () => {
    transport.close();
    await host.stop();
    await api.stop();
    await rm(folder, { recursive: true });
  });
  const pod = async (name: string, command = 'sleep 1000') => {
    const { status } = await transport.request({ method: 'POST', path: PODS, body: host.pod('n', name) });
    assert.equal(status, 201);
    const body = { status: { phase: 'Running' } };
    const contentType = 'application/merge-patch+json';
    await transport.request({ method: 'PATCH', path: `${PODS}/${name}/status`, body, contentType });
    host.run(name, command);
  };
  const untilEnded = (name: string) =>
    eventually(
      async () => host.find('default', name)?.container('main').current?.phase,
      (phase) => phase === 'ended',
    );
  /** As soon as there are so many lines. */
  const logs = (words: string, lines: number): Promise<string> =>
    eventually(
      () => api.ok(`logs ${words}`),
      (text) => text.split('\n').length > lines,
    );

  test('logs show what was written on both streams, or the end of it', async () => {
    await pod('writes', 'echo one; sleep 0.2; echo two >&2; sleep 1000');
    assert.equal(await logs('writes', 2), 'one\ntwo\n');
    assert.equal(await api.ok('logs writes --tail=1'), 'two\n');
    assert.equal(await api.ok('logs writes --limit-bytes=5'), 'one\nt');
    assert.equal(await api.ok('logs writes --since=1h'), 'one\ntwo\n');
    assert.equal(await api.ok('logs writes --since-time=2100-01-01T00:00:00Z'), '');
    assert.match(await api.ok('logs writes --timestamps --tail=1'), /^\d{4}-\d\d-\d\dT[\d:.]+Z two\n$/);
  });

  test('a container has no previous output before it is started again', async () => {
    await pod('first', 'echo one; sleep 1000');
    assert.equal(
      await api.refused('logs first --previous'),
      'Error from server (BadRequest): previous terminated container "main" in pod "first" not found\n',
    );
    host.run('first', 'sleep 1000');
    assert.equal(await logs('first --previous', 1), 'one\n');
  });

  test('a log is followed until the container has ended and all is read, also when it is rotated', async () => {
    await pod('counts', 'for i in $(seq 2000); do echo $i; done; sleep 1; echo end');
    const following = await api.follow('logs counts --follow');
    await following.lines(2000);
    host.rotate('counts', 5);
    assert.equal(await following.ended, 0);
    assert.deepEqual(await following.lines(2001), [...Array.from({ length: 2000 }, (_, i) => String(i + 1)), 'end']);
    assert.equal(host.watchers, 0);
  });

  test('who follows no more is let go', async () => {
    await pod('goes-on', 'echo begun; sleep 1000');
    const following = await api.follow('logs goes-on --follow');
    assert.deepEqual(await following.lines(1), ['begun']);
    assert.ok(host.watchers > 0);
    await following.stop();
    await eventually(
      async () => host.watchers,
      (watchers) => watchers === 0,
    );
  });

  for (const [protocol, env] of Object.entries({ WebSocket: {}, SPDY })) {
    test(`a command runs in a container, and its output and exit code come back, over ${protocol}`, async () => {
      const name = `runs-${protocol.toLowerCase()}`;
      await pod(name);
      const kubectl = api.told(env);
      const ended = await kubectl.run(['exec', name, '--', 'sh', '-c', 'echo out; echo err >&2; exit 7']);
      assert.deepEqual(ended, { stdout: 'out\n', stderr: 'err\ncommand terminated with exit code 7\n', code: 7 });
      const { stdout } = await kubectl.run(['exec', name, '--', 'seq', '500000']);
      assert.equal(stdout, `${Array.from({ length: 500_000 }, (_, i) => i + 1).join('\n')}\n`);
      assert.match(
        await kubectl.refused(['exec', name, '--', 'no-such-command']),
        /^error: Internal error occurred: error executing command in container: .*no-such-command/,
      );
    });

    test(`megabytes of standard input arrive, and a command need not read them, over ${protocol}`, async () => {
      const name = `reads-${protocol.toLowerCase()}`;
      await pod(name);
      const kubectl = api.told(env);
      const input = 'x'.repeat(10_000_000);
      assert.equal((await kubectl.run(`exec -i ${name} -- wc -c`, input)).stdout, '10000000\n');
      for (let i = 0; i < 3; i++) {
        // What kubectl says about input that it could not get rid of is its own affair.
        const { stdout, code } = await kubectl.run(`exec -i ${name} -- head -c 3`, input);
        assert.deepEqual({ stdout, code }, { stdout: 'xxx', code: 0 });
      }
    });

    test(`connections are forwarded into a pod, over ${protocol}`, async () => {
      const name = `listens-${protocol.toLowerCase()}`;
      await pod(name);
      // Says back what it hears, once all is said.
      const server = createServer({ allowHalfOpen: true }, async (socket) => socket.end(await buffer(socket)));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const forwarding = await api
        .told(env)
        .follow(`port-forward --address=127.0.0.1 ${name} :${(server.address() as AddressInfo).port} :1`);
      const ports = (await forwarding.lines(2)).map((line) => Number(/:(\d+) ->/.exec(line)?.[1]));
      const said = Buffer.alloc(3_000_000, 'to and fro ');
      const heard = await Promise.all(
        [1, 2, 3].map(async () => {
          const socket = connect(ports[0] ?? 0, '127.0.0.1');
          socket.end(said);
          return buffer(socket);
        }),
      );
      assert.ok(heard.every((each) => each.equals(said)));
      // Nobody listens there, which kubectl takes for the end.
      connect(ports[1] ?? 0, '127.0.0.1').on('error', () => {});
      assert.equal(await forwarding.ended, 1);
      server.close();
    });
  }

  test('a container that does not run any more takes no commands, but its output is there', async () => {
    await pod('ends', 'echo done');
    await untilEnded('ends');
    assert.match(await api.refused('exec ends -- ls'), /container not found \("main"\)/);
    assert.equal(await api.ok('logs ends --follow'), 'done\n');
  });

  test('a container is attached to: it is heard from then on, and is told what one says', async () => {
    await pod('repeats', 'read line; echo "you said $line"; sleep 0.2');
    const { stdout } = await api.run('attach -i repeats', 'hello\n');
    assert.match(stdout, /you said hello/);
  });

  test('a terminal is one, and knows its size', async () => {
    await pod('terminal');
    const command = ['exec', '-it', 'terminal', '--', 'sh', '-c', 'test -t 0 && echo it is; exit 3'];
    const { stdout, code } = await api.inTerminal(command);
    assert.match(stdout, /it is\r?\n/);
    assert.equal(code, 3);
    assert.ok(host.sizes.includes('91x33'));
  });

  test('files are copied into a container and out of it', async () => {
    await pod('copies');
    const [there, back] = [join(folder, 'there'), join(folder, 'back')];
    const content = Buffer.alloc(2_000_000, 'all of it ');
    await writeFile(join(folder, 'file'), content);
    await api.ok(`cp ${join(folder, 'file')} copies:${there}`);
    assert.ok((await readFile(there)).equals(content));
    await api.ok(`cp copies:${there} ${back}`);
    assert.ok((await readFile(back)).equals(content));
  });

  test('a command ends when whoever ran it has gone', async () => {
    await pod('leaves');
    const running = await api.follow(['exec', 'leaves', '--', 'sh', '-c', 'echo begun; sleep 1000']);
    await running.lines(1);
    assert.ok(host.runs('echo begun'));
    await running.stop();
    await eventually(
      async () => host.runs('echo begun'),
      (runs) => !runs,
    );
  });

  test('who has no right to it is refused before the host hears of it', async () => {
    await pod('private', 'echo secret; sleep 1000');
    await api.ok('create role looks --verb=get --resource=pods');
    await api.ok('create rolebinding ann-looks --role=looks --user=ann');
    for (const [words, resource] of [
      ['logs private', 'pods/log'],
      ['exec private -- ls', 'pods/exec'],
      ['attach private', 'pods/attach'],
      ['port-forward private :1', 'pods/portforward'],
    ] as const) {
      assert.match(
        await api.refused(`--as=ann ${words}`),
        new RegExp(`User "ann" cannot (get|create) resource "${resource}"`),
      );
    }
  });

  describe('with @kubernetes/client-node', () => {
    const config = new KubeConfig();
    before(() => config.loadFromFile(api.engine.kubeconfig));

    test('commands are run, with input and a Status at the end', async () => {
      await pod('node-runs');
      const [output, errors] = [new PassThrough(), new PassThrough()];
      const ended = Promise.withResolvers<V1Status>();
      const command = ['sh', '-c', 'read line; echo "you said $line"; echo no >&2; exit 4'];
      const input = Readable.from(['hello\n']);
      const exec = new Exec(config);
      await exec.exec('default', 'node-runs', 'main', command, output, errors, input, false, ended.resolve);
      const status = await ended.promise;
      assert.deepEqual(status.details?.causes, [{ reason: 'ExitCode', message: '4' }]);
      assert.equal(output.read()?.toString(), 'you said hello\n');
      assert.equal(errors.read()?.toString(), 'no\n');
    });

    test('logs are followed', async () => {
      await pod('node-logs', 'echo one; sleep 0.3; echo two');
      const output = new PassThrough();
      await new Log(config).log('default', 'node-logs', 'main', output, { follow: true });
      assert.equal(await text(output), 'one\ntwo\n');
    });

    test('connections are forwarded over channels', async () => {
      await pod('node-listens');
      const server = createServer((socket) => socket.once('data', (said) => socket.end(`you said ${said}`)));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const forward = new PortForward(config, true);
      const [output, errors, input] = [new PassThrough(), new PassThrough(), new PassThrough()];
      const socket = await forward.portForward('default', 'node-listens', [port], output, errors, input);
      input.write('hello');
      const [heard] = await once(output, 'data');
      assert.equal(String(heard), 'you said hello');
      assert.ok(typeof socket !== 'function');
      socket.close();
      server.close();
    });
  });
});
