import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Port, port } from '../../test/simulation/world.ts';
import { index, ObjectCache } from './cache.ts';

const byNet = index(Port, ({ spec }) => [spec.net]);
/** Several keys, the same one twice, or none. */
const byParts = index(Port, ({ spec }) => spec.net.split(''));

const portOf = (name: string, net: string, namespace = 'default'): Port => ({
  apiVersion: 'sim.netloom.test/v1',
  kind: 'Port',
  metadata: { name, namespace, uid: name, resourceVersion: '1', creationTimestamp: '' },
  spec: port(name, net).spec,
});

describe('a cache', () => {
  it('finds by index what a walk over all objects finds, after whatever changes', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const net = fc.constantFrom('x', 'y', 'xy', 'xx', '');
    const step = fc.tuple(name, fc.option(net, { nil: undefined }), fc.constantFrom('n1', 'n2'));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.nat(60), (steps, firstUse) => {
        const cache = new ObjectCache<Port>();
        const model = new Map<string, Port>();
        steps.forEach(([name, net, namespace], i) => {
          const key = `${namespace}/${name}`;
          if (net === undefined) {
            cache.delete(key);
            model.delete(key);
          } else {
            const object = portOf(name, net, namespace);
            cache.set(object);
            model.set(key, object);
          }
          if (i < firstUse) return;
          const all = [...model.values()];
          for (const wanted of ['x', 'y', 'xy', 'xx', '']) {
            assert.deepEqual(new Set(cache.by(byNet, wanted)), new Set(all.filter(({ spec }) => spec.net === wanted)));
          }
          for (const wanted of ['x', 'y']) {
            const found = cache.by(byParts, wanted);
            assert.equal(found.length, new Set(found).size);
            assert.deepEqual(new Set(found), new Set(all.filter(({ spec }) => spec.net.includes(wanted))));
          }
          const here = all.filter(({ metadata }) => metadata.namespace === namespace);
          assert.deepEqual(new Set(cache.list(namespace)), new Set(here));
          assert.equal(cache.size, model.size);
        });
      }),
    );
  });

  it('takes a change among 100 000 objects as one among ten', () => {
    const cost = (count: number): number => {
      const cache = new ObjectCache<Port>();
      for (let i = 0; i < count; i += 1) cache.set(portOf(`p${i}`, `n${i % 10}`));
      cache.by(byNet, 'n1');
      const began = performance.now();
      for (let i = 0; i < 2_000; i += 1) cache.set(portOf(`p${i % count}`, `n${(i + 1) % 10}`));
      return performance.now() - began;
    };
    cost(10);
    const few = cost(10);
    const many = cost(100_000);
    assert.ok(many < 10 * few + 50, `2 000 changes took ${few} ms among 10 and ${many} ms among 100 000`);
  });
});
