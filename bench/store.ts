/**
 * What the object store costs: durable writes against a bare append with fdatasync on the same disk in the same run, and
 * one more write among few and many objects. Run by `node bench/store.ts`.
 */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Store } from '../src/engine/store/store.ts';

const object = (revision: number) =>
  Buffer.from(JSON.stringify({ metadata: { resourceVersion: String(revision) }, filler: 'x'.repeat(980) }));

const directory = await mkdtemp(join(tmpdir(), 'netloom-bench-'));
try {
  await durableWrites();
  await oneMore();
  await opening();
} finally {
  await rm(directory, { recursive: true });
}

async function durableWrites(): Promise<void> {
  console.log('durable writes of 1 KiB; ratio to a bare append + fdatasync loop, measured before and after each');
  const store = await Store.open({ directory: join(directory, 'writes'), holder: 'bench', log: console.error });
  for (const writers of [1, 16, 256]) {
    const before = await bareRate();
    const rate = await putRate(store, writers);
    const bare = (before + (await bareRate())) / 2;
    const figures = `${rate.toFixed(0).padStart(7)} puts/s  bare ${bare.toFixed(0).padStart(6)}/s`;
    console.log(`${String(writers).padStart(5)} writers ${figures}  ratio ${(rate / bare).toFixed(2)}`);
  }
  await store.close();
}

async function putRate(store: Store, writers: number): Promise<number> {
  const until = performance.now() + 1500;
  let puts = 0;
  const begin = performance.now();
  const writer = async (_: unknown, index: number) => {
    const key = { resource: 'things', namespace: `of-${writers}`, name: `thing-${index}` };
    for (let expected = 0; performance.now() < until; puts++) {
      expected = (await store.put({ ...key, expected, encode: object })).revision;
    }
  };
  await Promise.all(Array.from({ length: writers }, writer));
  return (puts * 1000) / (performance.now() - begin);
}

async function bareRate(): Promise<number> {
  const file = await open(join(directory, 'bare'), 'w');
  const bytes = object(1);
  const until = performance.now() + 750;
  const begin = performance.now();
  let appends = 0;
  for (; performance.now() < until; appends++) {
    await file.write(bytes, 0, bytes.length, appends * bytes.length);
    await file.datasync();
  }
  const rate = (appends * 1000) / (performance.now() - begin);
  await file.close();
  return rate;
}

/** The disk would hide it, so a thousand writes share a sync. */
async function oneMore(): Promise<void> {
  console.log('\none more put among many (a thousand at a time), a get, and a list of 500 behind the middle');
  const store = await Store.open({ directory: join(directory, 'many'), holder: 'bench', log: console.error });
  let filled = 0;
  const watch = store.watch({ resource: 'things', after: 0 }, () => undefined);
  const add = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () => {
        // Scattered, so that keys do not simply arrive in order.
        const name = `thing-${((filled++ * 7919) % 1_000_003).toString().padStart(7, '0')}`;
        return store.put({ resource: 'things', namespace: 'default', name, expected: 0, encode: object });
      }),
    );
  for (const objects of [100, 10_000, 100_000]) {
    while (filled < objects) await add(Math.min(1000, objects - filled));
    const put = await microseconds(5, async () => void (await add(1000)));
    const name = `thing-${((50 * 7919) % 1_000_003).toString().padStart(7, '0')}`;
    const get = await microseconds(20, () => {
      for (let i = 0; i < 1000; i++) store.get('things', 'default', name);
    });
    const after = { namespace: 'default', name: 'thing-0500000' };
    const list = await microseconds(20, () => void store.list({ resource: 'things', after, limit: 500 }));
    const figures = `put ${(put / 1000).toFixed(1)} µs  get ${(get / 1000).toFixed(2)} µs  list ${list.toFixed(1)} µs`;
    console.log(`${String(objects).padStart(7)} objects  ${figures}`);
  }
  watch.close();
  await store.close();
}

async function microseconds(times: number, work: () => void | Promise<void>): Promise<number> {
  const samples: number[] = [];
  for (let i = 0; i < times; i++) {
    const begin = performance.now();
    await work();
    samples.push((performance.now() - begin) * 1000);
  }
  return samples.sort((a, b) => a - b)[Math.floor(times / 2)] ?? 0;
}

async function opening(): Promise<void> {
  const begin = performance.now();
  const store = await Store.open({ directory: join(directory, 'many'), holder: 'bench', log: console.error });
  const took = performance.now() - begin;
  console.log(`\nopening with ${store.count('things')} objects: ${took.toFixed(0)} ms`);
  await store.close();
}
