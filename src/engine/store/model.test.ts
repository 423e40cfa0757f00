import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { Compacted } from './errors.ts';
import { path, set, temporaryDirectory, unset } from './fixture.ts';
import { Store } from './store.ts';
import type { StoredEvent, Version } from './version.ts';

const resources = ['things', 'others.example.org'];
const paths = ['a/x', 'a/y', 'a-b/x', 'b/x', '/x'];

const write = fc.record({ resource: fc.constantFrom(...resources), path: fc.constantFrom(...paths) });
const step = fc.oneof(
  { weight: 12, arbitrary: write.map((what) => ({ do: 'write' as const, ...what })) },
  { weight: 4, arbitrary: write.map((what) => ({ do: 'remove' as const, ...what })) },
  { weight: 3, arbitrary: fc.constant({ do: 'settle' as const }) },
  { weight: 2, arbitrary: write.map((what) => ({ do: 'watch' as const, ...what })) },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
);

/** What the store should be: all events ever, nothing else. */
class Model {
  readonly #events: (Pick<StoredEvent, 'type' | 'revision'> & { readonly place: string })[] = [];

  get revision(): number {
    return this.#events.length;
  }

  write(place: string): void {
    this.#add(this.#revisionAt(place, this.revision) === undefined ? 'ADDED' : 'MODIFIED', place);
  }

  remove(place: string): boolean {
    if (this.#revisionAt(place, this.revision) === undefined) return false;
    this.#add('DELETED', place);
    return true;
  }

  list(resource: string, at: number): string[] {
    const sorted = paths.toSorted((a, b) => (a.replace('/', '\0') < b.replace('/', '\0') ? -1 : 1));
    return sorted.flatMap((each) => {
      const revision = this.#revisionAt(`${resource} ${each}`, at);
      return revision === undefined ? [] : `${each} ${revision}`;
    });
  }

  events(resource: string, after: number, namespace?: string): string[] {
    const prefix = namespace === undefined ? `${resource} ` : `${resource} ${namespace}/`;
    return this.#events
      .filter(({ place, revision }) => revision > after && place.startsWith(prefix))
      .map(({ type, revision, place }) => {
        const previous = this.#revisionAt(place, revision - 1);
        return `${type} ${revision} ${place} was ${previous}`;
      });
  }

  #add(type: StoredEvent['type'], place: string): void {
    this.#events.push({ type, revision: this.revision + 1, place });
  }

  #revisionAt(place: string, at: number): number | undefined {
    const last = this.#events.findLast((event) => event.place === place && event.revision <= at);
    return last?.type === 'DELETED' ? undefined : last?.revision;
  }
}

interface Watch {
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly after: number;
  readonly told: string[];
}

test('whatever is written, removed, watched and restarted, the store is what a list of all events says', async (t) => {
  const directory = await temporaryDirectory(t);
  let run = 0;
  const scenario = fc.record({
    steps: fc.array(step, { maxLength: 60, size: 'max' }),
    // So small that history is lost, and snapshots are taken, in the middle.
    historyEvents: fc.constantFrom(3, 15, 1000),
    logBytes: fc.constantFrom(300, 1500, 100_000),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ steps, ...limits }) => {
      const options = { directory: join(directory, String(run++)), holder: 'a test', log: assert.fail, limits };
      const model = new Model();
      let store = await Store.open(options);
      let watches: Watch[] = [];
      let writes: Promise<Version>[] = [];
      const settle = async () => {
        for (const version of await Promise.all(writes))
          assert.equal(JSON.parse(version.bytes.toString()).revision, version.revision);
        writes = [];
        compare(store, model, limits.historyEvents);
        for (const { resource, namespace, after, told } of watches)
          assert.deepEqual(told, model.events(resource, after, namespace));
      };
      for (const each of steps) {
        if (each.do === 'write') {
          model.write(`${each.resource} ${each.path}`);
          writes.push(set(store, each.path, 'value', each.resource));
        } else if (each.do === 'remove') {
          if (model.remove(`${each.resource} ${each.path}`)) writes.push(unset(store, each.path, each.resource));
        } else if (each.do === 'watch') {
          // Half of the watches see only a namespace.
          const namespace = each.path.startsWith('a') ? 'a' : undefined;
          watches.push(watch(store, { resource: each.resource, namespace, after: store.revision, told: [] }));
        } else {
          await settle();
          if (each.do === 'settle') continue;
          await store.close();
          store = await Store.open(options);
          watches = [];
        }
      }
      await settle();
      await store.close();
    }),
    { numRuns: 40 },
  );
});

function watch(store: Store, { resource, namespace, after, told }: Watch): Watch {
  store.watch({ resource, namespace, after }, (events) => {
    for (const { type, revision, current, previous } of events) {
      told.push(`${type} ${revision} ${current.resource} ${path(current)} was ${previous?.revision}`);
    }
  });
  return { resource, namespace, after, told };
}

function compare(store: Store, model: Model, historyEvents: number): void {
  assert.equal(store.revision, model.revision);
  for (const resource of resources) {
    const now = model.list(resource, model.revision);
    assert.deepEqual(lines(store.list({ resource }).versions), now);
    assert.equal(store.count(resource), now.length);
    let reached = true;
    for (let at = model.revision; at >= 0; at--) {
      const past = orCompacted(() => store.list({ resource, at }));
      const told: string[] = [];
      const watching = orCompacted(() => watch(store, { resource, namespace: undefined, after: at, told }));
      assert.equal(past === undefined, watching === undefined);
      if (past === undefined) {
        assert.ok(store.revision > historyEvents || at < store.revision, 'history may only be lost at its old end');
        reached = false;
        continue;
      }
      assert.ok(reached, 'once history is lost, nothing before it is there');
      assert.deepEqual(told, model.events(resource, at));
      const then = model.list(resource, at);
      assert.deepEqual(lines(past.versions), then);
      assert.deepEqual(pages(store, resource, at), then);
    }
  }
}

function pages(store: Store, resource: string, at: number): string[] {
  const found: string[] = [];
  for (let after: Version | undefined; ; ) {
    const { versions, remaining } = store.list({ resource, at, after, limit: 2 });
    found.push(...lines(versions));
    if (remaining === 0) return found;
    after = versions.at(-1);
  }
}

function lines(versions: readonly Version[]): string[] {
  return versions.map((version) => `${path(version)} ${version.revision}`);
}

function orCompacted<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    assert.ok(error instanceof Compacted);
    return undefined;
  }
}
