import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cutLinks, hasCarrier, healed, isManagementCut, killed, type LabFaults, NO_FAULTS } from './faults.ts';
import type { PlannedHost, PlannedLink } from './plan/lab-plan.ts';
import { planned } from './plan/planned.fixture.ts';

const plan = planned('lab: l\nswitches: { rack: }\nhosts: [a, b]\nlinks: [ a:eth1 -- b:eth1 ]');
const [a, b] = plan.hosts as [PlannedHost, PlannedHost];

/** `HOST:LINK` of all that have a carrier. */
const whole = (faults: LabFaults): string[] =>
  [a, b].flatMap((host) => [
    ...(isManagementCut(faults, host.name) ? [] : [`${host.name}:management`]),
    ...host.links
      .filter((link: PlannedLink) => hasCarrier(faults, host.name, link))
      .map(({ name }) => `${host.name}:${name}`),
  ]);
const all = ['a:management', 'a:rack', 'a:eth1', 'b:management', 'b:rack', 'b:eth1'];

describe('what is broken in a lab', () => {
  test('is nothing at first', () => assert.deepEqual(whole(NO_FAULTS), all));

  test('a link is cut alone, a cable at both of its ends, and whichever end heals it', () => {
    assert.deepEqual(
      whole(cutLinks(NO_FAULTS, a, 'rack')),
      all.filter((name) => name !== 'a:rack'),
    );
    const cut = cutLinks(NO_FAULTS, a, 'eth1');
    assert.deepEqual(
      whole(cut),
      all.filter((name) => !name.endsWith(':eth1')),
    );
    assert.deepEqual(whole(healed(cut, b, 'eth1')), all);
    assert.deepEqual(whole(healed(cut, a, 'eth1')), all);
    assert.deepEqual(whole(healed(cut, a, 'rack')), whole(cut));
  });

  test('without a link, all of the host are cut, the one to the API too', () => {
    const cut = cutLinks(NO_FAULTS, a, undefined);
    assert.deepEqual(whole(cut), ['b:management', 'b:rack']);
    assert.deepEqual(whole(healed(cut, a, undefined)), all);
    assert.equal(cutLinks(cut, a, 'rack').cut.length, cut.cut.length);
  });

  test('at the other end of a cable to a dead host there is no carrier, until it lives again', () => {
    const dead = killed(killed(NO_FAULTS, 'b'), 'b');
    assert.deepEqual(dead.dead, ['b']);
    assert.ok(!whole(dead).includes('a:eth1'));
    assert.deepEqual(healed(dead, b, 'rack').dead, ['b'], 'a link alone does not bring it back');
    assert.deepEqual(whole(healed(dead, b, undefined)), all);
  });
});
