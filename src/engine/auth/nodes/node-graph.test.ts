import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../api/json.ts';
import { NodeGraph } from './node-graph.ts';

const names = ['a', 'b', 'c'];
const nodes = ['h1', 'h2', ''];
const some = fc.subarray(names);
const podShape = fc.record({
  nodeName: fc.constantFrom(...nodes),
  secrets: some,
  configMaps: some,
  account: fc.constantFrom(...names, ''),
  isMirror: fc.boolean(),
});
type Shape = ReturnType<typeof podShape.generate>['value'];

const podOf = ({ nodeName, secrets, configMaps, account, isMirror }: Shape): JsonObject => ({
  metadata: isMirror ? { annotations: { 'kubernetes.io/config.mirror': '' } } : {},
  spec: {
    nodeName,
    serviceAccountName: account,
    volumes: secrets.map((secretName) => ({ name: secretName, secret: { secretName } })),
    containers: [{ name: 'c', envFrom: configMaps.map((name) => ({ configMapRef: { name } })) }],
  },
});

describe('what the pods of a node have to do with', () => {
  it('is what those that are there now name, however they came and went', () => {
    const change = fc.record({ pod: fc.constantFrom('p', 'q', 'r'), shape: fc.option(podShape) });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const graph = new NodeGraph();
        const there = new Map<string, Shape>();
        for (const { pod, shape } of changes) {
          graph.setPod('n', pod, shape === null ? undefined : podOf(shape));
          if (shape === null) there.delete(pod);
          else there.set(pod, shape);
        }
        const on = (node: string) => [...there].filter(([, shape]) => shape.nodeName === node);
        for (const node of ['h1', 'h2']) {
          const real = on(node).flatMap(([, shape]) => (shape.isMirror ? [] : [shape]));
          for (const name of names) {
            const relates = (kind: Parameters<NodeGraph['relates']>[1]) => graph.relates(node, kind, 'n', name);
            assert.equal(
              relates('secrets'),
              real.some(({ secrets }) => secrets.includes(name)),
            );
            assert.equal(
              relates('configmaps'),
              real.some(({ configMaps }) => configMaps.includes(name)),
            );
            assert.equal(
              relates('serviceaccounts'),
              real.some(({ account }) => account === name),
            );
            assert.equal(graph.relates(node, 'secrets', 'other', name), false);
          }
          for (const pod of ['p', 'q', 'r']) {
            assert.equal(
              graph.relates(node, 'pods', 'n', pod),
              on(node).some(([name]) => name === pod),
            );
          }
        }
      }),
    );
  });
});
