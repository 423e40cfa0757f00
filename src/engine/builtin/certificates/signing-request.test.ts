import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../api/json.ts';
import { signingRequests } from './signing-request.ts';

const pem = '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n';
const request = (spec: JsonObject = {}, status: JsonObject = {}): JsonObject => ({
  metadata: { name: 'x' },
  spec: {
    request: Buffer.from(pem).toString('base64'),
    signerName: 'example.com/mine',
    usages: ['client auth'],
    username: 'alice',
    ...spec,
  },
  status,
});
const condition = (type: string, status = 'True'): JsonObject => ({ type, status, reason: 'R', message: 'm' });
const faultsOf = (object: JsonObject, old?: JsonObject): string[] =>
  signingRequests.validate(object, old).map(({ field }) => field);
const shown = (object: JsonObject, name: string) =>
  signingRequests.columns.find((column) => column.name === name)?.cell(object, new Date(0));
const through = (name: string, before: JsonObject, sent: JsonObject): JsonObject =>
  signingRequests.subresources.find((each) => each.name === name)?.write?.(before, sent, 'now') ?? assert.fail();

describe('a certificate signing request', () => {
  it('says what is wanted, from whom, and for what', () => {
    assert.deepEqual(faultsOf(request()), []);
    assert.deepEqual(faultsOf(request({ request: 'AAAA' })), ['spec.request']);
    assert.deepEqual(faultsOf(request({ usages: [] })), ['spec.usages']);
    assert.deepEqual(faultsOf(request({ usages: ['client auth', 'fun', 'client auth'] })), [
      'spec.usages[1]',
      'spec.usages[2]',
    ]);
    for (const signerName of ['', 'plain', 'example.com/', 'a.b/c/d', 'kubernetes.io/legacy-unknown']) {
      assert.deepEqual(faultsOf(request({ signerName })), ['spec.signerName'], signerName);
    }
    assert.deepEqual(faultsOf(request({ expirationSeconds: 599 })), ['spec.expirationSeconds']);
  });

  it('keeps what was asked for', () => {
    const changed = request({ username: 'mallory' });
    signingRequests.prepare(changed, request());
    assert.deepEqual(changed['spec'], request()['spec']);
  });

  it('is decided once, and not both ways', () => {
    const approved = request({}, { conditions: [condition('Approved')] });
    assert.deepEqual(faultsOf(request(), approved), ['status.conditions']);
    const both = request({}, { conditions: [condition('Approved'), condition('Denied')] });
    assert.deepEqual(faultsOf(both, approved), ['status.conditions']);
    assert.deepEqual(faultsOf(request({}, { conditions: [condition('Denied', 'False')] })), [
      'status.conditions[0].status',
    ]);
  });

  it('keeps the certificate that was issued', () => {
    const issued = request({}, { certificate: 'QUJD' });
    assert.deepEqual(faultsOf(request(), issued), ['status.certificate']);
    assert.deepEqual(faultsOf(issued, request()), []);
  });

  it('is approved through /approval alone, where nothing else changes', () => {
    const sent = request({ username: 'x' }, { certificate: 'QUJD', conditions: [condition('Approved')] });
    const decided = through('approval', request(), sent);
    const dates = { lastUpdateTime: 'now', lastTransitionTime: 'now' };
    assert.deepEqual(decided['status'], { conditions: [{ ...condition('Approved'), ...dates }] });
    assert.deepEqual(decided['spec'], request()['spec']);
    const reported = through('status', request(), sent);
    assert.deepEqual(reported['status'], { certificate: 'QUJD' });
  });

  it('shows in tables what has become of it', () => {
    assert.equal(shown(request(), 'Condition'), 'Pending');
    const failed = request({}, { conditions: [condition('Approved'), condition('Failed')] });
    assert.equal(shown(failed, 'Condition'), 'Approved,Failed');
    const issued = request({}, { certificate: 'QUJD', conditions: [condition('Approved')] });
    assert.equal(shown(issued, 'Condition'), 'Approved,Issued');
    assert.equal(shown(request({ expirationSeconds: 3600 }), 'RequestedDuration'), '60m');
  });
});
