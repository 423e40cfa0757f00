import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Net, net, world } from '../../test/simulation/world.ts';
import { builtinKind } from '../api/kind.ts';
import { ApiError } from '../api/status.ts';
import { Client, isConflict, isExpired } from './client.ts';
import type { ApiRequest, ApiResponse, Transport } from './transport.ts';

const inDefault = (name: string) => ({ namespace: 'default', name });
const missing = builtinKind('other.test', 'v1', 'Missing', 'missings');

/** A server that is asked and answers by script. */
function scripted(answer: (request: ApiRequest) => Partial<ApiResponse>) {
  const requests: ApiRequest[] = [];
  const transport: Transport = {
    request: async (request) => {
      requests.push(request);
      return { status: 200, body: {}, warnings: [], ...answer(request) };
    },
    async *stream() {},
  };
  return { transport, requests };
}

describe('the client', () => {
  it('gets undefined for what is not there, be it the object or the kind', async () => {
    const { client } = world();
    assert.equal(await client.get(Net, 'a', 'default'), undefined);
    assert.equal(await client.get(missing, 'a', 'default'), undefined);
  });

  it('throws what the server refuses, with its code and reason', async () => {
    const { client } = world();
    await client.create(Net, net('a'));
    await assert.rejects(
      client.create(Net, net('a')),
      (error) => error instanceof ApiError && error.reason === 'AlreadyExists',
    );
    await assert.rejects(client.list(missing), (error) => error instanceof ApiError && error.code === 404);
  });

  it('lets the server make up a name', async () => {
    const { client } = world();
    const { spec } = net('a');
    const { metadata } = await client.create(Net, { metadata: { generateName: 'n-', namespace: 'default' }, spec });
    assert.match(metadata.name, /^n-.{5}$/);
  });

  it('lists one namespace or all of them', async () => {
    const { client } = world();
    await client.create(Net, net('a'));
    await client.create(Net, { metadata: { name: 'b', namespace: 'other' }, spec: { size: 1 } });
    assert.deepEqual(
      (await client.list(Net)).map(({ metadata }) => metadata.name),
      ['a', 'b'],
    );
    assert.deepEqual(
      (await client.list(Net, 'other')).map(({ metadata }) => metadata.name),
      ['b'],
    );
  });

  it('lists in pages, and starts over when the server has forgotten the version of the first one', async () => {
    let forgotten = 1;
    const { transport, requests } = scripted(({ path }) => {
      const item = (name: string) => ({ metadata: { name, resourceVersion: '1' } });
      if (!path.includes('continue'))
        return { body: { metadata: { continue: 'c/1', resourceVersion: '7' }, items: [item('a')] } };
      forgotten -= 1;
      if (forgotten === 0) return { status: 410, body: { reason: 'Expired', code: 410 } };
      return { body: { metadata: { resourceVersion: '8' }, items: [item('b')] } };
    });
    const { items, resourceVersion } = await new Client({ transport, fieldManager: 'test' }).snapshot(Net, {});
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['a', 'b'],
    );
    assert.equal(resourceVersion, '8');
    assert.deepEqual(
      requests.map(({ path }) => path.split('?')[1]),
      ['limit=500', 'limit=500&continue=c%2F1', 'limit=500', 'limit=500&continue=c%2F1'],
    );
  });

  it('asks for everything at once when the pages run out again and again', async () => {
    const { transport, requests } = scripted(({ path }) => {
      if (path.includes('continue')) return { status: 410, body: {} };
      const more = path.includes('limit') ? { continue: 'c' } : {};
      return { body: { metadata: { ...more, resourceVersion: '7' }, items: [] } };
    });
    await new Client({ transport, fieldManager: 'test' }).snapshot(Net, {});
    assert.equal(requests.at(-1)?.path, '/apis/sim.netloom.test/v1/nets');
    assert.equal(requests.length, 7);
  });

  it('fills in what lists of built-in kinds leave out', async () => {
    const { transport } = scripted(() => ({ body: { items: [{ metadata: { name: 'a', resourceVersion: '1' } }] } }));
    const [item] = await new Client({ transport, fieldManager: 'test' }).list(Net);
    assert.deepEqual([item?.apiVersion, item?.kind], ['sim.netloom.test/v1', 'Net']);
  });

  it('applies only the fields it is given, and takes over a field only by force', async () => {
    const { client, api } = world();
    await client.create(Net, net('a', { size: 1 }));
    const other = new Client({ transport: api.transport(), fieldManager: 'other' });
    const applied = await other.apply(Net, { metadata: inDefault('a'), spec: { pool: 'p' } });
    assert.deepEqual(applied.spec, { size: 1, pool: 'p' });
    await assert.rejects(other.apply(Net, { metadata: inDefault('a'), spec: { size: 2 } }), isConflict);
    assert.equal(
      (await other.apply(Net, { metadata: inDefault('a'), spec: { size: 2 } }, { force: true })).spec.size,
      2,
    );
    assert.deepEqual((await other.applyStatus(Net, inDefault('a'), { state: 'up' })).status, { state: 'up' });
  });

  it('patches by merge or by steps', async () => {
    const { client } = world();
    await client.create(Net, net('a', { size: 1, pool: 'p' }));
    assert.deepEqual((await client.patch(Net, inDefault('a'), { merge: { spec: { pool: null } } })).spec, { size: 1 });
    const json = [
      { op: 'test', path: '/spec/size', value: 1 },
      { op: 'replace', path: '/spec/size', value: 5 },
    ];
    assert.equal((await client.patch(Net, inDefault('a'), { json })).spec.size, 5);
    await assert.rejects(
      client.patch(Net, inDefault('a'), { json }),
      (error) => error instanceof ApiError && error.code === 422,
    );
  });

  it('deletes only what it means to delete, and tells whether there was anything', async () => {
    const { client } = world();
    await client.create(Net, net('a'));
    await assert.rejects(client.delete(Net, inDefault('a'), { uid: 'another' }), isConflict);
    assert.equal(await client.delete(Net, inDefault('a')), true);
    assert.equal(await client.delete(Net, inDefault('a')), false);
  });

  it('watches from a version on, and throws when the server has forgotten it', async () => {
    const { client, api, clock } = world();
    const first = await client.create(Net, net('a'));
    const events = client.watch(Net, {}, { resourceVersion: first.metadata.resourceVersion, timeoutSeconds: 100 });
    const next = events.next();
    await client.delete(Net, inDefault('a'));
    const { value } = await clock.run(next);
    assert.equal(value?.type, 'DELETED');
    await events.return();
    api.store.compact();
    const old = client.watch(Net, {}, { resourceVersion: '2', timeoutSeconds: 100 });
    await assert.rejects(clock.run(old.next()), isExpired);
  });

  it('hands on the warnings of the server', async () => {
    const heard: string[] = [];
    const { transport } = scripted(() => ({
      warnings: ['old'],
      body: { metadata: { name: 'a', resourceVersion: '1' } },
    }));
    const warned = (warning: string, request: string): void => void heard.push(`${warning}: ${request.slice(0, 10)}`);
    await new Client({ transport, fieldManager: 'test', warned }).get(Net, 'a', 'default');
    assert.deepEqual(heard, ['old: GET /apis/']);
  });

  it('asks for nothing any more after its signal', async () => {
    const { api } = world();
    const signal = AbortSignal.abort(new Error('stopped'));
    const client = new Client({ transport: api.transport(), fieldManager: 'test', signal });
    await assert.rejects(client.create(Net, net('a')), /stopped/);
    assert.deepEqual(api.objects(Net), []);
  });
});
