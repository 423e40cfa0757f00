import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { UserInfo } from '../../api/admission.ts';
import { ApiError } from '../../api/status.ts';
import type { Attempt } from '../auth/access.ts';
import { ADMINISTRATORS, internalUser } from '../auth/identity.ts';
import { type Headers, impersonated as judged } from './impersonation.ts';

const access = { mayDo: ({ groups }: UserInfo) => groups.includes(ADMINISTRATORS) };
const impersonated = (asker: UserInfo, headers: Headers) => judged(access, asker, headers);
const admin = internalUser;
const alice = { username: 'alice', groups: ['dev', 'system:authenticated'] };
const refusedWith = (code: number) => (error: unknown) => error instanceof ApiError && error.code === code;

describe('speaking for somebody else', () => {
  test('without headers, one speaks for oneself', () => {
    assert.equal(impersonated(alice, {}), alice);
  });

  test('an administrator is judged as whoever the headers name', () => {
    assert.deepEqual(impersonated(admin, { 'impersonate-user': ['joe'] }), {
      username: 'joe',
      groups: ['system:authenticated'],
    });
    const headers = { 'impersonate-user': ['joe'], 'impersonate-group': ['dev', 'ops'], 'impersonate-uid': ['7'] };
    assert.deepEqual(impersonated(admin, headers), {
      username: 'joe',
      groups: ['dev', 'ops', 'system:authenticated'],
      uid: '7',
    });
  });

  test('a service account is in the groups of service accounts', () => {
    const { groups } = impersonated(admin, { 'impersonate-user': ['system:serviceaccount:one:default'] });
    assert.deepEqual(groups, ['system:serviceaccounts', 'system:serviceaccounts:one', 'system:authenticated']);
  });

  test('nobody at all is not among those who are known', () => {
    const { groups } = impersonated(admin, { 'impersonate-user': ['system:anonymous'] });
    assert.deepEqual(groups, ['system:unauthenticated']);
  });

  test('who may not is refused, also when it would be for a group only', () => {
    assert.throws(() => impersonated(alice, { 'impersonate-user': ['admin'] }), refusedWith(403));
    assert.throws(
      () => impersonated(alice, { 'impersonate-user': ['alice'], 'impersonate-group': ['system:masters'] }),
      refusedWith(403),
    );
  });

  test('what else is said of a user is said with a right for each word of it', () => {
    const headers = {
      'impersonate-user': ['joe'],
      'impersonate-group': ['a, b'],
      'impersonate-extra-scopes': ['view', 'dev'],
      'impersonate-extra-acme.com%2fproject': ['x'],
    };
    assert.deepEqual(impersonated(admin, headers), {
      username: 'joe',
      groups: ['a, b', 'system:authenticated'],
      extra: { scopes: ['view', 'dev'], 'acme.com/project': ['x'] },
    });
    const asked: string[] = [];
    const mayDo = (_: UserInfo, { group, resource, subresource, name }: Attempt) => {
      asked.push(`${group} ${resource}/${subresource} ${name}`);
      return name !== 'dev';
    };
    assert.throws(() => judged({ mayDo }, alice, headers), refusedWith(403));
    assert.deepEqual(asked.slice(2), [
      'authentication.k8s.io userextras/scopes view',
      'authentication.k8s.io userextras/scopes dev',
    ]);
  });

  test('groups without a user are a mistake', () => {
    for (const header of ['impersonate-group', 'impersonate-uid', 'impersonate-extra-scopes']) {
      assert.throws(() => impersonated(admin, { [header]: ['x'] }), refusedWith(400));
    }
  });
});
