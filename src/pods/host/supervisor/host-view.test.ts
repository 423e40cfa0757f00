import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Cgroups } from '../../../linux/cgroups.ts';
import { needsRoot } from '../../../linux/network.fixture.ts';
import { system } from '../../../runtime/system.ts';
import { viewOfHost, viewsOfHost } from './host-view.ts';

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
