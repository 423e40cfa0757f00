import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { netloom, runCommandLine } from './program.ts';

const children: ChildProcess[] = [];
const directory = await mkdtemp(path.join(tmpdir(), 'netloom-routes-'));
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(directory, { recursive: true });
});

/** A command that goes on, and what it has printed so far. */
class Running {
  output = '';
  errors = '';
  readonly child: ChildProcess;

  constructor(...words: string[]) {
    const child = spawn(process.execPath, [path.join(import.meta.dirname, 'main.ts'), 'routes', ...words]);
    child.stdout.on('data', (piece) => {
      this.output += piece;
    });
    child.stderr.on('data', (piece) => {
      this.errors += piece;
    });
    this.child = child;
    children.push(child);
  }

  async says(pattern: RegExp): Promise<string> {
    for (const end = Date.now() + 60_000; Date.now() < end; ) {
      const found = pattern.exec(this.output + this.errors);
      if (found !== null) return found[1] ?? found[0];
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.fail(`${pattern} is not in:\n${this.output}${this.errors}`);
  }

  async stop(): Promise<number | null> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGINT');
    const [code] = await exited;
    return code;
  }
}

async function run(...words: string[]): Promise<{ code: number; output: string; errors: string }> {
  const result = { code: 0, output: '', errors: '' };
  const terminal = {
    print: (text: string) => {
      result.output += `${text}\n`;
    },
    warn: (text: string) => {
      result.errors += `${text}\n`;
    },
  };
  result.code = await runCommandLine(netloom, ['routes', ...words], terminal);
  return result;
}

test('a server, two clients, and what show tells of them', async () => {
  const server = new Running('serve', '--listen', '[::1]:0', '--http', '[::1]:0', '--keepalive', '5', '-v');
  const address = await server.says(/ready (\S+)/);
  const page = await server.says(/page (\S+)/);
  const one = new Running(
    'client',
    '--server',
    address,
    '--subscribe',
    '100',
    '--announce',
    '100#10.0.0.1/32#2001:db8::1',
  );
  const metalbondOptions = ['--install-routes', '100#7', '--tun', 'overlay-tun', '--ipv4-only', '--cleanup', '-v'];
  const two = new Running(
    'client',
    '--server',
    address,
    '--subscribe',
    '100',
    ...metalbondOptions,
    '--announce',
    '100#10.0.0.2/32#2001:db8::2#NAT#1024#40000',
  );
  assert.equal(await one.says(/^\+ .*$/m), '+ 100#10.0.0.2/32#2001:db8::2#NAT#1024#40000');
  assert.equal(await two.says(/^\+ .*$/m), '+ 100#10.0.0.1/32#2001:db8::1');
  assert.match(two.errors, /--install-routes, --tun and --cleanup have no effect here/);
  const { code, output } = await run('show', '--http', page);
  assert.equal(code, 0);
  assert.match(output, /^PEER +DIRECTION +STATE/);
  assert.match(output, /^\[::1\]:\d+ +incoming +ESTABLISHED +netloom +1 +1 +100$/m);
  assert.match(output, /^10\.0\.0\.1\/32 +2001:db8::1 +STD +\[::1\]:\d+$/m);
  assert.match(output, /^10\.0\.0\.2\/32 +2001:db8::2 +NAT 1024-40000 +\[::1\]:\d+$/m);
  assert.equal(await two.stop(), 0);
  assert.equal(await one.says(/^- .*$/m), '- 100#10.0.0.2/32#2001:db8::2#NAT#1024#40000');
  assert.equal((await run('show', '--http', page, '--vni', '7')).output.includes('VNI'), false);
  assert.equal(await server.stop(), 0);
});

describe('what the caller can put right is said in a sentence', () => {
  const cases: [string, string[], number, RegExp][] = [
    [
      'a server without an address',
      ['serve', '--listen', 'nonsense'],
      2,
      /"nonsense" is not an address with a port, like \[::1\]:4711/,
    ],
    [
      'an address of another machine',
      ['serve', '--listen', '192.0.2.1:4711'],
      1,
      /192\.0\.2\.1:4711 is no address of this machine: choose another one with --listen/,
    ],
    ['half of the TLS files', ['serve', '--tls-cert', 'x'], 2, /TLS needs all of --tls-cert, --tls-key and --tls-ca/],
    ['a file that is not there', ['serve', '--rules', '/nowhere'], 1, /\/nowhere cannot be read: ENOENT/],
    ['a client without a server', ['client', '--subscribe', '100'], 2, /give at least one with --server HOST:PORT/],
    [
      'a route that is none',
      ['client', '--server', 'a:1', '--announce', '100#10.0.0.1'],
      2,
      /right is VNI#PREFIX#NEXTHOP/,
    ],
    [
      'a VNI that is none',
      ['client', '--server', 'a:1', '--subscribe', 'x'],
      2,
      /--subscribe must be a whole number from 0 to 16777215/,
    ],
  ];
  for (const [name, words, code, sentence] of cases) {
    test(name, async () => {
      const result = await run(...words);
      assert.match(result.errors, sentence);
      assert.equal(result.code, code);
    });
  }

  test('rules that are wrong, with the file and the place', async () => {
    const file = path.join(directory, 'rules.yaml');
    await writeFile(file, 'peers:\n- name: a\n  vni: [1]\n');
    const { errors, code } = await run('serve', '--rules', file);
    assert.match(
      errors,
      /rules\.yaml: peers\[0\]: field "vni" is unknown; there are name, from, vnis, prefixes, maxRoutes/,
    );
    assert.equal(code, 1);
  });

  test('a page that is not there', async () => {
    const server = createServer().listen(0, '::1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    server.close();
    const { errors, code } = await run('show', '--http', `http://[::1]:${address.port}`);
    assert.match(errors, /does not answer: connect ECONNREFUSED .* Is a server or client running with --http/);
    assert.equal(code, 1);
  });

  test('a port that is taken', async () => {
    const server = new Running('serve', '--listen', '[::1]:0');
    const address = await server.says(/ready (\S+)/);
    const { errors } = await run('serve', '--listen', address);
    assert.ok(errors.includes(`${address} is taken: choose another address with --listen`), errors);
    await server.stop();
  });
});
