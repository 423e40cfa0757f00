import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { Volume } from '../../../api/core/pod.ts';
import { needsRoot } from '../../../linux/network.fixture.ts';
import { configMapWith, podWith, secretWith, sourceFor } from '../pod.fixture.ts';
import { type Payload, payloadOf } from './payload.ts';
import { writePayload } from './payload-folder.ts';
import { VolumeFault } from './volume-fault.ts';
import { makeFolderWithin } from './within.ts';

const settings = configMapWith('settings', { data: { mode: 'fast', level: 'debug' }, binaryData: { icon: 'AAEC' } });
const access = secretWith('access', { password: 'hunter2' });

function filesOf(
  volume: Omit<Volume, 'name'>,
  pod = podWith({}, { labels: { b: '2', a: 'say "1"' } }),
): Record<string, string> {
  const source = { ...sourceFor(pod, [settings, access]), tokens: new Map([['token', 'ey.J']]), tokenMode: 0o600 };
  return shown(payloadOf(source, { name: 'it', ...volume }));
}

const shown = (payload: Payload): Record<string, string> =>
  Object.fromEntries(
    [...payload].map(([name, { data, mode }]) => [name, `${data.toString('latin1')} ${mode.toString(8)}`]),
  );

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'netloom-volume-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('what is in a volume', () => {
  test('is all that the object has, or what is listed', () => {
    assert.deepEqual(filesOf({ configMap: { name: 'settings' } }), {
      mode: 'fast 644',
      level: 'debug 644',
      icon: '\u0000\u0001\u0002 644',
    });
    const items = [{ key: 'mode', path: 'a/b', mode: 0o400 }];
    assert.deepEqual(filesOf({ configMap: { name: 'settings', items, defaultMode: 0o600 } }), { 'a/b': 'fast 400' });
    assert.deepEqual(filesOf({ secret: { secretName: 'access', defaultMode: 0o440 } }), { password: 'hunter2 440' });
  });

  test('may be made of many things', () => {
    const sources = [
      { configMap: { name: 'settings', items: [{ key: 'mode', path: 'mode' }] } },
      { secret: { name: 'access' } },
      { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
      { serviceAccountToken: { path: 'token' } },
    ];
    assert.deepEqual(filesOf({ projected: { sources } }), {
      mode: 'fast 644',
      password: 'hunter2 644',
      labels: 'a="say \\"1\\""\nb="2" 644',
      token: 'ey.J 600',
    });
  });

  test('must be there, unless it is optional', () => {
    const missing = (volume: Omit<Volume, 'name'>, message: string) =>
      assert.throws(() => filesOf(volume), new VolumeFault(message));
    missing({ configMap: { name: 'nowhere' } }, 'configmap "nowhere" not found');
    missing({ secret: { secretName: 'nowhere' } }, 'secret "nowhere" not found');
    const items = [{ key: 'none', path: 'x' }];
    missing({ configMap: { name: 'settings', items } }, 'references non-existent config key: none');
    assert.deepEqual(filesOf({ configMap: { name: 'nowhere', optional: true } }), {});
    assert.deepEqual(filesOf({ secret: { secretName: 'access', items, optional: true } }), {});
  });

  for (const hostile of [
    '../../etc/cron.d/x',
    '..',
    'a/../../b',
    '..data',
    '..data/x',
    '/etc/passwd',
    'a//b',
    './a',
    '',
  ]) {
    test(`is never at ${JSON.stringify(hostile)}`, () => {
      const items = [{ key: 'mode', path: hostile }];
      assert.throws(() => filesOf({ configMap: { name: 'settings', items } }), VolumeFault);
    });
  }
});

