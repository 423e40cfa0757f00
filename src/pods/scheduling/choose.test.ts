import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node, Taint } from '../../api/core/node.ts';
import type { NodeSelectorRequirement, Pod, PodAffinityTerm, PodSpec, Toleration } from '../../api/core/pod.ts';
import type { Selector } from '../../api/selector.ts';
import { choose } from './choose.ts';
import { Cluster } from './cluster.ts';

const HOST = 'kubernetes.io/hostname';
const metadata = (name: string, labels: Record<string, string>, namespace?: string) => ({
  ...{ name, uid: `${namespace}-${name}`, labels, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  ...(namespace === undefined ? {} : { namespace }),
});

interface NodeIs {
  readonly labels?: Record<string, string>;
  readonly taints?: Taint[];
  readonly unschedulable?: boolean;
  readonly allocatable?: Record<string, string>;
}

const node = (name: string, { labels = {}, allocatable = {}, ...spec }: NodeIs = {}): Node => ({
  ...{ apiVersion: 'v1', kind: 'Node', metadata: metadata(name, { [HOST]: name, ...labels }) },
  spec,
  status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10', ...allocatable } },
});

interface PodIs extends Partial<PodSpec> {
  readonly labels?: Record<string, string>;
  readonly namespace?: string;
}

const pod = (name: string, { labels = {}, namespace = 'default', ...spec }: PodIs = {}): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: metadata(name, labels, namespace) },
  spec: { containers: [{ name: 'main' }], ...spec },
});

/** Nodes, and pods that are on some of them already. */
function clusterOf(nodes: readonly Node[], there: readonly Pod[] = [], spaces: Record<string, string[]> = {}): Cluster {
  const namespacesBy = (selector: Selector) =>
    Object.keys(spaces).filter((name) =>
      selector.matches(Object.fromEntries((spaces[name] ?? []).map((l) => [l, 'yes']))),
    );
  const cluster = new Cluster({ namespacesBy });
  for (const each of nodes) cluster.setNode(each.metadata.name, each);
  for (const each of there) cluster.setPod(each);
  return cluster;
}

/** The node, or the sentence. */
function placeIn(cluster: Cluster, wanting: Pod): string {
  const choice = choose(wanting, cluster);
  return 'node' in choice ? choice.node : choice.message;
}

/** All nodes that a pod may be on, by asking for one of them at a time. */
const allowed = (nodes: readonly Node[], spec: PodIs, there: readonly Pod[] = []): string[] =>
  nodes
    .filter(({ metadata: { name } }) => {
      const others = nodes.filter((each) => each.metadata.name !== name);
      const cordoned = others.map((each) => ({ ...each, spec: { ...each.spec, unschedulable: true } }));
      const cluster = clusterOf([...nodes.filter((each) => each.metadata.name === name), ...cordoned], there);
      return placeIn(cluster, pod('new', spec)) === name;
    })
    .map(({ metadata: { name } }) => name);

const required = (...matchExpressions: NodeSelectorRequirement[]): PodIs => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
  },
});

describe('labels of nodes', () => {
  const nodes = [
    node('a', { labels: { disk: 'ssd', cores: '4' } }),
    node('b', { labels: { disk: 'hdd', cores: '16' } }),
    node('c', { labels: { cores: 'many' } }),
  ];
  for (const [operator, key, values, expected] of [
    ['In', 'disk', ['ssd', 'nvme'], ['a']],
    ['NotIn', 'disk', ['ssd'], ['b', 'c']],
    ['Exists', 'disk', [], ['a', 'b']],
    ['DoesNotExist', 'disk', [], ['c']],
    ['Gt', 'cores', ['4'], ['b']],
    ['Lt', 'cores', ['16'], ['a']],
  ] as const) {
    it(`are compared by ${operator}`, () => {
      assert.deepEqual(allowed(nodes, required({ key, operator, values: [...values] })), expected);
    });
  }

  it('must all be as nodeSelector says, and as any of the terms of the affinity', () => {
    assert.deepEqual(allowed(nodes, { nodeSelector: { disk: 'ssd', cores: '4' } }), ['a']);
    assert.deepEqual(allowed(nodes, { nodeSelector: { disk: 'ssd', cores: '16' } }), []);
    const terms = ['a', 'c'].map((name) => ({
      matchFields: [{ key: 'metadata.name', operator: 'In' as const, values: [name] }],
    }));
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } };
    assert.deepEqual(allowed(nodes, { affinity }), ['a', 'c']);
    assert.deepEqual(allowed(nodes, { affinity, nodeSelector: { disk: 'ssd' } }), ['a']);
    assert.deepEqual(allowed(nodes, required()), [], 'a term that says nothing matches nothing');
  });

  it('that are only preferred decide among those that fit', () => {
    const preferred = (disk: string, weight: number) => ({
      weight,
      preference: { matchExpressions: [{ key: 'disk', operator: 'In' as const, values: [disk] }] },
    });
    const nodeAffinity = {
      preferredDuringSchedulingIgnoredDuringExecution: [preferred('hdd', 80), preferred('ssd', 20)],
    };
    assert.equal(placeIn(clusterOf(nodes), pod('new', { affinity: { nodeAffinity } })), 'b');
    const full = [pod('big', { nodeName: 'b', containers: [{ name: 'c', resources: { requests: { cpu: '4' } } }] })];
    const asks = { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] };
    assert.equal(placeIn(clusterOf(nodes, full), pod('new', { ...asks, affinity: { nodeAffinity } })), 'a');
  });
});

