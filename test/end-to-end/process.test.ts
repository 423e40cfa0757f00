import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readKubeconfig } from '../../src/runtime/kubeconfig.ts';
import { netloom, RunningNetloom } from './netloom.ts';

describe('netloom as a process', () => {
  test('the engine prints one line on standard output, and ends soon after SIGTERM', async () => {
    const engine = await RunningNetloom.start('engine');
    const began = Date.now();
    const { stdout, code } = await engine.stop();
    assert.ok(Date.now() - began < 5_000);
    assert.equal(stdout, `ready ${engine.url}\n`);
    assert.match(engine.url, /^https:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(code, 0);
    await rm(engine.directory, { recursive: true });
  });

  test('a watch that is open does not keep the engine from ending', async () => {
    const engine = await RunningNetloom.start('engine');
    const transport = await engine.transport();
    const watch = transport.stream({ method: 'GET', path: '/api/v1/namespaces?watch=1' })[Symbol.asyncIterator]();
    await watch.next();
    const began = Date.now();
    await engine.stop();
    assert.ok(Date.now() - began < 5_000);
    await rm(engine.directory, { recursive: true });
  });

  test('the kubeconfig is for its owner alone, and holds the authority and a token', async () => {
    const engine = await RunningNetloom.start('engine');
    try {
      assert.equal((await stat(engine.kubeconfig)).mode & 0o777, 0o600);
      const { ca, token, server, insecure } = await readKubeconfig(engine.kubeconfig);
      assert.match(ca ?? '', /BEGIN CERTIFICATE/);
      assert.ok((token ?? '').length >= 32);
      assert.equal(server, engine.url);
      assert.equal(insecure, false);
    } finally {
      await engine.stopAndRemove();
    }
  });

  test('up prints a screen whose last line says that it is ready', async () => {
    const up = await RunningNetloom.start('up');
    const { stdout, code } = await up.stop();
    assert.match(stdout, new RegExp(`export KUBECONFIG=${up.kubeconfig}`));
    assert.match(stdout.trimEnd().split('\n').at(-1) ?? '', /^ready https:/);
    assert.equal(code, 0);
    await rm(up.directory, { recursive: true });
  });

  test('a second one in the same folder says who has it, and which flags help', async () => {
    const first = await RunningNetloom.start('engine');
    try {
      const second = await netloom(['engine', '--data-dir', first.directory, '--listen', '127.0.0.1:0']);
      assert.equal(second.code, 1);
      assert.equal(second.stdout, '');
      assert.match(second.stderr, new RegExp(`in use by process ${first.pid}\\b.*--data-dir`));
    } finally {
      await first.stopAndRemove();
    }
  });

  test('a second one on the same port says who has it, and which flag helps', async () => {
    const first = await RunningNetloom.start('engine');
    const directory = await mkdtemp(join(tmpdir(), 'netloom-e2e-'));
    try {
      const listen = new URL(first.url).host;
      const second = await netloom(['engine', '--data-dir', directory, '--listen', listen]);
      assert.equal(second.code, 1);
      assert.match(second.stderr, new RegExp(`${listen} is taken by process ${first.pid}\\b.*--listen`));
    } finally {
      await first.stopAndRemove();
      await rm(directory, { recursive: true });
    }
  });

  test('an address that makes no sense is refused before anything starts', async () => {
    const { code, stderr } = await netloom(['engine', '--listen', '6443']);
    assert.equal(code, 2);
    assert.match(stderr, /--listen takes HOST:PORT/);
  });

  test('other commands say what to do when there is no API', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'netloom-e2e-'));
    const { code, stderr } = await netloom(['get', 'pods'], { env: { XDG_STATE_HOME: empty, KUBECONFIG: '' } });
    assert.equal(code, 1);
    assert.match(stderr, /start one with "netloom up", or name a kubeconfig/);
    await rm(empty, { recursive: true });
  });
});
