import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '../../src/api/json.ts';
import { anonymous } from '../../src/engine/auth/identity.ts';
import { at, configMap, EngineInTest, MAPS } from './engine-in-test.ts';

const alice = { username: 'alice', groups: ['dev', 'system:authenticated'] };

describe('access to the engine', () => {
  let api: EngineInTest;
  before(async () => {
    api = await EngineInTest.start();
  });
  after(() => api.stop());

  test('who is no administrator is refused with what was tried', async () => {
    const refused = await api.as(alice).request({ method: 'GET', path: MAPS });
    assert.equal(refused.status, 403);
    assert.equal(
      refused.body['message'],
      'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace "default"',
    );
    const write = await api.as(alice).request({ method: 'POST', path: MAPS, body: configMap('x') });
    assert.equal(write.status, 403);
  });

  test('anyone may ask for health and version, and nothing else', async () => {
    const nobody = api.as(anonymous);
    for (const path of ['/healthz', '/livez', '/readyz', '/version']) {
      assert.equal((await nobody.request({ method: 'GET', path })).status, 200);
    }
    for (const path of ['/metrics', '/api', '/openapi/v3', MAPS]) {
      assert.equal((await nobody.request({ method: 'GET', path })).status, 403);
    }
  });

  test('one can ask what one may do, and who one is', async () => {
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb: 'list', resource: 'pods' } },
    };
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const mine = await api.post(path, review);
    assert.equal(mine.status, 201);
    assert.equal(at(mine.body, 'status.allowed'), true);
    const who = await api.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
    });
    assert.equal(at(who.body, 'status.userInfo.username'), 'system:netloom');
  });

  test('who is known may ask what there is and what they may do, whatever the answer', async () => {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const asks = async (spec: JsonObject) => {
      const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec };
      const answer = await api.as(alice).request({ method: 'POST', path, body });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      return at(answer.body, 'status.allowed');
    };
    assert.equal(await asks({ resourceAttributes: { verb: 'list', resource: 'pods' } }), false);
    assert.equal(await asks({ nonResourceAttributes: { verb: 'get', path: '/metrics' } }), false);
    assert.equal(await asks({ nonResourceAttributes: { verb: 'get', path: '/version' } }), true);
    for (const document of ['/api', '/apis', '/apis/apps/v1', '/openapi/v3']) {
      assert.equal((await api.as(alice).request({ method: 'GET', path: document })).status, 200);
    }
  });

  test('metrics count what was answered', async () => {
    await api.get(MAPS);
    const { body } = await api.get('/metrics');
    assert.match(String(body['message']), /netloom_engine_requests_total\{method="GET",code="200"\} \d+/);
    assert.match(String(body['message']), /netloom_engine_objects\{resource="configmaps"\} \d+/);
  });
});
