import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Node } from '../../api/core/node.ts';
import type { Container, Pod, PodSpec } from '../../api/core/pod.ts';
import { choose } from './choose.ts';
import { Cluster } from './cluster.ts';
import { NodeSpace, tenant } from './node-space.ts';
import { refusalBy } from './refusal.ts';

const metadata = (name: string) => ({
  ...{ name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
});

const node = (allocatable: Record<string, string>): Node => ({
  ...{ apiVersion: 'v1', kind: 'Node', metadata: { ...metadata('a'), labels: { disk: 'ssd' } }, spec: {} },
  status: { allocatable },
});

const pod = (name: string, spec: Partial<PodSpec> = {}): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata(name), namespace: 'default' } },
  spec: { containers: [{ name: 'main' }], ...spec },
});

const asking = (requests: Record<string, string>): Partial<PodSpec> => ({
  containers: [{ name: 'main', resources: { requests } }],
});
const listening = (containerPort: number): Partial<PodSpec> => ({
  hostNetwork: true,
  containers: [{ name: 'main', ports: [{ containerPort }] }],
});

function spaceOf(allocatable: Record<string, string>, there: readonly Pod[] = []): NodeSpace {
  const space = new NodeSpace('a');
  space.node = node(allocatable);
  for (const each of there) space.add(tenant(each, 'a'));
  return space;
}

const PLENTY = { cpu: '4', memory: '8Gi', pods: '10' };

describe('a node that was given a pod past the scheduler', () => {
  for (const [what, spec, there, reason, message] of [
    [
      'processors',
      asking({ cpu: '1500m' }),
      [pod('x', asking({ cpu: '3' }))],
      'OutOfcpu',
      "Node didn't have enough resource: cpu, requested: 1500, used: 3000, capacity: 4000",
    ],
    [
      'memory',
      asking({ memory: '9Gi' }),
      [],
      'OutOfmemory',
      "Node didn't have enough resource: memory, requested: 9663676416, used: 0, capacity: 8589934592",
    ],
    [
      'pods',
      {},
      Array.from({ length: 10 }, (_, i) => pod(`x${i}`)),
      'OutOfpods',
      "Node didn't have enough resource: pods, requested: 1, used: 10, capacity: 10",
    ],
    [
      'labels',
      { nodeSelector: { disk: 'hdd' } },
      [],
      'NodeAffinity',
      "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ],
    [
      'ports',
      listening(80),
      [pod('x', listening(80))],
      'NodePorts',
      "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    ],
  ] as const) {
    it(`refuses it for want of ${what}, in the words of a kubelet`, () => {
      assert.deepEqual(refusalBy(spaceOf(PLENTY, there), pod('new', spec)), { reason, message });
    });
  }

  it('tells of the number of pods first, then of processors and memory, then of all else', () => {
    const full = { pods: '0', cpu: '0', memory: '0', gpu: '0' };
    const wanting = pod('new', { ...asking({ gpu: '1', memory: '1', cpu: '1' }), nodeSelector: { disk: 'hdd' } });
    const told: (string | undefined)[] = [];
    for (const resource of ['pods', 'cpu', 'memory', 'gpu']) {
      told.push(refusalBy(spaceOf(full), wanting)?.reason);
      Object.assign(full, { [resource]: '9' });
    }
    told.push(refusalBy(spaceOf(full), wanting)?.reason);
    assert.deepEqual(told, ['OutOfpods', 'OutOfcpu', 'OutOfmemory', 'OutOfgpu', 'NodeAffinity']);
  });

  it('says nothing of resources that it does not name', () => {
    assert.equal(refusalBy(spaceOf(PLENTY), pod('new', asking({ 'example.com/licence': '5' }))), undefined);
  });

  it('takes what the scheduler would put there, and nothing else', () => {
    const amount = fc.integer({ min: 0, max: 6 });
    const container = fc
      .record({ cpu: amount, memory: amount, port: fc.constantFrom(80, 81, 82) })
      .map(({ cpu, memory, port }): Omit<Container, 'name'> => {
        const requests = { cpu: `${cpu * 300}m`, memory: `${memory * 700}Mi` };
        return { resources: { requests }, ports: [{ containerPort: port }] };
      });
    const spec = fc
      .record({
        containers: fc.array(container, { minLength: 1, maxLength: 2 }),
        hostNetwork: fc.boolean(),
        disk: fc.constantFrom(undefined, 'ssd', 'ssd', 'hdd'),
      })
      .map(({ containers, hostNetwork, disk }): Partial<PodSpec> => {
        const named = containers.map((each, i) => ({ name: `c${i}`, ...each }));
        return { containers: named, hostNetwork, ...(disk === undefined ? {} : { nodeSelector: { disk } }) };
      });
    fc.assert(
      fc.property(fc.array(spec, { minLength: 1, maxLength: 14 }), (specs) => {
        const space = spaceOf(PLENTY);
        const cluster = new Cluster();
        cluster.setNode('a', node(PLENTY));
        for (const [i, each] of specs.entries()) {
          const coming = pod(`p${i}`, { ...each, nodeName: 'a' });
          const isTaken = refusalBy(space, coming) === undefined;
          assert.equal(isTaken, 'node' in choose(coming, cluster));
          if (!isTaken) continue;
          space.add(tenant(coming, 'a'));
          cluster.setPod(coming);
        }
      }),
    );
  });
});
