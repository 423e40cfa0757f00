import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { HostsLine } from '../hosts-file.ts';
import { ServedHosts } from './served-hosts.ts';

const line = (address: string, ...names: string[]): HostsLine => ({ address, names });

/** What somebody has who follows the changes: file → text. */
class Follower {
  readonly files = new Map<number, string>();
  readonly hosts = new ServedHosts();

  /** Returns the files that have changed, and whether something has gone from one into another. */
  put(source: string, ...lines: HostsLine[]): { files: number[]; isTorn: boolean } {
    this.hosts.put(source, lines);
    const { texts, isTorn } = this.hosts.take();
    for (const [file, text] of texts) this.files.set(file, text);
    return { files: [...texts.keys()], isTorn };
  }

  get lines(): string[] {
    return [...this.files.values()].flatMap((text) => text.split('\n').filter((each) => each !== '')).sort();
  }

  fileWith(words: string): number[] {
    return [...this.files].filter(([, text]) => text.includes(words)).map(([file]) => file);
  }
}

describe('served hosts', () => {
  it('are what all sources say, an address and a name each in one file only', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'B');
    const host = fc.record({
      address: fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'),
      names: fc.array(name, { minLength: 1, maxLength: 3 }),
    });
    const step = fc.record({ source: fc.constantFrom('x', 'y', 'z'), lines: fc.array(host, { maxLength: 4 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const follower = new Follower();
        const said = new Map<string, HostsLine[]>();
        for (const { source, lines } of steps) {
          said.set(source, lines);
          follower.put(source, ...lines);
          const pairs = (all: readonly HostsLine[]) =>
            new Set(all.flatMap(({ address, names }) => names.map((each) => `${address} ${each.toLowerCase()}`)));
          const served = follower.lines
            .map((text) => text.split(' '))
            .map(([address = '', ...names]) => line(address, ...names));
          assert.deepEqual([...pairs(served)].sort(), [...pairs([...said.values()].flat())].sort());
          assert.equal(new Set(served.map(({ address }) => address)).size, served.length);
          for (const each of 'abcde') {
            const holders = [...follower.files.values()].filter((text) => new RegExp(` ${each}( |$)`, 'im').test(text));
            assert.ok(holders.length <= 1, `${each} is in ${holders.length} files`);
          }
          assert.equal(follower.hosts.size, [...pairs(served)].length);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('are one changed file when a name gets another address, however many there are', () => {
    const follower = new Follower();
    const many = Array.from({ length: 5_000 }, (_, i) => line(`10.0.${i >> 8}.${i & 255}`, `host-${i}.example.com`));
    follower.put('many', ...many);
    const changed = follower.put('many', ...many.slice(1), line('10.9.9.9', 'host-0.example.com'));
    assert.deepEqual(changed, { files: follower.fileWith('10.9.9.9 host-0.example.com'), isTorn: false });
    assert.equal(follower.lines.length, 5_000);
    assert.ok([...follower.files.values()].every((text) => text.split('\n').length < 60));
  });

  it('are spread over more files when there are many more, all in one moment', () => {
    const follower = new Follower();
    const part = (n: number): HostsLine[] =>
      Array.from({ length: 4_000 }, (_, i) => line(`10.${n}.${i >> 8}.${i & 255}`, `host-${i}.part-${n}.example.com`));
    const torn = [0, 1, 2, 3].map((n) => follower.put(`part-${n}`, ...part(n)).isTorn);
    assert.ok(torn.includes(true));
    assert.equal(follower.lines.length, 16_000);
    assert.ok([...follower.files.values()].every((text) => text.split('\n').length < 60));
  });

  it('stay when one of two sources that say the same says it no longer', () => {
    const follower = new Follower();
    follower.put('one', line('10.0.0.1', 'a', 'b'));
    follower.put('two', line('10.0.0.1', 'a'));
    follower.put('one');
    assert.deepEqual(follower.lines, ['10.0.0.1 a']);
    follower.put('two');
    assert.deepEqual(follower.lines, []);
  });

  it('are asked for backwards with the first name of the first source', () => {
    const follower = new Follower();
    follower.put('two', line('10.0.0.1', 'a'));
    follower.put('one', line('10.0.0.1', 'z', 'y'));
    assert.deepEqual(follower.lines, ['10.0.0.1 z y a']);
  });

  it('are torn when two that were apart come together, and not when they part', () => {
    const follower = new Follower();
    follower.put('one', line('10.0.0.1', 'a'), line('10.0.0.2', 'b'));
    assert.notDeepEqual(follower.fileWith(' a\n'), follower.fileWith(' b\n'));
    assert.equal(follower.put('one', line('10.0.0.1', 'a', 'b')).isTorn, true);
    assert.equal(follower.put('one', line('10.0.0.1', 'a'), line('10.0.0.2', 'b')).isTorn, false);
  });

  it('that could not be written are taken again, all at once', () => {
    const { hosts } = new Follower();
    hosts.put('one', [line('10.0.0.1', 'a')]);
    const changes = hosts.take();
    assert.equal(hosts.hasChanges, false);
    hosts.putBack(changes);
    assert.deepEqual(hosts.take(), { ...changes, isTorn: true });
  });
});
