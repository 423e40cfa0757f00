import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitWarnings } from './limit-warnings.ts';
import { podWith } from './pod.fixture.ts';

const pod = podWith({});

test('a container within its limits is not worth a word', () => {
  assert.deepEqual(limitWarnings(pod, { name: 'main' }), []);
});

test('each limit that the host cannot set is named', () => {
  assert.deepEqual(
    limitWarnings(pod, { name: 'main', unlimited: ['memory', 'pids'] }).map(({ message }) => message),
    [
      'this host cannot limit memory: its cgroups have no controller for it, so container main runs without that limit',
      'this host cannot limit the number of processes: its cgroups have no controller for it, so container main runs without that limit',
    ],
  );
});

test('a pod that has come to its limit of processes says how many these are', () => {
  assert.deepEqual(limitWarnings(pod, { name: 'main', refusedProcesses: true }), [
    {
      reason: 'ProcessLimitReached',
      message: 'the pod has as many processes as it may, 4096: the kernel refuses to start more in it',
    },
  ]);
});
