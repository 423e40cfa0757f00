import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Cgroups } from '../../../linux/cgroups.ts';
import { needsRoot } from '../../../linux/network.fixture.ts';
import { mountTmpfs, unmountAll } from '../../../linux/tmpfs.ts';
import { system } from '../../../runtime/system.ts';
import { viewOfHost, viewsOfHost } from './host-view.ts';

test('what is mounted right below the root is not looked through', needsRoot, (t) => {
  const folder = mkdtempSync('/netloom-test-');
  mountTmpfs(folder, { mode: 0o755 });
  t.after(() => {
    unmountAll(folder);
    rmSync(folder, { recursive: true });
  });
  writeFileSync(path.join(folder, 'key'), 'secret', { mode: 0o600 });
  const { veil } = viewOfHost({ own: [], cgroups: new Cgroups([]) });
  const seen = veil.filter((entry) => `/${entry.path}`.startsWith(folder));
  assert.deepEqual(
    seen.map((entry) => [entry.path, entry.is === 'folder' && entry.empty]),
    [[folder.slice(1), true]],
  );
});

test('what is made private on a host is hidden from those who come a while later', needsRoot, (t) => {
  let uptime = 0;
  const looking = () => viewOfHost({ own: [], cgroups: new Cgroups([]) });
  const view = viewsOfHost({ ...system, uptime: () => uptime }, looking);
  const folder = mkdtempSync(path.join('/srv', 'netloom-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const hides = () => view().veil.some((entry) => `/${entry.path}` === folder && entry.is === 'folder' && entry.empty);
  assert.equal(hides(), false);
  const before = view();
  uptime = 59_000;
  assert.equal(view(), before);
  uptime = 61_000;
  assert.equal(hides(), true);
});