describe('a folder that shows an object', () => {
  const payloadWith = (files: Readonly<Record<string, string>>, mode = 0o644): Payload =>
    new Map(Object.entries(files).map(([name, text]) => [name, { data: Buffer.from(text), mode }]));
  const contents = (folder: string): Record<string, string> =>
    Object.fromEntries(
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => !name.startsWith('..') && !statSync(path.join(folder, name)).isDirectory())
        .map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]),
    );
  /** Links to folders are not entered by `recursive`. */
  const through = (folder: string): Record<string, string> => {
    const data = path.join(folder, '..data');
    return contents(data);
  };

  test('holds exactly what it was told last, through one link', needsRoot, (t) => {
    const folder = temporaryFolder(t);
    const names = fc.constantFrom('a', 'b', 'c/d', 'c/e/f', 'g');
    const payloads = fc.array(fc.dictionary(names, fc.string(), { maxKeys: 4, noNullPrototype: true }), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(payloads, (all) => {
        for (const files of all) {
          writePayload({ folder, payload: payloadWith(files), version: 'v' });
          assert.deepEqual(through(folder), files);
          const tops = new Set(Object.keys(files).map((name) => name.split('/')[0] ?? ''));
          const visible = readdirSync(folder).filter((name) => !name.startsWith('..'));
          assert.deepEqual(visible.sort(), [...tops].sort());
          for (const name of visible) assert.equal(readlinkSync(path.join(folder, name)), `..data/${name}`);
          assert.equal(readdirSync(folder).filter((name) => name.startsWith('..')).length, 2);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('is not touched when nothing is different', needsRoot, (t) => {
    const folder = temporaryFolder(t);
    const payload = payloadWith({ mode: 'fast' });
    assert.equal(writePayload({ folder, payload, version: '1' }), true);
    const link = readlinkSync(path.join(folder, '..data'));
    assert.equal(writePayload({ folder, payload, version: '2' }), false);
    assert.equal(readlinkSync(path.join(folder, '..data')), link);
    assert.equal(writePayload({ folder, payload: payloadWith({ mode: 'fast' }, 0o600), version: '3' }), true);
  });

  test('shows the old version as a whole to whoever has it open', needsRoot, (t) => {
    const folder = temporaryFolder(t);
    writePayload({ folder, payload: payloadWith({ cert: 'old', key: 'old' }), version: '1' });
    const before = path.join(folder, readlinkSync(path.join(folder, '..data')));
    const names = ['cert', 'key'];
    assert.deepEqual(
      names.map((name) => readFileSync(path.join(before, name), 'utf8')),
      ['old', 'old'],
    );
    writePayload({ folder, payload: payloadWith({ cert: 'new', key: 'new' }), version: '2' });
    assert.deepEqual(
      names.map((name) => readFileSync(path.join(folder, name), 'utf8')),
      ['new', 'new'],
    );
    assert.equal(existsSync(before), false);
  });

  test('is whole again after a crash in the middle', needsRoot, (t) => {
    const folder = temporaryFolder(t);
    writePayload({ folder, payload: payloadWith({ mode: 'fast' }), version: '1' });
    mkdirSync(path.join(folder, '..2.0'));
    symlinkSync('..2.0', path.join(folder, '..data_tmp'));
    rmSync(path.join(folder, 'mode'));
    writePayload({ folder, payload: payloadWith({ mode: 'fast' }), version: '3' });
    assert.equal(readFileSync(path.join(folder, 'mode'), 'utf8'), 'fast');
    assert.equal(readdirSync(folder).length, 3);
  });

  test('is readable to the group of the pod', needsRoot, (t) => {
    const folder = temporaryFolder(t);
    writePayload({ folder, payload: payloadWith({ 'a/key': 'x' }, 0o400), group: 2_000, version: '1' });
    const modeOf = (name: string) => (statSync(path.join(folder, name)).mode & 0o7777).toString(8);
    assert.deepEqual([modeOf('.'), modeOf('..data/a'), modeOf('a/key')], ['2755', '2755', '440']);
    assert.equal(statSync(path.join(folder, 'a/key')).gid, 2_000);
  });
});

describe('a folder in a volume that containers write', () => {
  test('is made where the path says', (t) => {
    const folder = temporaryFolder(t);
    makeFolderWithin(folder, 'a/b/c', 0o750);
    assert.equal(lstatSync(path.join(folder, 'a/b/c')).isDirectory(), true);
  });

  test('is not made through links, wherever they lead', (t) => {
    const [folder, outside] = [temporaryFolder(t), temporaryFolder(t)];
    symlinkSync(outside, path.join(folder, 'out'));
    symlinkSync('../../../../../../..', path.join(folder, 'up'));
    mkdirSync(path.join(folder, 'in'));
    symlinkSync(outside, path.join(folder, 'in/out'));
    for (const hostile of ['out/new', 'up/new', 'in/out/new']) makeFolderWithin(folder, hostile, 0o750);
    assert.deepEqual(readdirSync(outside), []);
    assert.equal(existsSync('/new'), false);
    assert.throws(() => makeFolderWithin(folder, '../new', 0o750), /leads out of the volume/);
    writeFileSync(path.join(folder, 'file'), '');
    makeFolderWithin(folder, 'file/new', 0o750);
    assert.equal(lstatSync(path.join(folder, 'file')).isFile(), true);
  });
});
