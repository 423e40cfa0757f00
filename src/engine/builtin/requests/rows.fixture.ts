import type { JsonObject } from '../../../api/json.ts';
import { type Fields, pod } from './builders.fixture.ts';

const runs = (name: string, spec: Fields, status: JsonObject, metadata: Fields = {}) => ({
  object: {
    ...pod({
      nodeName: 'n1',
      containers: [
        { name: 'a', image: 'x' },
        { name: 'b', image: 'x' },
      ],
      ...spec,
    }),
    metadata: { name, ...metadata },
  },
  status,
});
const shown = (object: JsonObject, status?: JsonObject) => ({ object, ...(status === undefined ? {} : { status }) });
const run = (name: string, fields: Fields = {}): JsonObject => ({
  name,
  image: 'x',
  imageID: '',
  ready: true,
  restartCount: 0,
  state: { running: { startedAt: '2024-01-01T00:00:00Z' } },
  ...fields,
});
const term = (fields: Fields = {}): JsonObject => ({ exitCode: 0, finishedAt: '2024-01-01T00:00:00Z', ...fields });

/** Objects, with a status where it is written apart, whose rows in a table are known. Those with finalizers are deleted. */
export const rows: readonly { object: JsonObject; status?: JsonObject }[] = [
  runs(
    't1',
    {},
    {
      phase: 'Running',
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
      containerStatuses: [run('a'), run('b', { ready: false, restartCount: 3, lastState: { terminated: term() } })],
    },
  ),
  runs(
    't2',
    {},
    {
      phase: 'Pending',
      containerStatuses: [
        run('a', { ready: false, state: { waiting: { reason: 'CrashLoopBackOff' } } }),
        run('b', { ready: false, state: { waiting: { reason: 'ImagePullBackOff' } } }),
      ],
    },
  ),
  runs(
    't3',
    {
      initContainers: [
        { name: 'i', image: 'x' },
        { name: 'j', image: 'x' },
      ],
    },
    {
      phase: 'Pending',
      initContainerStatuses: [
        run('i', { state: { terminated: term() }, restartCount: 1 }),
        run('j', { state: { waiting: { reason: 'PodInitializing' } } }),
      ],
    },
  ),
  runs(
    't4',
    { initContainers: [{ name: 'i', image: 'x' }] },
    {
      phase: 'Pending',
      initContainerStatuses: [run('i', { state: { terminated: term({ exitCode: 3 }) }, restartCount: 2 })],
    },
  ),
  runs(
    't5',
    { initContainers: [{ name: 'i', image: 'x', restartPolicy: 'Always' }] },
    {
      phase: 'Running',
      initContainerStatuses: [run('i', { started: true, restartCount: 2, lastState: { terminated: term() } })],
      containerStatuses: [run('a'), run('b')],
    },
  ),
  runs(
    't6',
    {},
    {
      phase: 'Succeeded',
      containerStatuses: [
        run('a', { state: { terminated: term({ reason: 'Completed' }) } }),
        run('b', { state: { terminated: term({ reason: 'Completed' }) } }),
      ],
    },
  ),
  runs('t7', {}, { phase: 'Failed', reason: 'Evicted' }),
  runs(
    't8',
    {},
    {
      phase: 'Running',
      containerStatuses: [run('a', { state: { terminated: term({ signal: 9, exitCode: 137 }) } }), run('b')],
    },
  ),
  runs(
    't9',
    {},
    {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [run('a'), run('b', { state: { terminated: term({ reason: 'Completed' }) } })],
    },
  ),
  runs(
    't10',
    {
      nodeName: null,
      schedulingGates: [{ name: 'x.com/y' }],
      readinessGates: [{ conditionType: 'x.com/z' }, { conditionType: 'w' }],
    },
    {
      conditions: [
        { type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' },
        { type: 'w', status: 'True' },
      ],
    },
  ),
  runs('t11', {}, { phase: 'Running', containerStatuses: [run('a'), run('b')] }, { finalizers: ['x.com/y'] }),
  shown(
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 't1' },
      spec: {
        type: 'LoadBalancer',
        selector: { b: 'x', a: 'y' },
        ports: [
          { name: 'a', port: 80, nodePort: 30123 },
          { name: 'b', port: 53, protocol: 'UDP', nodePort: 30124 },
        ],
        externalIPs: ['1.2.3.4'],
      },
    },
    {
      loadBalancer: {
        ingress: [{ ip: '9.9.9.9', ipMode: 'VIP' }, { hostname: 'h.x' }, { ip: '10.1.1.1', ipMode: 'VIP' }],
      },
    },
  ),
  shown({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 't2' },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  }),
  shown({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 't3' },
    spec: { type: 'ExternalName', externalName: 'a.b' },
  }),
  shown({ apiVersion: 'v1', kind: 'Service', metadata: { name: 't4' }, spec: { clusterIP: 'None' } }),
  shown({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 't1',
      labels: { 'node-role.kubernetes.io/b': '', 'node-role.kubernetes.io/a': 'x', 'kubernetes.io/role': 'c' },
    },
    spec: { unschedulable: true },
    status: {
      conditions: [{ type: 'Ready', status: 'False' }],
      addresses: [{ type: 'InternalIP', address: '1.1.1.1' }],
      nodeInfo: {
        kubeletVersion: 'v1',
        osImage: 'os',
        kernelVersion: '',
        containerRuntimeVersion: 'cr',
        machineID: '',
        systemUUID: '',
        bootID: '',
        kubeProxyVersion: '',
        operatingSystem: '',
        architecture: '',
      },
    },
  }),
  shown({ apiVersion: 'v1', kind: 'Node', metadata: { name: 't2' } }),
  shown({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 't1' },
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default', fieldPath: 'spec.x' },
    firstTimestamp: '2024-01-01T00:00:00Z',
    lastTimestamp: '2024-01-02T00:00:00Z',
    count: 3,
    type: 'Normal',
    reason: 'R',
    message: ' hi\n',
    source: { component: 'c', host: 'h' },
  }),
  shown({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 't2' },
    regarding: { kind: 'Pod', namespace: 'default' },
    eventTime: '2024-01-01T00:00:00.000000Z',
    type: 'Normal',
    action: 'a',
    reason: 'r',
    reportingController: 'x.com/c',
    reportingInstance: 'i',
    note: 'hello',
    series: { count: 4, lastObservedTime: '2024-02-01T00:00:00.000000Z' },
  }),
  shown({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 't3' },
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
  }),
  shown(
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 't1' },
      spec: {
        replicas: 3,
        selector: {
          matchLabels: { b: 'x', a: 'y' },
          matchExpressions: [
            { key: 'c', operator: 'NotIn', values: ['z', 'y'] },
            { key: 'aa', operator: 'DoesNotExist' },
            { key: 'b', operator: 'Exists' },
          ],
        },
        template: {
          metadata: { labels: { a: 'y', b: 'x' } },
          spec: {
            containers: [
              { name: 'c', image: 'x' },
              { name: 'd', image: 'y:1' },
            ],
          },
        },
      },
    },
    { replicas: 3, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1 },
  ),
  shown({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 't1' }, data: { a: 'AAAA', b: 'AAAA' } }),
  shown({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 't1' }, data: { a: 'b' }, binaryData: { c: 'AAAA' } }),
  shown({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 't1' }, secrets: [{ name: 'a' }] }),
  shown({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 't1' },
    spec: { holderIdentity: 'me' },
  }),
  shown({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 't1' } }),
  shown({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'zets.lab.example.com' },
  }),
];
