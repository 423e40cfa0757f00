import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { hostUsers } from './host-users.ts';

test('a user is known by number, with the groups that name him', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'netloom-users-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [passwd, group] = [path.join(folder, 'passwd'), path.join(folder, 'group')];
  writeFileSync(passwd, 'root:x:0:0:root:/root:/bin/sh\nada:x:1000:100::/home/ada:/bin/sh\nbare:x:7:7:::\n# odd\n');
  writeFileSync(group, 'root:x:0:\nsudo:x:27:bob,ada\nusers:x:100:\n+\nvideo:x:44:ada\nodd:x:y:ada\n');
  const users = hostUsers({ passwd, group });
  assert.deepEqual([users.groupOf(1000), users.homeOf(1000), users.groupsNaming(1000)], [100, '/home/ada', [27, 44]]);
  assert.deepEqual([users.groupOf(7), users.homeOf(7), users.groupsNaming(7)], [7, '/', []]);
  assert.deepEqual([users.groupOf(5), users.homeOf(5), users.groupsNaming(5)], [0, '/', []]);
  const nobody = hostUsers({ passwd: path.join(folder, 'none'), group: path.join(folder, 'none') });
  assert.deepEqual([nobody.groupOf(1000), nobody.groupsNaming(1000)], [0, []]);
});
