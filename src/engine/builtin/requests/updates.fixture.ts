import type { JsonObject } from '../../../api/json.ts';
import { cm, crd, dep, nev, node, ns, pod, sec, svc, version } from './builders.fixture.ts';

const runningPod = pod({
  nodeName: 'n',
  hostNetwork: false,
  containers: [{ name: 'c', image: 'img', env: [{ name: 'a', value: '' }] }],
  tolerations: [{ key: 'k', operator: 'Exists' }],
  activeDeadlineSeconds: 100,
});
const gatedPod = {
  ...pod({ schedulingGates: [{ name: 'x.com/a' }, { name: 'x.com/b' }], nodeSelector: { a: 'b' } }),
  metadata: { name: 'g' },
};
const ports = [
  { name: 'a', port: 80 },
  { name: 'b', port: 81 },
];
const balanced = svc({ type: 'LoadBalancer', ports, externalTrafficPolicy: 'Local', loadBalancerClass: 'x.com/y' });
const inside = svc({ ports: [{ port: 80 }] }, { name: 'c' });
const headless = svc({ clusterIP: 'None', selector: { a: 'b' } }, { name: 'h' });
const sealedSecret = sec({ immutable: true, data: { a: 'AAAA' } });
const sealedMap = cm({ immutable: true, data: { a: 'b' } });
const sizedNode = { ...node({ spec: { podCIDR: '10.0.0.0/24', providerID: 'x' } }), metadata: { name: 'n1' } };
const newEvent = nev({
  eventTime: '2024-01-01T00:00:00.000000Z',
  type: 'Normal',
  action: 'a',
  reason: 'r',
  reportingController: 'x.com/c',
  reportingInstance: 'i',
  note: 'hello',
});
const definition = crd(
  {
    names: { plural: 'zets', kind: 'Zet' },
    versions: [{ ...version, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
  { name: 'zets.lab.example.com' },
);
const scaledBy = (spec: JsonObject): JsonObject => ({ spec });

/** Objects that are there, and what a PUT then makes of them: a merge patch of what is stored, or the first form again. */
export const updates: readonly { before: JsonObject; change: JsonObject | 'as created' }[] = [
  { before: runningPod, change: 'as created' },
  { before: runningPod, change: { metadata: { labels: { a: 'b' } } } },
  { before: runningPod, change: { spec: { containers: [] } } },
  { before: runningPod, change: { spec: { containers: [{ name: 'c', image: '' }] } } },
  {
    before: runningPod,
    change: { spec: { containers: [{ name: 'c', image: 'x', env: [{ name: 'a', value: 'q' }] }] } },
  },
  { before: runningPod, change: { spec: { tolerations: [] } } },
  {
    before: runningPod,
    change: {
      spec: {
        tolerations: [
          { key: 'k', operator: 'Exists' },
          { key: 'z', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 4 },
        ],
      },
    },
  },
  { before: runningPod, change: { spec: { activeDeadlineSeconds: 200 } } },
  { before: runningPod, change: { spec: { activeDeadlineSeconds: 50 } } },
  { before: runningPod, change: { spec: { activeDeadlineSeconds: null } } },
  { before: runningPod, change: { spec: { nodeName: 'other' } } },
  { before: runningPod, change: { spec: { terminationGracePeriodSeconds: 1 } } },
  { before: gatedPod, change: { spec: { schedulingGates: [{ name: 'x.com/a' }] } } },
  { before: gatedPod, change: { spec: { schedulingGates: [{ name: 'x.com/a' }, { name: 'x.com/c' }] } } },
  { before: gatedPod, change: { spec: { nodeSelector: { z: 'y' } } } },
  { before: gatedPod, change: { spec: { nodeSelector: { a: 'y' } } } },
  { before: balanced, change: 'as created' },
  { before: balanced, change: { spec: { type: 'ClusterIP' } } },
  { before: balanced, change: { spec: { type: 'NodePort' } } },
  { before: balanced, change: { spec: { type: 'ExternalName', externalName: 'a.b' } } },
  { before: balanced, change: { spec: { loadBalancerClass: 'x.com/z' } } },
  { before: balanced, change: { spec: { healthCheckNodePort: 31234 } } },
  { before: inside, change: 'as created' },
  { before: inside, change: { spec: { clusterIP: '10.96.1.1' } } },
  { before: inside, change: { spec: { clusterIP: null } } },
  { before: inside, change: { spec: { clusterIP: null, clusterIPs: null } } },
  { before: inside, change: { spec: { clusterIP: 'None', clusterIPs: ['None'] } } },
  { before: headless, change: 'as created' },
  { before: headless, change: { spec: { clusterIP: '10.96.1.1' } } },
  { before: dep({}), change: 'as created' },
  { before: dep({}), change: scaledBy({ replicas: 0 }) },
  { before: dep({}), change: scaledBy({ selector: { matchExpressions: [] } }) },
  {
    before: dep({}),
    change: scaledBy({ selector: { matchLabels: { c: 'd' } }, template: { metadata: { labels: { c: 'd' } } } }),
  },
  { before: dep({}), change: { metadata: { annotations: { a: 'b' } } } },
  { before: sealedSecret, change: { type: 'x' } },
  { before: sealedSecret, change: { data: null, immutable: false } },
  { before: sealedMap, change: { data: { a: 'c' }, binaryData: { z: 'AAAA' }, immutable: null } },
  { before: sealedMap, change: { metadata: { labels: { a: 'b' } } } },
  { before: sealedMap, change: { metadata: { finalizers: ['x'] } } },
  { before: sizedNode, change: 'as created' },
  { before: sizedNode, change: { spec: { podCIDR: '10.1.0.0/24' } } },
  { before: sizedNode, change: { spec: { providerID: 'y' } } },
  { before: newEvent, change: { note: 'bye', regarding: { name: 'q' }, action: 'z', reportingController: 'y.com/z' } },
  { before: newEvent, change: { series: { count: 1, lastObservedTime: '2024-01-01T00:00:00.000000Z' } } },
  { before: newEvent, change: { series: { count: 2, lastObservedTime: '2024-01-01T00:00:00.000000Z' } } },
  { before: ns(), change: { spec: { finalizers: [] } } },
  { before: ns(), change: { metadata: { labels: null } } },
  { before: definition, change: { spec: { names: { kind: 'Foo' } } } },
  { before: definition, change: { spec: { scope: 'Cluster' } } },
  { before: definition, change: { spec: { group: 'x.y' } } },
  { before: definition, change: { spec: { versions: [{ ...version, name: 'v2' }] } } },
];
