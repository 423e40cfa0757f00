import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '../../src/api/json.ts';
import { MachineInTest, PROGRAM } from './machine-in-test.ts';

const container = (name: string, script: string, more: JsonObject = {}): JsonObject => ({
  name,
  image: 'host',
  command: ['sh', '-c', script],
  ...more,
});

/** With everything that stands between a person and a process in a pod: kubectl, engine, agent and supervisor. */
describe('what people do with their pods', { skip: process.getuid?.() === 0 ? false : 'needs root' }, () => {
  let machine: MachineInTest;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'netloom-pod-access-'));
    machine = await MachineInTest.start();
    await machine.kubectl('apply -f -', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web' },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          container('main', 'exec python3 -m http.server 8080'),
          container('talks', 'seq 100000; sleep 1; echo end; exit 3'),
          container('listens', 'exec cat', { stdin: true }),
        ],
      },
    });
    await machine.kubectl(['wait', 'pod/web', '--for=jsonpath={.status.phase}=Running', '--timeout=60s']);
  });
  after(async () => {
    await machine.destroy();
    await rm(folder, { recursive: true });
  });

  test('follow what they write, up to their end, and read it again once they have been started anew', async () => {
    const numbers = Array.from({ length: 100_000 }, (_, i) => i + 1).join('\n');
    assert.equal(await machine.kubectl('logs web -c talks --follow'), `${numbers}\nend\n`);
    const restarts = [
      'get',
      'pod',
      'web',
      '-o',
      'jsonpath={.status.containerStatuses[?(@.name=="talks")].restartCount}',
    ];
    await machine.eventually(
      () => machine.kubectl(restarts),
      (count) => count !== '0',
    );
    assert.equal(await machine.kubectl('logs web -c talks --previous --tail=2'), '100000\nend\n');
  });

  test('read what a pod has written however long its name is', async () => {
    const name = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(62)).join('.');
    await machine.kubectl('apply -f -', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { restartPolicy: 'Never', containers: [container('main', 'echo said')] },
    });
    await machine.kubectl(['wait', `pod/${name}`, '--for=jsonpath={.status.phase}=Succeeded', '--timeout=60s']);
    assert.equal(await machine.kubectl(['logs', name]), 'said\n');
    await machine.kubectl(['delete', 'pod', name]);
  });

  test('run commands in them, with input, output and exit codes', async () => {
    const exec = (words: readonly string[], input = '') =>
      machine.attempt(machine.program, ['exec', '-i', 'web', '-c', 'main', '--', ...words], input);
    assert.deepEqual(await exec(['sh', '-c', 'hostname; echo no >&2; exit 7']), {
      stdout: 'web\n',
      stderr: 'no\ncommand terminated with exit code 7\n',
      code: 7,
    });
    const input = 'x'.repeat(5_000_000);
    assert.equal((await exec(['wc', '-c'], input)).stdout, '5000000\n');
    assert.equal((await exec(['head', '-c', '3'], input)).stdout, 'xxx');
    assert.match(
      (await exec(['no-such-command'])).stderr,
      /exec: "no-such-command": executable file not found in \$PATH/,
    );
  });

  test('do the same without kubectl', async () => {
    const own = (words: readonly string[], input = '') => machine.attempt(PROGRAM, words, input);
    const exec = (words: readonly string[], input = '') =>
      own(['exec', '-i', 'web', '-c', 'main', '--', ...words], input);
    assert.deepEqual(await exec(['sh', '-c', 'hostname; echo no >&2; exit 7']), {
      stdout: 'web\n',
      stderr: 'no\n',
      code: 7,
    });
    const input = 'x'.repeat(5_000_000);
    assert.equal((await exec(['wc', '-c'], input)).stdout, '5000000\n');
    assert.equal((await exec(['head', '-c', '3'], input)).stdout, 'xxx');
    const missing = await exec(['no-such-command']);
    assert.match(missing.stderr, /exec: "no-such-command": executable file not found in \$PATH/);
    assert.equal(missing.code, 1);

    const terminal = `${PROGRAM} exec -it web -c main -- sh -c 'tty; stty size; exit 5'`;
    const seen = await machine.attempt('script', ['-qefc', `stty cols 91 rows 33; exec ${terminal}`, '/dev/null']);
    assert.match(seen.stdout, /\/dev\/pts\/\d.*\b33 91\b/s);
    assert.equal(seen.code, 5);
    assert.match((await own(['exec', '-t', 'web', '--', 'true'])).stderr, /-t needs a terminal on standard input/);

    assert.equal((await own(['logs', 'web', '-c', 'talks', '--previous', '--tail', '2'])).stdout, '100000\nend\n');
    assert.deepEqual(await own(['logs', 'web', '-c', 'nobody']), {
      stdout: '',
      stderr: 'netloom: container nobody is not valid for pod web\n',
      code: 1,
    });
  });

  test('sit before a terminal in them, of the size of their own', async () => {
    const line = `${machine.program} exec -it web -c main -- sh -c 'tty; stty size; exit 5'`;
    const words = ['-qefc', `stty cols 91 rows 33; exec ${line}`, '/dev/null'];
    const { stdout, code } = await machine.attempt('script', words);
    // script(1) tells the terminal that nobody types, which is echoed somewhere in between.
    assert.match(stdout, /\/dev\/pts\/\d.*\b33 91\b/s);
    assert.equal(code, 5);
  });

  test('speak to what runs in them', async () => {
    for (const word of ['hello', 'again']) {
      await machine.attempt(machine.program, ['attach', '-i', 'web', '-c', 'listens'], `${word}\n`);
      await machine.eventually(
        () => machine.kubectl('logs web -c listens'),
        (log) => log.includes(word),
      );
    }
    const words = ['run', 'once', '--image=host', '-i', '--rm', '--restart=Never', '--command', '--', 'sh', '-c'];
    const run = await machine.attempt(machine.program, [...words, 'cat; exit 4'], 'and good bye\n');
    assert.match(run.stdout, /and good bye\n/);
    assert.equal(run.code, 4);
  });

  test('copy files into them and out of them', async () => {
    const content = Buffer.alloc(1_000_000, 'all of it ');
    await writeFile(join(folder, 'file'), content);
    await machine.kubectl(`cp ${join(folder, 'file')} web:/tmp/file -c main`);
    await machine.kubectl(`cp web:/tmp/file ${join(folder, 'back')} -c main`);
    assert.ok((await readFile(join(folder, 'back'))).equals(content));
  });

  test('reach what listens in them on their own loopback device', async () => {
    const script = [
      `${machine.program} port-forward --address=127.0.0.1 web :8080 > ${folder}/forward & forwarding=$!`,
      `until grep -q 'Forwarding from' ${folder}/forward; do sleep 0.1; done`,
      `port=$(sed -n 's/.*127.0.0.1:\\([0-9]*\\) .*/\\1/p' ${folder}/forward)`,
      'curl -sf http://127.0.0.1:$port/etc/hostname; code=$?; kill $forwarding; exit $code',
    ];
    const { stdout, code } = await machine.attempt('timeout', ['60', 'sh', '-c', script.join('\n')]);
    assert.deepEqual({ stdout, code }, { stdout: 'web\n', code: 0 });
  });
});
