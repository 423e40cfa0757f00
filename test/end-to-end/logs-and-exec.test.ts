import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../engine/engine-in-test.ts';
import { EngineWithKubectl } from './engine-with-kubectl.ts';
import { HostInTest } from './host-in-test.ts';

describe('logs of pods and commands in them, with kubectl', { concurrency: 4 }, () => {
  let api: EngineWithKubectl;
  let host: HostInTest;
  before(async () => {
    api = await EngineWithKubectl.start();
    host = await HostInTest.start(api.engine.directory);
    await api.ok('create -f -', host.node('n'));
  });
  after(async () => {
    await host.stop();
    await api.stop();
  });
  const pod = async (name: string, command: string) => {
    await api.ok('create -f -', host.pod('n', name));
    host.run(name, command);
  };
  /** As soon as there are so many lines. */
  const logs = async (words: string, lines: number): Promise<string> =>
    eventually(
      () => api.ok(`logs ${words}`),
      (text) => text.split('\n').length > lines,
    );

  test('logs show what was written on both streams', async () => {
    await pod('writes', 'echo one; sleep 0.2; echo two >&2; sleep 1000');
    assert.equal(await logs('writes', 2), 'one\ntwo\n');
    assert.equal(await api.ok('logs writes --tail=1'), 'two\n');
  });

  test('a container that has not been started before has no previous one', async () => {
    await pod('first', 'echo one; sleep 1000');
    assert.equal(
      await api.refused('logs first --previous'),
      'Error from server (BadRequest): previous terminated container "main" in pod "first" not found\n',
    );
    host.run('first', 'sleep 1000');
    assert.equal(await logs('first --previous', 1), 'one\n');
  });

  test('a log is followed until the container has ended and all is read', async () => {
    await pod('counts', 'for i in $(seq 2000); do echo $i; done; sleep 0.3; echo end');
    const text = await api.ok('logs counts --follow');
    assert.equal(text, `${Array.from({ length: 2000 }, (_, i) => i + 1).join('\n')}\nend\n`);
    assert.equal(host.watchers, 0);
  });

  test('a command runs in a container, and its output and exit code come back', async () => {
    await pod('runs', 'sleep 1000');
    const ended = await api.run(['exec', 'runs', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7']);
    assert.deepEqual(ended, { stdout: 'out\n', stderr: 'err\ncommand terminated with exit code 7\n', code: 7 });
  });

  test('megabytes of standard input arrive, and a command need not read them', async () => {
    await pod('reads', 'sleep 1000');
    const input = 'x'.repeat(20_000_000);
    assert.equal((await api.run('exec -i reads -- wc -c', input)).stdout, '20000000\n');
    for (let i = 0; i < 3; i++) {
      // What kubectl says about input that it could not get rid of is its own affair.
      const { stdout, code } = await api.run('exec -i reads -- head -c 3', input);
      assert.deepEqual({ stdout, code }, { stdout: 'xxx', code: 0 });
    }
  });

  test('a command that is not there, and a container that does not run, are told', async () => {
    await pod('ends', 'true');
    await eventually(
      async () => host.find('default', 'ends')?.container('main').current?.phase,
      (phase) => phase === 'ended',
    );
    assert.match(await api.refused('exec ends -- ls'), /container not found \("main"\)/);
    await pod('lacks', 'sleep 1000');
    assert.match(
      await api.refused('exec lacks -- no-such-command'),
      /error: Internal error occurred: error executing command in container: .*no-such-command/,
    );
  });
});