describe('taints of nodes', () => {
  const nodes = [
    node('no', { taints: [{ key: 'role', value: 'db', effect: 'NoSchedule' }] }),
    node('out', { taints: [{ key: 'repair', effect: 'NoExecute' }] }),
    node('rather', { taints: [{ key: 'slow', effect: 'PreferNoSchedule' }] }),
    node('cordoned', { unschedulable: true }),
  ];
  const tolerating = (...tolerations: Toleration[]): string => {
    const cluster = clusterOf(nodes.filter(({ metadata }) => metadata.name !== 'rather'));
    return placeIn(cluster, pod('new', { tolerations }));
  };

  it('keep pods away that do not tolerate them, and those that only prefer it count last', () => {
    assert.equal(placeIn(clusterOf(nodes), pod('new')), 'rather');
    assert.equal(placeIn(clusterOf([...nodes, node('plain')]), pod('new')), 'plain');
    assert.equal(
      tolerating(),
      '0/3 nodes are available: 1 node(s) had untolerated taint {repair: }, 1 node(s) had untolerated taint {role: db}, 1 node(s) were unschedulable.',
    );
  });

  it('are tolerated by key, value and effect, or by everything', () => {
    assert.equal(tolerating({ key: 'role', operator: 'Equal', value: 'db', effect: 'NoSchedule' }), 'no');
    assert.match(tolerating({ key: 'role', value: 'web' }), /^0\/3 /);
    assert.match(tolerating({ key: 'role', operator: 'Exists', effect: 'NoExecute' }), /^0\/3 /);
    assert.equal(tolerating({ key: 'repair', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }), 'out');
    assert.equal(tolerating({ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }), 'cordoned');
    assert.match(tolerating({ operator: 'Exists' }), /^(no|out|cordoned)$/);
  });
});

