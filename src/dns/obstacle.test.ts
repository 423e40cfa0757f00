import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerStatus, Pod, PodStatus } from '../api/core/pod.ts';
import { obstacleOf } from './obstacle.ts';

const pod = (status: PodStatus, deletionTimestamp?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    ...{ name: 'dnsmasq-dns-1', uid: '', resourceVersion: '', creationTimestamp: '' },
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  },
  spec: { containers: [] },
  status,
});

const container = (name: string, status: Partial<ContainerStatus>): ContainerStatus => ({
  ...{ name, image: '', imageID: '', ready: false, restartCount: 1 },
  ...status,
});

const ended = (exitCode: number, message: string) => ({ terminated: { exitCode, message } });
const backingOff = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s restarting it' } };

describe('what keeps the servers of a DNSMasq from running', () => {
  it('is what dnsmasq said when it was asked about its options', () => {
    const init = container('init', { state: ended(1, '\ndnsmasq: bad command line options: bad CNAME\n') });
    const said = 'dnsmasq does not take the options: dnsmasq: bad command line options: bad CNAME';
    assert.equal(obstacleOf([pod({ initContainerStatuses: [init] })]), said);
    assert.equal(obstacleOf([pod({ initContainerStatuses: [init] }, '2026-01-01T00:00:00Z')]), undefined);
  });

  it('is what dnsmasq said at last when it started, where it looks at an option only then', () => {
    const lastState = ended(1, 'dnsmasq: started\n\ndnsmasq: --auth-server required when an auth zone is defined.\n');
    const server = container('dnsmasq-dns', { state: backingOff, lastState });
    const init = container('init', { state: ended(0, '') });
    assert.equal(
      obstacleOf([pod({ containerStatuses: [server], initContainerStatuses: [init] })]),
      'dnsmasq does not take the options: dnsmasq: --auth-server required when an auth zone is defined.',
    );
  });

  it('is nothing about options when somebody has killed it, and nothing at all when it runs again', () => {
    const lastState = ended(137, '');
    assert.equal(
      obstacleOf([pod({ containerStatuses: [container('dnsmasq-dns', { state: backingOff, lastState })] })]),
      'container dnsmasq-dns of pod dnsmasq-dns-1 does not run: CrashLoopBackOff, back-off 10s restarting it',
    );
    const running = container('dnsmasq-dns', { state: { running: { startedAt: '' } }, lastState: ended(1, 'x') });
    assert.equal(obstacleOf([pod({ containerStatuses: [running] })]), undefined);
  });

  it('is an image that is not there, or a host', () => {
    const waiting = { reason: 'ErrImagePull', message: 'no such image' };
    assert.equal(
      obstacleOf([pod({ initContainerStatuses: [container('hosts', { state: { waiting } })] })]),
      'container hosts of pod dnsmasq-dns-1 does not run: ErrImagePull, no such image',
    );
    const condition = { type: 'PodScheduled', status: 'False' as const, lastTransitionTime: '', message: '0/3 nodes' };
    assert.equal(obstacleOf([pod({ conditions: [condition] })]), 'there is no host for pod dnsmasq-dns-1: 0/3 nodes');
  });

  it('is nothing while its pods are starting', () => {
    const starting = container('dnsmasq-dns', { state: { waiting: { reason: 'PodInitializing' } } });
    assert.equal(
      obstacleOf([pod({ containerStatuses: [starting], initContainerStatuses: [container('init', {})] })]),
      undefined,
    );
  });
});
