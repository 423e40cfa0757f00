import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Pod } from '../../api/core/pod.ts';
import { type Opinion, Opinions } from './opinions.ts';

const pod = (name: string, labels: Record<string, string> = {}): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod', spec: { containers: [] } },
  metadata: {
    ...{ name, namespace: 'default', uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    labels,
  },
});

const opinion = fc.record({ app: fc.constantFrom('web', 'db'), weight: fc.integer({ min: -3, max: 3 }) });
const tenants = fc.array(
  fc.record({
    nodeName: fc.constantFrom('a', 'b'),
    opinions: fc.array(opinion, { maxLength: 3 }).map((all) =>
      all
        .filter(({ weight }) => weight !== 0)
        .map(({ app, weight }): Opinion => {
          return { term: { topologyKey: 'zone', labelSelector: { matchLabels: { app } } }, weight };
        }),
    ),
    stays: fc.boolean(),
  }),
  { maxLength: 12 },
);

const thoughtsOf = (opinions: Opinions): Record<string, unknown> =>
  Object.fromEntries(
    ['web', 'db'].map((app) => [
      app,
      opinions.of(pod(app, { app })).map(({ perNode }) => [...perNode].sort(([a], [b]) => a.localeCompare(b))),
    ]),
  );

test('those who have gone are forgotten, and nobody else', () => {
  fc.assert(
    fc.property(tenants, (all) => {
      const [lived, fresh] = [new Opinions(() => []), new Opinions(() => [])];
      for (const [i, { nodeName, opinions }] of all.entries()) lived.add(pod(`${i}`), nodeName, opinions);
      for (const [i, { nodeName, opinions, stays }] of all.entries()) {
        if (stays) fresh.add(pod(`${i}`), nodeName, opinions);
        else lived.remove(pod(`${i}`), nodeName, opinions);
      }
      assert.deepEqual(thoughtsOf(lived), thoughtsOf(fresh));
    }),
  );
});
