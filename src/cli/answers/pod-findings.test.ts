import assert from 'node:assert/strict';
import { test } from 'node:test';
import { before, NOW, node, notReady, pod, told } from './answers.fixture.ts';
import { remediesOf } from './finding.ts';
import { nodeFindings } from './node-findings.ts';
import { type PodFacts, podFindings } from './pod-findings.ts';

const findings = (facts: Partial<PodFacts> = {}) =>
  podFindings({ pod: pod('web'), node: node(), warning: undefined, now: NOW, ...facts });

test('of a pod that is Ready, and of one that is going, there is nothing to say', () => {
  assert.deepEqual(findings(), []);
  const going = pod('web', { status: notReady({}), meta: { deletionTimestamp: before(1) } });
  assert.deepEqual(findings({ pod: going }), []);
});

test('a pod that has done its work is no trouble', () => {
  const done = pod('web', { status: { ...notReady({}), phase: 'Succeeded' } });
  assert.deepEqual(told(findings({ pod: done })), ['note: its containers have done their work and ended']);
});

test('a pod that no node takes says why, and what would help', () => {
  const pending = (reason: string, message: string, spec = {}) => {
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason,
      message,
      lastTransitionTime: before(9),
    } as const;
    const { nodeName: _, ...rest } = pod('web').spec;
    const waiting = pod('web', { status: { phase: 'Pending', conditions: [condition] } });
    return findings({ pod: { ...waiting, spec: { ...rest, ...spec } }, node: undefined });
  };
  const none = pending('Unschedulable', 'no nodes available to schedule pods');
  assert.deepEqual(told(none), ['problem: no node takes it: no nodes available to schedule pods']);
  assert.match(remediesOf(none).join(), /^make this machine a node, as root: netloom agent/);
  const full = pending('Unschedulable', '0/2 nodes are available: 2 Insufficient memory.');
  assert.deepEqual(told(full), ['problem: no node takes it: 0/2 nodes are available: 2 Insufficient memory.']);
  assert.match(remediesOf(full).join(), /netloom describe nodes/);
  assert.deepEqual(told(pending('SchedulingGated', '', { schedulingGates: [{ name: 'example.com/quota' }] })), [
    'problem: it is held back by its scheduling gates: example.com/quota',
  ]);
});

test('a pod on a node that is gone or silent is explained by the node', () => {
  const waiting = pod('web', { status: notReady({}) });
  assert.deepEqual(told(findings({ pod: waiting, node: undefined })), [
    'problem: its node host-0 does not exist any more',
  ]);
  const silent = node('host-0', [
    {
      type: 'Ready',
      status: 'Unknown',
      message: 'The host does not renew its Lease any more',
      lastTransitionTime: before(20),
      lastHeartbeatTime: before(30),
    },
  ]);
  const lost = findings({ pod: waiting, node: silent });
  assert.deepEqual(told(lost), [
    'problem: its node host-0 is not Ready',
    '  problem: The host does not renew its Lease any more; it was last heard of 30 seconds ago',
  ]);
  assert.deepEqual(remediesOf(lost), ['start its agent (again) on the host: netloom agent --name host-0']);
});

test('a container that does not run, or not well, is told of with its last end and where it wrote', () => {
  const expected: [Parameters<typeof notReady>[0], string | undefined, string[]][] = [
    [
      {
        state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s' } },
        lastState: { terminated: { exitCode: 1, reason: 'Error', finishedAt: before(12) } },
        restartCount: 3,
      },
      undefined,
      [
        'problem: container web waits: CrashLoopBackOff: back-off 40s',
        '  note: it ended 12 seconds ago with exit code 1 (Error), and was started anew 3 times',
      ],
    ],
    [
      { state: { waiting: { reason: 'ContainerCreating' } } },
      'volume page: there is no ConfigMap "page"',
      ['problem: container web waits: ContainerCreating: volume page: there is no ConfigMap "page"'],
    ],
    [
      { state: { running: { startedAt: before(5) } } },
      'Readiness probe failed: connection refused',
      ['problem: container web runs, but is not ready', '  note: Readiness probe failed: connection refused'],
    ],
    [
      { state: { terminated: { exitCode: 137, reason: 'OOMKilled' } } },
      undefined,
      ['problem: container web has ended', '  note: it ended with exit code 137 (OOMKilled)'],
    ],
  ];
  for (const [status, warning, lines] of expected) {
    assert.deepEqual(told(findings({ pod: pod('web', { status: notReady(status) }), warning })), lines);
  }
  const [crashing] = findings({ pod: pod('web', { status: notReady(expected[0]?.[0] ?? {}) }) });
  assert.deepEqual(crashing?.remedies, ['read what it wrote: netloom logs web -c web --previous -n openstack']);
});

test('containers that come first are what the others wait for', () => {
  const status = {
    ...notReady({ state: { waiting: { reason: 'PodInitializing' } } }),
    initContainerStatuses: ['first', 'second'].map((name, i) => ({
      name,
      image: '',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: i === 0 ? { terminated: { exitCode: 0 } } : { terminated: { exitCode: 2 } },
    })),
  };
  assert.deepEqual(told(findings({ pod: pod('web', { status }) })), [
    'problem: container second has ended',
    '  note: it ended with exit code 2',
  ]);
});

test('a readiness gate counts as much as a container', () => {
  const status = { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: before(9) } as const] };
  const gated = pod('web', { status, spec: { readinessGates: [{ conditionType: 'example.com/vip' }] } });
  assert.deepEqual(told(findings({ pod: gated })), [
    'problem: its readiness gate example.com/vip does not hold: nobody has set it',
  ]);
});

test('a Node tells whether it is heard of, what it keeps away, and how much is on it', () => {
  assert.deepEqual(told(nodeFindings({ node: node(), pods: 1, now: NOW })), ['note: one pod is on it']);
  const kept = node(
    'host-0',
    [{ type: 'DiskPressure', status: 'True', message: 'the disk is full', lastTransitionTime: '' }],
    {
      unschedulable: true,
      taints: [
        { key: 'dedicated', value: 'dns', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
      ],
    },
  );
  assert.deepEqual(told(nodeFindings({ node: kept, pods: 0, now: NOW })), [
    'problem: its host has never said how it is',
    'problem: DiskPressure: the disk is full',
    'note: it takes no new pods until somebody says: kubectl uncordon host-0',
    'note: pods without a toleration keep away from it: dedicated=dns:NoSchedule',
    'note: 0 pods are on it',
  ]);
});
