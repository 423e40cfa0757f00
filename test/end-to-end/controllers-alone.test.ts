import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readMetrics } from '../../src/runtime/metrics.fixture.ts';
import { eventually } from '../engine/engine-in-test.ts';
import { netloom, RunningNetloom } from './netloom.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/netloom', import.meta.url));

/** `netloom controllers`, which prints lines and runs until it is told to end. */
async function controllers(kubeconfig: string, ...words: string[]) {
  const child = spawn(PROGRAM, ['controllers', '--kubeconfig', kubeconfig, ...words], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const ended = once(child, 'exit');
  return {
    line: (start: string): Promise<string> =>
      eventually(
        async () => lines.find((line) => line.startsWith(start)) ?? '',
        (line) => line !== '',
      ),
    async stop(): Promise<void> {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

describe('netloom controllers', () => {
  let engine: RunningNetloom;
  const running: { stop(): Promise<void> }[] = [];
  before(async () => {
    engine = await RunningNetloom.start('engine');
  });
  after(async () => {
    await Promise.all(running.map((one) => one.stop()));
    await engine.stopAndRemove();
  });

  /** Two that share one lease, each with the URL of its metrics. */
  const start = async () => {
    const one = await controllers(engine.kubeconfig, '--leader-elect', '--metrics', '127.0.0.1:0');
    running.push(one);
    const [, url = ''] = (await one.line('metrics ')).split(' ');
    return { ...one, metrics: async () => readMetrics(await (await fetch(url)).text()), url };
  };

  test('tells what it measures and that it lives, also while another one works', async () => {
    const first = await start();
    assert.match(await first.line('ready '), /^ready ipam vips dns$/);
    const second = await start();
    const atWork = await first.metrics();
    assert.equal(atWork.get('netloom_controllers_at_work'), 1);
    assert.ok((atWork.get('netloom_controller_passes_total{controller="ipsets"}') ?? -1) >= 0);
    const standby = await second.metrics();
    assert.deepEqual([...standby], [['netloom_controllers_at_work', 0]]);

    const response = await fetch(first.url);
    assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    assert.equal(await (await fetch(new URL('/healthz', second.url))).text(), 'ok');
    assert.equal((await fetch(new URL('/', first.url))).status, 404);
    assert.equal((await fetch(first.url, { method: 'POST' })).status, 405);

    await first.stop();
    await second.line('ready ');
    await eventually(
      async () => (await second.metrics()).get('netloom_controllers_at_work'),
      (value) => value === 1,
    );
  });

  test('refuses an address that it cannot have, in a sentence', async () => {
    const asked = (where: string) => netloom(['controllers', '--kubeconfig', engine.kubeconfig, '--metrics', where]);
    const taken = new URL(engine.url).host;
    const refused = await asked(taken);
    assert.deepEqual(
      [refused.code, refused.stderr],
      [1, `netloom: ${taken} is taken: choose another address with --metrics (port 0 takes a free one)\n`],
    );
    const nonsense = await asked('9120');
    assert.equal(nonsense.code, 2);
    assert.match(nonsense.stderr, /^netloom: --metrics takes HOST:PORT, such as .*, not "9120"$/m);
  });
});
