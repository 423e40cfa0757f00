import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { checkHostPath } from './host-path.ts';
import { VolumeFault } from './volume-fault.ts';

const TYPES = ['Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket', 'CharDevice', 'BlockDevice'];

async function someOfEach(
  t: TestContext,
): Promise<Record<'folder' | 'file' | 'socket' | 'device' | 'missing', string>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'netloom-host-path-'));
  const [file, socket, missing] = ['file', 'socket', 'deep/missing'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(file, 'content');
  const server = createServer().listen(socket);
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  return { folder, file, socket, device: '/dev/null', missing };
}

test('a path of the host is of the type that is asked for, or refused', async (t) => {
  const found = await someOfEach(t);
  const right: Readonly<Record<string, readonly string[]>> = {
    folder: ['Directory', 'DirectoryOrCreate'],
    file: ['File', 'FileOrCreate'],
    socket: ['Socket'],
    device: ['CharDevice'],
  };
  for (const [what, types] of Object.entries(right)) {
    const at = found[what as keyof typeof found];
    await checkHostPath({ path: at });
    for (const type of TYPES) {
      const checked = checkHostPath({ path: at, type });
      if (types.includes(type)) await checked;
      else await assert.rejects(checked, VolumeFault, `${what} as ${type}`);
    }
  }
});

test('what is not there is made where the type says so, and nowhere else', async (t) => {
  const { folder, missing } = await someOfEach(t);
  for (const type of TYPES.filter((each) => !each.endsWith('OrCreate'))) {
    await assert.rejects(checkHostPath({ path: missing, type }), /does not exist, and is to be of type/);
  }
  assert.equal(existsSync(path.dirname(missing)), false);
  await assert.rejects(
    checkHostPath({ path: missing, type: 'FileOrCreate' }),
    /ENOENT/,
    'no folder is made for a file',
  );
  await checkHostPath({ path: missing, type: 'DirectoryOrCreate' });
  assert.equal(statSync(missing).mode & 0o777, 0o755);
  const file = path.join(folder, 'made');
  await checkHostPath({ path: file, type: 'FileOrCreate' });
  assert.deepEqual([statSync(file).isFile(), statSync(file).mode & 0o777], [true, 0o644]);
});

test('a link counts as what it leads to, as for a kubelet', async (t) => {
  const { folder, file } = await someOfEach(t);
  const [toFile, nowhere] = [path.join(folder, 'to-file'), path.join(folder, 'nowhere')];
  symlinkSync(file, toFile);
  symlinkSync(path.join(folder, 'gone'), nowhere);
  await checkHostPath({ path: toFile, type: 'File' });
  await assert.rejects(checkHostPath({ path: toFile, type: 'Directory' }), /is not a directory/);
  await assert.rejects(checkHostPath({ path: nowhere, type: 'File' }), /does not exist/);
  mkdirSync(path.join(folder, 'gone'));
  await checkHostPath({ path: nowhere, type: 'Directory' });
});