describe('room on nodes', () => {
  const asking = (requests: Record<string, string>, more: Partial<PodSpec> = {}): PodIs => ({
    containers: [{ name: 'c', resources: { requests } }],
    ...more,
  });

  it('is what is allocatable less what pods there ask for, each resource told of that is short', () => {
    const nodes = [node('a', { allocatable: { cpu: '2', memory: '1Gi', 'example.com/card': '1' } })];
    const there = [
      pod('one', { ...asking({ cpu: '1500m', memory: '600Mi', 'example.com/card': '1' }), nodeName: 'a' }),
    ];
    assert.equal(placeIn(clusterOf(nodes, there), pod('new', asking({ cpu: '500m', memory: '424Mi' }))), 'a');
    assert.equal(
      placeIn(clusterOf(nodes, there), pod('new', asking({ cpu: '501m', memory: '425Mi' }))),
      '0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.',
    );
    assert.match(
      placeIn(clusterOf(nodes, there), pod('new', asking({ 'example.com/card': '1' }))),
      /Insufficient example/,
    );
    const ended = there.map((each): Pod => ({ ...each, status: { phase: 'Succeeded' } }));
    assert.equal(placeIn(clusterOf(nodes, ended), pod('new', asking({ cpu: '2' }))), 'a');
  });

  it('is that of the largest init container or of all that run together, sidecars beside both', () => {
    const nodes = [node('a', { allocatable: { cpu: '3' } })];
    const container = (cpu: string, restartPolicy?: 'Always') => ({
      ...{ name: `c${cpu}`, resources: { requests: { cpu } } },
      ...(restartPolicy === undefined ? {} : { restartPolicy }),
    });
    const fits = (spec: PodIs): boolean => placeIn(clusterOf(nodes), pod('new', spec)) === 'a';
    assert.ok(fits({ initContainers: [container('3'), container('2')], containers: [container('1'), container('2')] }));
    assert.ok(!fits({ initContainers: [container('1', 'Always'), container('2500m')], containers: [container('1')] }));
    assert.ok(!fits({ initContainers: [container('1', 'Always')], containers: [container('1'), container('1500m')] }));
    assert.ok(fits({ containers: [{ name: 'c', resources: { limits: { cpu: '3' } } }] }));
    assert.ok(!fits({ containers: [{ name: 'c', resources: { limits: { cpu: '4' } } }] }), 'a limit is a request');
  });

  it('ends with the number of pods, and with the ports of the host', () => {
    const few = clusterOf([node('a', { allocatable: { pods: '1' } })], [pod('one', { nodeName: 'a' })]);
    assert.equal(placeIn(few, pod('new')), '0/1 nodes are available: 1 Too many pods.');
    const serving = (hostPort: number, more: { hostIP?: string; protocol?: 'TCP' | 'UDP' } = {}): PodIs => ({
      containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort, ...more }] }],
    });
    const one = clusterOf([node('a')], [pod('one', { ...serving(80, { hostIP: '10.0.0.1' }), nodeName: 'a' })]);
    const taken = "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.";
    assert.equal(placeIn(one, pod('new', serving(80))), taken);
    assert.equal(placeIn(one, pod('new', serving(80, { hostIP: '10.0.0.1' }))), taken);
    for (const other of [serving(81), serving(80, { protocol: 'UDP' }), serving(80, { hostIP: '10.0.0.2' })]) {
      assert.equal(placeIn(one, pod('new', other)), 'a');
    }
  });

  it('is not made by ending others, which is said to who might count on it', () => {
    const cluster = clusterOf(
      [node('a', { allocatable: { cpu: '1' } })],
      [pod('one', { ...asking({ cpu: '1' }), nodeName: 'a' })],
    );
    const sentence = '0/1 nodes are available: 1 Insufficient cpu.';
    assert.equal(placeIn(cluster, pod('new', asking({ cpu: '1' }))), sentence);
    assert.equal(
      placeIn(cluster, pod('new', asking({ cpu: '1' }, { priority: 9, preemptionPolicy: 'Never' }))),
      sentence,
    );
    assert.equal(
      placeIn(cluster, pod('new', asking({ cpu: '1' }, { priority: 9 }))),
      `${sentence} preemption: pods that run are never ended to make room for others.`,
    );
  });
});

