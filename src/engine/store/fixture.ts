/** What the tests of this folder share. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Store, type StoreLimits } from './store.ts';
import type { StoredEvent, Version } from './version.ts';

export async function temporaryDirectory(t: Pick<TestContext, 'after'>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'netloom-store-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

export interface OpenStore {
  readonly store: Store;
  readonly directory: string;
  /** What the store said to its log. */
  readonly said: string[];
}

/** Opens a store in a directory of its own, or in the one given, and closes it after the test. */
export async function openStore(
  t: Pick<TestContext, 'after'>,
  { directory, limits = {} }: { directory?: string; limits?: Partial<StoreLimits> } = {},
): Promise<OpenStore> {
  const place = directory ?? (await temporaryDirectory(t));
  const said: string[] = [];
  const store = await Store.open({ directory: place, holder: 'a test', log: (line) => said.push(line), limits });
  t.after(() => store.close());
  return { store, directory: place, said };
}

export function encoding(value: string): (revision: number) => Buffer {
  return (revision) => Buffer.from(JSON.stringify({ revision, value }));
}

/** Stores the value under `namespace/name` in `things`, whatever was there. */
export function set(store: Store, path: string, value: string, resource = 'things'): Promise<Version> {
  const key = { resource, ...split(path) };
  const expected = store.newest(key.resource, key.namespace, key.name)?.revision ?? 0;
  return store.put({ ...key, expected, encode: encoding(value) });
}

export function unset(store: Store, path: string, resource = 'things'): Promise<Version> {
  const key = { resource, ...split(path) };
  const expected = store.newest(key.resource, key.namespace, key.name)?.revision ?? 0;
  return store.remove({ ...key, expected, encode: encoding('the last state') });
}

export function split(path: string): { namespace: string; name: string } {
  const [namespace = '', name = ''] = path.split('/');
  return { namespace, name };
}

export function path({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}`;
}

/** As people would note it down: `ADDED 3 default/web`. */
export function note({ type, revision, current }: StoredEvent): string {
  return `${type} ${revision} ${path(current)}`;
}
