import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { HostsFolder, hostsFolders } from './hosts-folder.ts';

const TEXT = '10.0.0.1 a\n';

describe('the folders that dnsmasq looks into', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'netloom-folder-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** dnsmasq leaves out what begins with a dot. */
  const texts = (): string[] =>
    hostsFolders(folder).flatMap((part) =>
      readdirSync(part)
        .filter((file) => !file.startsWith('.'))
        .map((file) => readFileSync(join(part, file), 'utf8')),
    );

  it('have each file in one of them, and what is empty in none', () => {
    const hosts = new HostsFolder(folder);
    hosts.show(new Map([['one', TEXT]]));
    hosts.showTogether(new Map([['two', '10.0.0.2 b\n']]));
    assert.deepEqual(texts().sort(), [TEXT, '10.0.0.2 b\n']);
    hosts.show(new Map([['one', '']]));
    assert.deepEqual(texts(), ['10.0.0.2 b\n']);
    hosts.showTogether(new Map([['two', '']]));
    assert.deepEqual(texts().join(''), '');
  });

  it('have a file after all that could not be shown at first', () => {
    const hosts = new HostsFolder(folder);
    const inTheWay = hostsFolders(folder).map((part) => join(part, '.fresh'));
    for (const path of inTheWay) mkdirSync(path);
    assert.throws(() => hosts.show(new Map([['one', TEXT]])), { code: 'EEXIST' });
    hosts.showTogether(new Map([['one', TEXT]]));
    assert.deepEqual(texts(), [TEXT]);
  });

  it('are taken over from an earlier run as they are', () => {
    new HostsFolder(folder).show(new Map([['one', TEXT]]));
    const hosts = new HostsFolder(folder);
    assert.deepEqual([hosts.files, texts()], [['one'], [TEXT]]);
  });

  it('do not show again what an earlier run was about to remove when it was killed', () => {
    new HostsFolder(folder).show(new Map([['one', TEXT]]));
    for (const part of hostsFolders(folder)) rmSync(join(part, 'one'), { force: true });
    const hosts = new HostsFolder(folder);
    assert.deepEqual([hosts.files, texts()], [[], []]);
    hosts.show(new Map([['one', TEXT]]));
    assert.deepEqual(texts(), [TEXT]);
  });
});