describe('company of pods', () => {
  const nodes = [
    node('a', { labels: { zone: 'x' } }),
    node('b', { labels: { zone: 'x' } }),
    node('c', { labels: { zone: 'y' } }),
    node('d'),
  ];
  const app = (name: string, more: Partial<PodAffinityTerm> = {}): PodAffinityTerm => ({
    ...{ topologyKey: HOST, labelSelector: { matchLabels: { app: name } } },
    ...more,
  });
  const near = (...terms: PodAffinityTerm[]): PodIs => ({
    affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
  });
  const far = (...terms: PodAffinityTerm[]): PodIs => ({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
  });
  const db = pod('db', { labels: { app: 'db', track: 'old' }, nodeName: 'a' });

  it('is sought and avoided on the same host, or in the same part of any other division', () => {
    assert.deepEqual(allowed(nodes, near(app('db')), [db]), ['a']);
    assert.deepEqual(allowed(nodes, near(app('db', { topologyKey: 'zone' })), [db]), ['a', 'b']);
    assert.deepEqual(allowed(nodes, far(app('db')), [db]), ['b', 'c', 'd']);
    assert.deepEqual(allowed(nodes, far(app('db', { topologyKey: 'zone' })), [db]), ['c', 'd']);
    assert.deepEqual(allowed(nodes, near(app('none')), [db]), []);
  });

  it('is nowhere that lacks the label, also where others have it without a value', () => {
    const roles = [node('a', { labels: { worker: '' } }), node('b', { labels: { worker: '' } }), node('c')];
    assert.deepEqual(allowed(roles, near(app('db', { topologyKey: 'worker' })), [db]), ['a', 'b']);
    assert.deepEqual(allowed(roles, far(app('db', { topologyKey: 'worker' })), [db]), ['c']);
  });

  it('need not be there for the first of those that want to be together', () => {
    const first = { ...near(app('web', { topologyKey: 'zone' })), labels: { app: 'web' } };
    assert.deepEqual(allowed(nodes, first), ['a', 'b', 'c']);
  });

  it('is also refused by pods that are there already', () => {
    const shy = pod('shy', { ...far(app('web', { topologyKey: 'zone' })), nodeName: 'a' });
    assert.deepEqual(allowed(nodes, { labels: { app: 'web' } }, [shy]), ['c', 'd']);
    const [a] = nodes;
    assert.ok(a);
    assert.equal(
      placeIn(clusterOf([a], [shy]), pod('new', { labels: { app: 'web' } })),
      "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.",
    );
  });

  it('is that of the own namespace, of those that are named, or of those with a label, whenever they got it', () => {
    const there = { ...db, metadata: { ...db.metadata, namespace: 'other' } };
    assert.deepEqual(allowed(nodes, far(app('db')), [there]), ['a', 'b', 'c', 'd']);
    assert.deepEqual(allowed(nodes, far(app('db', { namespaces: ['other'] })), [there]), ['b', 'c', 'd']);
    assert.deepEqual(allowed(nodes, far(app('db', { namespaceSelector: {} })), [there]), ['b', 'c', 'd']);

    const spaces: Record<string, string[]> = {};
    const namespaceSelector = { matchLabels: { loud: 'yes' } };
    const shy = pod('shy', { ...far(app('web', { namespaceSelector })), nodeName: 'a' });
    const cluster = clusterOf(nodes.slice(0, 1), [shy], spaces);
    const web = pod('web', { labels: { app: 'web' }, namespace: 'noisy' });
    assert.equal(placeIn(cluster, web), 'a');
    spaces['noisy'] = ['loud'];
    assert.match(placeIn(cluster, web), /^0\/1 /);
    cluster.removePod('default/shy');
    assert.equal(placeIn(cluster, web), 'a');
  });

  it('may be told by labels that are the same or another as those of the pod', () => {
    const track = (value: string, how: Partial<PodAffinityTerm>) => ({
      ...far(app('db', how)),
      labels: { app: 'db', track: value },
    });
    assert.deepEqual(allowed(nodes, track('old', { matchLabelKeys: ['track'] }), [db]), ['b', 'c', 'd']);
    assert.deepEqual(allowed(nodes, track('new', { matchLabelKeys: ['track'] }), [db]), ['a', 'b', 'c', 'd']);
    assert.deepEqual(allowed(nodes, track('old', { mismatchLabelKeys: ['track'] }), [db]), ['a', 'b', 'c', 'd']);
    assert.deepEqual(allowed(nodes, track('new', { mismatchLabelKeys: ['track'] }), [db]), ['b', 'c', 'd']);
    const there = pod('there', { ...track('old', { matchLabelKeys: ['track'] }), nodeName: 'a' });
    assert.deepEqual(allowed(nodes, { labels: { app: 'db', track: 'new' } }, [there]), ['a', 'b', 'c', 'd']);
    assert.deepEqual(allowed(nodes, { labels: { app: 'db', track: 'old' } }, [there]), ['b', 'c', 'd']);
  });

  it('that is only preferred decides among those that fit', () => {
    const podAffinityTerm = app('db', { topologyKey: 'zone' });
    const wish = [{ weight: 50, podAffinityTerm }];
    const there = { ...db, spec: { ...db.spec, nodeName: 'c' } };
    const nearby = { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: wish } };
    assert.equal(placeIn(clusterOf(nodes, [there]), pod('new', { affinity: nearby })), 'c');
    const away = { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: wish } };
    assert.notEqual(placeIn(clusterOf(nodes.slice(1, 3), [there]), pod('new', { affinity: away })), 'c');
  });

  it('is also preferred by pods that are there already, as long as they are', () => {
    const web = pod('new', { labels: { app: 'web' } });
    const wish = (weight: number) => [{ weight, podAffinityTerm: app('web', { topologyKey: 'zone' }) }];
    const fond = { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: wish(50) } };
    const wary = { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: wish(40) } };
    const [a, , c] = nodes;
    assert.ok(a && c);
    const cluster = clusterOf([a, c]);
    const come = (name: string, nodeName: string, affinity: PodSpec['affinity'] = {}): void =>
      cluster.setPod(pod(name, { nodeName, affinity }));
    assert.equal(placeIn(cluster, web), 'a');
    come('fond', 'c', fond);
    assert.equal(placeIn(cluster, web), 'c', 'although it is less empty');
    assert.equal(placeIn(cluster, pod('another', { labels: { app: 'db' } })), 'a');
    come('wary', 'c', wary);
    assert.equal(placeIn(cluster, web), 'c', 'one likes it more than the other does not');
    cluster.removePod('default/fond');
    come('plain', 'a');
    come('plainer', 'a');
    assert.equal(placeIn(cluster, web), 'a', 'although it is less empty');
    cluster.removePod('default/wary');
    assert.equal(placeIn(cluster, web), 'c');
  });

  it('is a little liked by pods that cannot be without it', () => {
    const needy = pod('needy', { ...near(app('web', { topologyKey: 'zone' })), nodeName: 'c' });
    const [a, , c] = nodes;
    assert.ok(a && c);
    const cluster = clusterOf([a, c], [needy]);
    assert.equal(placeIn(cluster, pod('new', { labels: { app: 'web' } })), 'c');
    assert.equal(placeIn(cluster, pod('new', { labels: { app: 'db' } })), 'a');
  });
});

