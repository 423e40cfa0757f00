import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { callerOf, isApiServer } from './callers.ts';

const socket = (subject: object, authorized = true): TLSSocket =>
  ({
    authorized,
    getPeerCertificate: () => ({ subject, valid_to: 'Jan 1 00:00:00 2030 GMT' }),
  }) as unknown as TLSSocket;
const NOW = Date.UTC(2029, 0, 1);
const unauthorized = { code: 401, message: 'Unauthorized' };

describe('who asks an agent', () => {
  test('is known by a certificate for as long as that is good, however long the connection lasts', () => {
    const { user, groups } = callerOf(socket({ CN: 'kube-apiserver', O: 'some' }), NOW);
    assert.deepEqual([user, groups], ['kube-apiserver', ['some']]);
    assert.throws(() => callerOf(socket({ CN: 'kube-apiserver' }), Date.UTC(2031, 0, 1)), unauthorized);
    assert.throws(() => callerOf(socket({ CN: 'kube-apiserver' }, false), NOW), unauthorized);
    assert.throws(() => callerOf(socket({ CN: ['system:node:a', 'kube-apiserver'] }), NOW), unauthorized);
  });

  test('is the API server or an administrator, or has no business there', () => {
    for (const user of ['kube-apiserver-kubelet-client', 'kube-apiserver', 'system:kube-apiserver']) {
      assert.equal(isApiServer({ user, groups: [] }), true, user);
    }
    assert.equal(isApiServer({ user: 'ann', groups: ['system:masters'] }), true);
    assert.equal(isApiServer({ user: 'system:node:a', groups: ['system:nodes'] }), false);
    assert.equal(isApiServer({ user: 'ann', groups: ['kube-apiserver'] }), false);
  });
});
