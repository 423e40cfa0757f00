import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { kubectlFor } from './kubectl.ts';

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'netloom-kubectl-test-'));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
}

/** A program that says it is kubectl of a version. */
function claims(file: string, gitVersion: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\necho '{"clientVersion":{"gitVersion":"${gitVersion}"}}'\n`);
  chmodSync(file, 0o755);
}

/** What kubectl() chooses where only these folders are on the PATH. */
async function chosenFrom(...folders: string[]): Promise<unknown> {
  const script = `import { kubectl } from ${JSON.stringify(path.join(import.meta.dirname, 'kubectl.ts'))};
    console.log(JSON.stringify(await kubectl().catch((error) => error.message)));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env: { PATH: folders.join(':'), XDG_CACHE_HOME: folders[0] },
  });
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}

test('the kubectl on the PATH is taken when it is new enough', async (t) => {
  const place = folder(t);
  claims(path.join(place, 'kubectl'), 'v1.31.2');
  assert.deepEqual(await chosenFrom(place), { path: path.join(place, 'kubectl'), version: 'v1.31.2' });
});

test('instead of a dispatcher, the newest of the kubectls that lie beside it is taken', async (t) => {
  const [place, links] = [folder(t), folder(t)];
  claims(path.join(place, 'kubectl'), 'v1.32.4-dispatcher');
  for (const minor of ['9', '29', '30', '33']) claims(path.join(place, `kubectl.1.${minor}`), `v1.${minor}.1`);
  symlinkSync(path.join(place, 'kubectl'), path.join(links, 'kubectl'));
  assert.deepEqual(await chosenFrom(links), { path: path.join(place, 'kubectl.1.33'), version: 'v1.33.1' });
});

test('without a kubectl that is new enough and without Go, a sentence says what to install', async (t) => {
  const place = folder(t);
  claims(path.join(place, 'kubectl'), 'v1.20.2');
  for (const program of ['sh', 'flock']) symlinkSync(`/usr/bin/${program}`, path.join(place, program));
  assert.match(String(await chosenFrom(place)), /need kubectl 1\.30 or later on the PATH, or Go 1\.24 or later/);
});

test('kubectl reaches a server in this very process', async (t) => {
  const server = createServer((request, response) => void response.end(`you asked for ${request.url}`));
  t.after(() => void server.close());
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);

  const kubeconfig = path.join(folder(t), 'config');
  const config = {
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${address.port}` } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: '' } }],
    'current-context': 'c',
  };
  writeFileSync(kubeconfig, JSON.stringify(config));

  const run = await kubectlFor({ kubeconfig });
  assert.deepEqual(await run(['get', '--raw', '/hello']), { stdout: 'you asked for /hello', stderr: '', code: 0 });
  const { stdout, code } = await run(['create', '--raw', '/things', '-f', '-'], { input: '{}' });
  assert.deepEqual({ stdout, code }, { stdout: 'you asked for /things', code: 0 });
  assert.equal((await run(['no-such-command'])).code, 1);
});