describe('spread', () => {
  const nodes = [
    node('a', { labels: { zone: 'x' } }),
    node('b', { labels: { zone: 'x' } }),
    node('c', { labels: { zone: 'y' } }),
    node('d'),
  ];
  type Constraint = NonNullable<PodSpec['topologySpreadConstraints']>[number];
  const evenly = (more: Partial<Constraint> = {}, spec: PodIs = {}): PodIs => ({
    labels: { app: 'web', version: '2' },
    topologySpreadConstraints: [
      {
        ...{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
        labelSelector: { matchLabels: { app: 'web' } },
        ...more,
      },
    ],
    ...spec,
  });
  const web = (name: string, nodeName: string) => pod(name, { labels: { app: 'web', version: '1' }, nodeName });

  it('keeps pods where there are at most so many more than anywhere else', () => {
    assert.deepEqual(allowed(nodes, evenly()), ['a', 'b', 'c']);
    assert.deepEqual(allowed(nodes, evenly(), [web('1', 'a')]), ['c']);
    assert.deepEqual(allowed(nodes, evenly({ maxSkew: 2 }), [web('1', 'a')]), ['a', 'b', 'c']);
    assert.deepEqual(allowed(nodes, evenly(), [web('1', 'a'), web('2', 'c')]), ['a', 'b', 'c']);
    const cluster = clusterOf(
      nodes.filter(({ metadata }) => metadata.name !== 'c'),
      [web('1', 'a')],
    );
    assert.equal(
      placeIn(cluster, pod('new', evenly({ minDomains: 2 }))),
      "0/3 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label), 2 node(s) didn't match pod topology spread constraints.",
    );
  });

  it('does not count pods that end, of other versions, or nodes where the pod may not be', () => {
    const ending = web('1', 'a');
    ending.metadata = { ...ending.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    assert.deepEqual(allowed(nodes, evenly(), [ending]), ['a', 'b', 'c']);
    assert.deepEqual(allowed(nodes, evenly({ matchLabelKeys: ['version'] }), [web('1', 'a')]), ['a', 'b', 'c']);
    const only = { nodeSelector: { zone: 'x' } };
    assert.deepEqual(allowed(nodes, evenly({}, only), [web('1', 'a')]), ['a', 'b']);
    assert.deepEqual(allowed(nodes, evenly({ nodeAffinityPolicy: 'Ignore' }, only), [web('1', 'a')]), []);
    const tainted = nodes.map((each) =>
      each.metadata.name === 'c' ? { ...each, spec: { taints: [{ key: 'k', effect: 'NoSchedule' as const }] } } : each,
    );
    assert.deepEqual(allowed(tainted, evenly(), [web('1', 'a')]), []);
    assert.deepEqual(allowed(tainted, evenly({ nodeTaintsPolicy: 'Honor' }), [web('1', 'a')]), ['a', 'b']);
  });

  it('that is only a wish prefers what is emptier', () => {
    const wish = evenly({ whenUnsatisfiable: 'ScheduleAnyway' });
    assert.equal(placeIn(clusterOf(nodes, [web('1', 'a'), web('2', 'b')]), pod('new', wish)), 'c');
    assert.equal(placeIn(clusterOf(nodes.slice(0, 1), [web('1', 'a')]), pod('new', wish)), 'a');
  });
});

it('without any node there is nothing to choose from', () => {
  assert.equal(placeIn(clusterOf([]), pod('new')), 'no nodes available to schedule pods');
});
