import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Prefix } from '../api/prefix.ts';
import { conflicts } from './claims.ts';
import { chooseManagementSubnet } from './management-subnet.ts';
import { planned } from './plan/planned.fixture.ts';
import type { LabRecord } from './state/record.ts';

const lab = (name: string, hosts: string, { management = '198.18.0.0/24', subnet = '10.0.0.0/24' } = {}) =>
  planned(`lab: ${name}\nswitches: { rack: { subnet: ${subnet} } }\nhosts: [${hosts}]`, management);
const record = (plan: LabRecord['plan'], server = 'https://one'): LabRecord => ({
  ...{ plan, file: '/x.yaml', complete: true },
  api: { kubeconfig: '/k', server },
});

describe('a lab beside others', () => {
  test('is told who has the names and networks that it wants', () => {
    const there = [
      record(lab('there', 'a, b')),
      record(lab('a-b', 'c', { management: '198.18.9.0/24' }), 'https://other'),
    ];
    assert.deepEqual(conflicts(lab('here', 'b', { management: '198.18.0.0/25' }), 'https://one', there), [
      'the host b of the lab there is a Node of the same cluster: rename one of them, or give this lab an API of its own with --kubeconfig',
      'the management network 198.18.0.0/25 overlaps 198.18.0.0/24, that of the lab there: choose another one',
      '10.0.0.0/24 of the switch rack overlaps 10.0.0.0/24 of the switch rack in the lab there, whose hosts are in the same cluster: choose another network',
    ]);
    assert.deepEqual(conflicts(lab('a', 'b-c, b', { management: '198.18.1.0/24' }), 'https://new', there.slice(1)), [
      'the host b-c of the lab a would have the namespace netloom-lab-a-b-c, which is that of the host c of the lab a-b: rename one of them',
      'the host b of the lab a would have the namespace netloom-lab-a-b, which is that of the lab a-b: rename one of them',
    ]);
  });

  test('may have the networks and names of another one whose hosts are in another cluster, or in none', () => {
    const there = [record(lab('there', 'a'))];
    const here = lab('here', 'a, b', { management: '198.18.1.0/24' });
    assert.deepEqual(conflicts(here, 'https://two', there), []);
    assert.deepEqual(conflicts(here, undefined, there), []);
  });

  test('gets the same management network each time, unless somebody has it', () => {
    const first = chooseManagementSubnet('cloud', []) as Prefix;
    assert.equal(`${chooseManagementSubnet('cloud', [])}`, `${first}`);
    assert.ok(Prefix.parse('198.18.0.0/15')?.contains(first.first));
    const second = chooseManagementSubnet('cloud', [{ subnet: first, by: 'eth0' }]) as Prefix;
    assert.ok(!second.overlaps(first));
    assert.equal(
      chooseManagementSubnet('cloud', [{ subnet: Prefix.parse('198.18.0.0/15') as Prefix, by: 'eth0' }]),
      undefined,
    );
  });
});
