import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { needsRoot } from '../../../linux/network.fixture.ts';
import type { AttachSession } from '../runtime.ts';
import { logLines, TestHost } from './runtime.fixture.ts';

/** Reads until all these words have come, in this order. */
async function until(stream: Readable, ...words: string[]): Promise<void> {
  const pattern = new RegExp(words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*'), 's');
  let all = '';
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      all += String(chunk);
      if (!pattern.test(all)) return;
      stream.off('data', read);
      stream.pause();
      resolve();
    };
    stream.on('data', read);
    stream.once('close', () => reject(new Error(`"${words.join('" and "')}" was expected, not ${all}`)));
    stream.resume();
  });
}

const ASLEEP = 'sleep 1000';

test('a command is executed inside, with input, output and exit code of its own', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const container = await host.start('echo mine > /tmp/file; sleep 1000');
  const result = await host.exec(container, 'cat; cat /tmp/file; hostname; echo no >&2; exit 9', { input: 'given\n' });
  assert.deepEqual(result, { stdout: 'given\nmine\ninside\n', stderr: 'no\n', exitCode: 9 });
  await assert.rejects(host.exec(container, ['nonsense']), /executable file not found/);
  assert.equal((await host.exec(container, 'kill -KILL $$')).exitCode, 137);
});

test('a command has the environment, the user and the place of the container', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const env = [
    ['PATH', '/usr/bin:/bin'],
    ['COLOUR', 'blue'],
  ] as const;
  const container = await host.start(ASLEEP, {
    env,
    user: 1234,
    group: 5678,
    supplementalGroups: [4321],
    workingDirectory: '/usr/share',
  });
  const { stdout } = await host.exec(container, 'id -u; id -G; echo $COLOUR; pwd; grep CapEff /proc/self/status');
  assert.equal(stdout, '1234\n5678 4321\nblue\n/usr/share\nCapEff:\t0000000000000000\n');
});

test('a terminal is one: it echoes, has a size and turns keys into signals', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const container = await host.start(ASLEEP, { user: 1000, group: 1000 });
  const session = await host.runtime.exec({
    containerId: container.id,
    command: ['bash', '--norc'],
    stdin: true,
    tty: true,
  });
  assert.equal(session.stderr, undefined);
  session.resize(132, 43);
  session.stdin?.write('tty; stty size; echo $((6*7)) >&2\n');
  await until(session.stdout, 'echo $((6*7))', '/dev/pts/', '43 132', '42');
  session.resize(80, 25);
  // What is seen of it first is only its echo: a key that comes too soon would be for the shell.
  session.stdin?.write("sh -c 'echo begun; exec sleep 500'\n");
  await until(session.stdout, 'begun\r\n');
  session.stdin?.write('\x03');
  session.stdin?.write('stty size; exit $((3+4))\n');
  await until(session.stdout, '25 80');
  session.stdout.resume();
  assert.deepEqual(await session.ended, { exitCode: 7 });
});

test('the end of the input of a terminal is the key that ends it', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const container = await host.start(ASLEEP);
  const session = await host.runtime.exec({ containerId: container.id, command: ['cat'], stdin: true, tty: true });
  session.stdin?.end('line\n');
  assert.match(await text(session.stdout), /line\r\nline\r\n/);
  assert.deepEqual(await session.ended, { exitCode: 0 });
});

test('a program that lets go of its terminal before it ends is not hung up on', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const script = 'echo said; exec <&- >&- 2>&-; sleep 0.3; exit 7';
  const container = await host.start(ASLEEP);
  const session = await host.runtime.exec({
    containerId: container.id,
    command: ['sh', '-c', script],
    stdin: true,
    tty: true,
  });
  assert.equal(await text(session.stdout), 'said\r\n');
  assert.deepEqual(await session.ended, { exitCode: 7 });
  assert.equal((await host.run(script, { tty: true })).exitCode, 7);
});

test('what takes too long is ended with all that it has started', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const container = await host.start(ASLEEP);
  const { exitCode } = await host.exec(container, 'setsid sleep 7712345 & setsid sleep 7712345 & sleep 7712345', {
    timeoutMs: 300,
  });
  assert.equal(exitCode, 137);
  const { stdout } = await host.exec(container, 'ps ax');
  assert.doesNotMatch(stdout, /7712345/);
  assert.match(stdout, /sleep 1000/);
});

