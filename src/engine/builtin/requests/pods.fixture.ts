import type { JsonObject } from '../../../api/json.ts';
import { con, pod } from './builders.fixture.ts';

export const pods: readonly JsonObject[] = [
  pod({}),
  pod({ containers: [] }),
  pod({ containers: [{}] }),
  pod({
    containers: [
      { name: 'A', image: '' },
      { name: 'c', image: ' x ' },
      { name: 'c', image: `x@sha256:${'a'.repeat(64)}` },
    ],
  }),
  pod({ restartPolicy: 'X', dnsPolicy: 'Y' }),
  pod({ dnsPolicy: 'None' }),
  pod({ dnsPolicy: 'None', dnsConfig: {} }),
  pod({
    dnsConfig: {
      nameservers: ['x', '1.1.1.1', '::1', '2.2.2.2'],
      searches: ['a_b', '.', 'A', ...Array(32).fill('x')],
      options: [{}],
    },
  }),
  con({ imagePullPolicy: 'X', terminationMessagePolicy: 'Y' }),
  con({ ports: [{}] }),
  con({
    ports: [
      { containerPort: 80, name: 'http' },
      { containerPort: 81, name: 'http', hostPort: 99999, protocol: 'X' },
      { containerPort: 70000, name: 'toolongforaportname' },
      { containerPort: 1, name: '-a--b' },
      { containerPort: 2, name: '12' },
    ],
  }),
  con({
    ports: [
      { containerPort: 80, hostPort: 1 },
      { containerPort: 81, hostPort: 1 },
    ],
  }),
  con({ ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 82 }] }, { hostNetwork: true }),
  con({
    env: [
      { name: '' },
      { name: 'a b' },
      { name: 'a=b' },
      { name: 'é' },
      { name: 'x', value: 'v', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'y', valueFrom: {} },
      { name: 'z', valueFrom: { fieldRef: { fieldPath: 'metadata.name' }, secretKeyRef: { name: 'a', key: 'b' } } },
    ],
  }),
  con({
    env: [
      { name: 'a', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } },
      { name: 'b', valueFrom: { fieldRef: { fieldPath: '' } } },
      { name: 'c', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } },
      { name: 'd', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a b']" } } },
      { name: 'e', valueFrom: { fieldRef: { fieldPath: "spec.x['a']" } } },
      { name: 'f', valueFrom: { fieldRef: { fieldPath: 'status.phase', apiVersion: 'v2' } } },
      { name: 'g', valueFrom: { fieldRef: { fieldPath: 'status.phase' } } },
    ],
  }),
  con({
    env: [
      { name: 'a', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      { name: 'b', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } } },
      { name: 'c', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1024' } } },
      { name: 'd', valueFrom: { resourceFieldRef: { resource: 'x' } } },
      { name: 'e', valueFrom: { resourceFieldRef: { resource: '' } } },
      { name: 'f', valueFrom: { resourceFieldRef: { resource: 'requests.ephemeral-storage', divisor: '3' } } },
    ],
  }),
  con({
    env: [
      { name: 'a', valueFrom: { configMapKeyRef: { name: 'A', key: '' } } },
      { name: 'b', valueFrom: { secretKeyRef: { name: 'a', key: 'a b' } } },
    ],
    envFrom: [{}, { prefix: 'a=', configMapRef: {}, secretRef: { name: 'A' } }],
  }),
  con(
    {
      volumeMounts: [
        { name: 'v', mountPath: '/a' },
        { name: '', mountPath: '' },
        { name: 'w', mountPath: '/a', subPath: '/x', subPathExpr: '../y', mountPropagation: 'X' },
      ],
    },
    { volumes: [{ name: 'v' }] },
  ),
  con(
    {
      volumeMounts: [
        { name: 'v', mountPath: '/a', recursiveReadOnly: 'Enabled' },
        { name: 'u', mountPath: '/b', recursiveReadOnly: 'X', mountPropagation: 'Bidirectional' },
      ],
      volumeDevices: [
        { name: 'v', devicePath: '/a' },
        { name: 'z', devicePath: '/../x' },
      ],
    },
    { volumes: [{ name: 'v', emptyDir: {} }] },
  ),
  pod({
    volumes: [
      { name: 'a', hostPath: { path: '' } },
      { name: 'b', hostPath: { path: '/a/../b', type: 'X' } },
      { name: 'c', hostPath: { path: '/x' }, emptyDir: {} },
      { name: 'C' },
      { name: '' },
      { name: 'e' },
      { name: 'e' },
    ],
  }),
  pod({
    volumes: [
      { name: 'a', secret: {} },
      {
        name: 'b',
        configMap: {
          name: 'x',
          defaultMode: 1000,
          items: [
            { key: '', path: '/a' },
            { key: 'k', path: '../x', mode: -1 },
            { key: 'k', path: '..x' },
          ],
        },
      },
      { name: 'c', nfs: { path: 'x' } },
      { name: 'd', persistentVolumeClaim: {} },
      { name: 'e', emptyDir: { sizeLimit: '-1' } },
      { name: 'f', csi: { driver: 'a b' } },
      { name: 'g', csi: {} },
    ],
  }),
  pod({
    volumes: [
      {
        name: 'a',
        downwardAPI: {
          items: [
            { path: 'x', fieldRef: { fieldPath: 'metadata.labels' } },
            { path: '', fieldRef: { fieldPath: 'spec.nodeName' } },
            { path: 'y' },
            { path: 'z', resourceFieldRef: { resource: 'limits.cpu' } },
            { path: 'w', resourceFieldRef: { resource: 'limits.cpu', containerName: 'c' } },
          ],
        },
      },
    ],
  }),
  pod({
    serviceAccountName: 'sa',
    volumes: [
      {
        name: 'a',
        projected: {
          sources: [
            { secret: { name: 's', items: [{ key: 'k', path: 'p' }] } },
            { configMap: { name: '', items: [{ key: 'k', path: 'p' }] } },
            { serviceAccountToken: { path: '' } },
            { serviceAccountToken: { path: 't', expirationSeconds: 5 } },
            { secret: { name: 'a' }, configMap: { name: 'b' } },
            { downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.name' } }] } },
          ],
        },
      },
    ],
  }),
  pod({ volumes: [{ name: 'a', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] }),
  con({
    livenessProbe: {},
    readinessProbe: { httpGet: { port: 0 }, terminationGracePeriodSeconds: 3 },
    startupProbe: { exec: {}, tcpSocket: { port: 'x' }, successThreshold: 2, periodSeconds: -1 },
  }),
  con({
    livenessProbe: {
      httpGet: { port: 'http', scheme: 'X', httpHeaders: [{ name: 'a b', value: 'x' }] },
      terminationGracePeriodSeconds: 0,
    },
    lifecycle: { postStart: {}, preStop: { sleep: { seconds: 100 } } },
    readinessProbe: { grpc: { port: 5 } },
  }),
  pod({
    initContainers: [
      { name: 'c', image: 'x' },
      { name: 'i', image: 'x', livenessProbe: { exec: { command: ['x'] } }, restartPolicy: 'Never', lifecycle: {} },
      { name: 'j', image: 'x', restartPolicy: 'Always', livenessProbe: { exec: {} } },
    ],
  }),
  con({ restartPolicy: 'Always' }),
  con({ resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: 2 } } }),
  con({ resources: { limits: { cpu: 0.5, memory: '1024Mi' } } }),
  con({
    resources: {
      limits: { 'example.com/x': '1500m', foo: 1, 'hugepages-2Mi': '2Mi' },
      requests: { 'example.com/x': 1, 'b.com/y': 1, cpu: '-1', memory: '1.5' },
    },
  }),
  con({ resources: { requests: { cpu: '100u', memory: '1e3' } } }),
  con({ resources: { limits: { 'kubernetes.io/x': 1, 'requests.foo/y': 1, 'A B': 1 } } }),
  pod({
    securityContext: {
      runAsUser: -1,
      fsGroup: 2 ** 31,
      supplementalGroups: [1, -1],
      sysctls: [
        { name: 'A', value: 'x' },
        { name: 'net.core.x', value: '1' },
        { name: 'net.core.x', value: '1' },
        { name: '', value: '' },
      ],
      seccompProfile: { type: 'Localhost' },
      fsGroupChangePolicy: 'X',
      supplementalGroupsPolicy: 'Y',
    },
    hostNetwork: true,
    hostPID: true,
    shareProcessNamespace: true,
  }),
  con({
    securityContext: {
      allowPrivilegeEscalation: false,
      privileged: true,
      runAsGroup: -2,
      procMount: 'X',
      seccompProfile: { type: 'X' },
      appArmorProfile: { type: 'Localhost' },
      capabilities: { add: ['CAP_SYS_ADMIN'] },
    },
  }),
  con({ securityContext: { seccompProfile: { type: 'RuntimeDefault', localhostProfile: 'a' }, appArmorProfile: {} } }),
  con({ securityContext: { privileged: true } }),
  pod({
    tolerations: [
      {},
      { key: 'a b', operator: 'X', effect: 'Y' },
      { operator: 'Exists', value: 'x' },
      { key: 'a', value: 'b c', tolerationSeconds: 5 },
      { key: 'k', operator: 'Equal', value: 'v', effect: 'NoExecute', tolerationSeconds: 3 },
    ],
  }),
  pod({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] },
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 0,
            preference: {
              matchExpressions: [
                { key: 'a b', operator: 'X' },
                { key: 'a', operator: 'In' },
                { key: 'a', operator: 'Gt', values: ['1', '2'] },
              ],
            },
          },
        ],
      },
    },
  }),
  pod({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchFields: [
                { key: 'metadata.name', operator: 'In', values: ['A', 'b'] },
                { key: 'x', operator: 'Exists' },
              ],
              matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x y'] }],
            },
          ],
        },
      },
    },
  }),
  pod({
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchExpressions: [{ key: 'a', operator: 'X' }] }, namespaces: ['A'], topologyKey: '' },
          { topologyKey: 'a b', matchLabelKeys: ['x'] },
        ],
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, podAffinityTerm: { topologyKey: 'zone' } }],
      },
    },
  }),
  pod({
    topologySpreadConstraints: [
      {
        maxSkew: 0,
        topologyKey: '',
        whenUnsatisfiable: 'X',
        minDomains: 0,
        nodeAffinityPolicy: 'Y',
        matchLabelKeys: ['a'],
      },
      {
        maxSkew: 1,
        topologyKey: 'z',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { a: 'b' } },
        matchLabelKeys: ['a', 'b c'],
      },
      { maxSkew: 2, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' },
    ],
  }),
  pod({
    hostname: 'A',
    subdomain: 'a.b',
    nodeName: 'A',
    serviceAccountName: 'B_',
    priorityClassName: 'C C',
    activeDeadlineSeconds: 0,
    preemptionPolicy: 'X',
    nodeSelector: { 'a b': 'c d' },
  }),
  pod({
    hostAliases: [{ ip: 'x', hostnames: ['A_'] }],
    readinessGates: [{ conditionType: 'a b' }],
    schedulingGates: [{ name: 'x' }, { name: 'x' }, { name: 'a b' }],
  }),
  pod({ schedulingGates: [{ name: 'x.com/a' }], nodeName: 'n' }),
  pod({ hostUsers: false, hostNetwork: true, hostIPC: true }),
  pod({ terminationGracePeriodSeconds: -5 }),
  pod({ serviceAccount: 'old' }),
  pod({ ephemeralContainers: [{ name: 'e', image: 'x' }] }),
  pod({
    containers: [
      { name: 'c', image: 'reg:5000/a/b' },
      { name: 'd', image: 'a:latest' },
      { name: 'e', image: 'UPPER' },
      { name: 'f', image: `a:b@sha256:${'0'.repeat(64)}` },
    ],
  }),
  pod({
    volumes: [
      { name: 'a', iscsi: { targetPortal: 'x', iqn: 'iqn.2001-04.com.example:a', lun: 1 } },
      { name: 'b', rbd: { monitors: ['m'], image: 'i' } },
      { name: 'c', azureDisk: { diskName: 'd', diskURI: 'https://a.blob.core.windows.net/c/d.vhd' } },
      { name: 'd', gitRepo: { repository: 'r' } },
      {
        name: 'e',
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        },
      },
    ],
  }),
  con({
    lifecycle: { preStop: { httpGet: { port: 80 } } },
    livenessProbe: { exec: { command: ['a'] } },
    env: [{ name: 'A', value: null }],
    resources: null,
    ports: [{ containerPort: 80 }],
    stdin: false,
  }),
];
