import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HostsFolder } from '../../src/dns/helper/hosts-folder.ts';
import { ServedHosts } from '../../src/dns/helper/served-hosts.ts';
import type { HostsLine } from '../../src/dns/hosts-file.ts';
import { SeededChance } from '../../src/runtime/seeded-chance.ts';
import { DnsmasqInTest } from './dnsmasq-in-test.ts';
import { eventually } from './engine-in-test.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'].map((each) => `${each}.example.com`);
const ADDRESSES = Array.from({ length: 6 }, (_, i) => `10.0.0.${i + 1}`);
const SOURCES = ['one', 'two', 'three'];

describe('a folder of hosts, with a real dnsmasq that looks into it', () => {
  let dnsmasq: DnsmasqInTest;
  before(async () => {
    dnsmasq = await DnsmasqInTest.prepare();
  });
  after(() => dnsmasq.stop());

  test('whatever sources say after one another, all names and addresses are answered as they say now', async () => {
    const chance = new SeededChance(7);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(chance.random() * from.length)] ?? assert.fail();
    const hosts = new ServedHosts();
    const folder = new HostsFolder(dnsmasq.folder);
    dnsmasq.start({ replicas: 1, dnsDataLabelSelectorValue: 'dnsdata' });
    const said = new Map<string, HostsLine[]>();
    for (let step = 0; step < 150; step += 1) {
      const lines = Array.from({ length: Math.floor(chance.random() * 4) }, () => ({
        address: pick(ADDRESSES),
        names: Array.from({ length: 1 + Math.floor(chance.random() * 2) }, () => pick(NAMES)),
      }));
      const source = pick(SOURCES);
      said.set(source, lines);
      hosts.put(source, lines);
      const { texts, isTorn } = hosts.take();
      const files = new Map([...texts].map(([file, text]) => [String(file), text]));
      const canary = `10.1.${step >> 8}.${step & 255}`;
      // In another file than all others, and the last one to be read.
      if (isTorn) folder.showTogether(files.set('canary', `${canary} canary.example.com\n`));
      else for (const each of [files, new Map([['canary', `${canary} canary.example.com\n`]])]) folder.show(each);
      await eventually(
        () => dnsmasq.answer('canary.example.com'),
        (found) => found === canary,
      );
      await asSaid([...said.values()].flat(), step);
    }
    // And nobody else is asked, for all the name servers that it was told of meanwhile.
    assert.equal(await dnsmasq.answer('nobody.example.org'), 'EREFUSED');
  });

  async function asSaid(lines: readonly HostsLine[], step: number): Promise<void> {
    for (const name of NAMES) {
      const wanted = new Set(lines.filter(({ names }) => names.includes(name)).map(({ address }) => address));
      const found = await dnsmasq.answer(name);
      assert.equal(found.startsWith('E') ? '' : found, [...wanted].sort().join(' '), `${name} at step ${step}`);
    }
    for (const address of ADDRESSES) {
      const wanted = lines.filter((line) => line.address === address).flatMap(({ names }) => names);
      const found = await dnsmasq.reverse(address);
      const isRight = wanted.length === 0 ? found.startsWith('E') : wanted.includes(found);
      assert.ok(isRight, `${address} is ${found} at step ${step}, and should be one of ${wanted.join(', ') || 'none'}`);
    }
  }
});
