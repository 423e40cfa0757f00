import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type World, world } from '../../../test/simulation/world.ts';
import { ConfigMap } from '../../api/core/config.ts';
import { completeFile, hostsFolders } from './hosts-folder.ts';
import { keepHosts } from './hosts-helper.ts';

const NAMESPACE = 'openstack';

describe('the helper beside dnsmasq', () => {
  let folder: string;
  let sim: World;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'netloom-helper-'));
    sim = world({ kinds: [ConfigMap], level: 'error' });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const keep = () =>
    keepHosts({
      ...{ client: sim.clientWith({}), system: sim.clock, log: sim.log },
      namespace: NAMESPACE,
      selector: 'dnsmasqhosts=dnsdata',
      folder,
    });

  const write = (name: string, content: Pick<ConfigMap, 'data' | 'binaryData'>, labels = { dnsmasqhosts: 'dnsdata' }) =>
    sim.client.apply(ConfigMap, { metadata: { name, namespace: NAMESPACE, labels }, ...content }, { force: true });

  /** What dnsmasq finds. */
  const lines = (): string[] =>
    hostsFolders(folder)
      .flatMap((part) => readdirSync(part).map((file) => readFileSync(join(part, file), 'utf8')))
      .flatMap((text) => text.split('\n').filter((line) => line !== ''))
      .sort();

  it('says that hosts are there when all of them are, and follows them from then on', async () => {
    await write('one', { data: { a: '10.0.0.1 a\n', b: '10.0.0.2 b\n' } });
    await write('others', { data: { a: '10.9.9.9 other\n' } }, { dnsmasqhosts: 'other' });
    sim.api.stop();
    const keeping = keep();
    await sim.clock.advance(5_000);
    assert.throws(() => readFileSync(completeFile(folder)), { code: 'ENOENT' });
    sim.api.start();
    const stop = await sim.clock.run(keeping);
    readFileSync(completeFile(folder));
    assert.deepEqual(lines(), ['10.0.0.1 a', '10.0.0.2 b']);
    await write('one', { data: { b: '10.0.0.3 b\n' } });
    await sim.clock.advance(100);
    assert.deepEqual(lines(), ['10.0.0.3 b']);
    await sim.clock.run(stop());
  });

  it('keeps hosts as they are while the API is away, however long, and has the news a second after', async () => {
    await write('one', { data: { a: '10.0.0.1 a\n' } });
    const stop = await sim.clock.run(keep());
    for (const forget of [false, true]) {
      sim.api.stop();
      const before = lines();
      await sim.clock.advance(10 * 60_000);
      assert.deepEqual(lines(), before);
      sim.api.start({ forget });
      await write('one', { data: { a: `10.0.0.${forget ? 3 : 2} a\n` } });
      await sim.clock.advance(1_500);
      assert.deepEqual(lines(), [`10.0.0.${forget ? 3 : 2} a`]);
    }
    await sim.clock.run(stop());
  });

  it('starts with what it left behind, and removes what has gone meanwhile when it can know', async () => {
    await write('one', { data: { a: '10.0.0.1 a\n', b: '10.0.0.2 b\n' } });
    await (await sim.clock.run(keep()))();
    await write('one', { data: { b: '10.0.0.2 b\n' } });
    sim.api.stop();
    const keeping = keep();
    await sim.clock.advance(60_000);
    assert.deepEqual(lines(), ['10.0.0.1 a', '10.0.0.2 b']);
    sim.api.start();
    const stop = await sim.clock.run(keeping);
    assert.deepEqual(lines(), ['10.0.0.2 b']);
    await sim.clock.run(stop());
  });

  it('reads text that kubectl has taken for bytes, and stumbles over nothing', async () => {
    const bytes = Buffer.from([...Buffer.from('10.0.0.1 a # caf'), 0xe9, ...Buffer.from('\n10.0.0.2 b\n../../x y\n')]);
    await write('Binary.and..odd', {
      binaryData: { '..data': bytes.toString('base64') },
      data: { '-': '\u0000\n10.0.0.3 c\r\n' },
    });
    const stop = await sim.clock.run(keep());
    assert.deepEqual(lines(), ['10.0.0.1 a', '10.0.0.2 b', '10.0.0.3 c']);
    await sim.clock.run(stop());
  });
});
