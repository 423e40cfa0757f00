import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { shownIdentity } from './shown-identity.ts';

const socket = (subject: Record<string, unknown>, authorized = true): TLSSocket =>
  ({
    authorized,
    getPeerCertificate: () => ({ subject, valid_to: 'Jan 1 00:00:00 2030 GMT' }),
  }) as unknown as TLSSocket;

describe('who shows a certificate', () => {
  test('is the user and the groups that it names, until it ends', () => {
    const until = Date.UTC(2030, 0, 1);
    assert.deepEqual(shownIdentity(socket({ CN: 'ann', O: ['dev', 'ops'] })), {
      user: 'ann',
      groups: ['dev', 'ops'],
      until,
    });
    assert.deepEqual(shownIdentity(socket({ CN: 'ann' })), { user: 'ann', groups: [], until });
  });

  test('is nobody where it names several users, or none, or where somebody else has signed it', () => {
    for (const subject of [{ CN: ['ann', 'bob'], O: 'dev' }, { O: 'dev' }, { CN: '', O: 'dev' }]) {
      assert.equal(shownIdentity(socket(subject)), undefined);
    }
    assert.equal(shownIdentity(socket({ CN: 'ann' }, false)), undefined);
  });
});