test('a command ends with whoever asked for it, even while it does not read its input', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const container = await host.start(ASLEEP);
  for (const input of ['', 'x'.repeat(3_000_000)]) {
    const command = ['sh', '-c', 'echo begun; exec sleep 8812345'];
    const other = await host.connect();
    const session = await other.exec({ containerId: container.id, command, stdin: true, tty: false });
    session.stdin?.write(input);
    await until(session.stdout, 'begun');
    await other.close();
  }
  let processes = '8812345';
  for (let tries = 0; processes.includes('8812345') && tries < 100; tries += 1) {
    processes = (await host.exec(container, 'sleep 0.1; ps ax')).stdout;
  }
  assert.doesNotMatch(processes, /8812345/);
});

test('much output waits for whoever reads it, and none of it is lost', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const container = await host.start(ASLEEP);
  const command = ['sh', '-c', 'head -c 20000000 /dev/zero; head -c 10000000 /dev/zero >&2; cat'];
  const session = await host.runtime.exec({ containerId: container.id, command, stdin: true, tty: false });
  session.stdin?.end(Buffer.alloc(5_000_000));
  const count = async (stream: Readable | undefined): Promise<number> => {
    let bytes = 0;
    for await (const chunk of stream ?? []) bytes += (chunk as Buffer).length;
    return bytes;
  };
  const [out, errors] = await Promise.all([count(session.stdout), count(session.stderr)]);
  assert.deepEqual([out, errors], [25_000_000, 10_000_000]);
  assert.deepEqual(await session.ended, { exitCode: 0 });
});

test('who attaches sees what is written from now on, and may write to the input', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const container = await host.start('while read line; do echo "got $line"; echo "bad $line" >&2; done; exit 4', {
    stdin: true,
  });
  const [one, two] = [await host.runtime.attach(container.id), await host.runtime.attach(container.id)];
  one.stdin?.write('first\n');
  await Promise.all([until(one.stdout, 'got first'), until(two.stdout, 'got first')]);
  assert.ok(two.stderr);
  await until(two.stderr, 'bad first');
  one.close();
  two.stdin?.end('second\n');
  await until(two.stdout, 'got second');
  const { exitCode } = await host.end(container);
  assert.equal(exitCode, 4);
  assert.deepEqual(
    logLines(container.logFile)
      .map(({ text }) => text)
      .sort(),
    ['bad first', 'bad second', 'got first', 'got second'],
  );
  await assert.rejects(host.runtime.attach(container.id), /does not run/);
});

test('input that is read once ends with the first who has said something, however he leaves', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const start = () => host.start('cat; echo over; sleep 1000', { stdin: true, stdinOnce: true });
  for (const leave of [(session: AttachSession) => session.stdin?.end(), (session: AttachSession) => session.close()]) {
    const container = await start();
    const [silent, speaker, witness] = await Promise.all([1, 2, 3].map(() => host.runtime.attach(container.id)));
    assert.ok(silent && speaker && witness);
    silent.close();
    speaker.stdin?.write('something\n');
    await until(witness.stdout, 'something');
    leave(speaker);
    await until(witness.stdout, 'over');
    const late = await host.runtime.attach(container.id);
    late.stdin?.end('too late\n');
    assert.equal((await host.exec(container, 'echo well')).stdout, 'well\n');
  }
});

test('other input goes on when those who speak to it leave, one after another', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const container = await host.start('cat; echo over', { stdin: true, stdinOnce: false });
  const witness = await host.runtime.attach(container.id);
  for (const word of ['one', 'two']) {
    const speaker = await host.runtime.attach(container.id);
    speaker.stdin?.end(`${word}\n`);
    await Promise.all([until(witness.stdout, word), text(speaker.stdout)]);
  }
  await host.runtime.signal(container.id, 'SIGKILL');
  await host.end(container);
  assert.deepEqual(
    logLines(container.logFile).map(({ text }) => text),
    ['one', 'two'],
  );
});

test('a container may have a terminal itself', needsRoot, async (t) => {
  const host = await TestHost.start(t);
  const container = await host.start(
    'test -t 0 && tty; stty size; read line; stty size; echo "got $line" >/dev/console',
    {
      stdin: true,
      tty: true,
    },
  );
  const session = await host.runtime.attach(container.id);
  assert.equal(session.stderr, undefined);
  session.resize(101, 31);
  session.stdin?.write('hello\n');
  await until(session.stdout, '31 101', 'got hello');
  await host.end(container);
  assert.deepEqual(new Set(logLines(container.logFile).map(({ stream }) => stream)), new Set(['stdout']));
});
