import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bridgeVlanRequests } from './bridge-vlans.ts';

const DELETE = 17;
const SET = 19;

/** What is said after the header, which names the port. */
const said = (requests: ReturnType<typeof bridgeVlanRequests>) =>
  requests.map(({ type, body }) => [type, Buffer.concat(body).toString('hex', 16)]);

test('VLANs of a port are written as bridge(8) writes them', () => {
  assert.equal(
    Buffer.concat(bridgeVlanRequests(3, { untagged: 'native', tagged: [20] })[0]?.body ?? []).toString('hex', 0, 16),
    '07000000030000000000000000000000',
  );
  // bridge vlan add dev PORT vid 20; … vid 21
  assert.deepEqual(said(bridgeVlanRequests(3, { untagged: 'native', tagged: [20, 21] })), [
    [SET, '0c001a000800020000001400'],
    [SET, '0c001a000800020000001500'],
  ]);
  // bridge vlan del dev PORT vid 1; bridge vlan add dev PORT vid 20 pvid untagged
  assert.deepEqual(said(bridgeVlanRequests(3, { untagged: 20, tagged: [] })), [
    [DELETE, '0c001a000800020000000100'],
    [SET, '0c001a000800020006001400'],
  ]);
  assert.deepEqual(said(bridgeVlanRequests(3, { untagged: 'none', tagged: [] })), [
    [DELETE, '0c001a000800020000000100'],
  ]);
});
