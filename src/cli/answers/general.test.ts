import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '../../api/object.ts';
import { before, ipSet, metadata, NOW, readyIpSet } from './answers.fixture.ts';
import { type ExplainFacts, explainAnswer, isFine } from './explain-answer.ts';
import { explainText } from './explain-text.ts';
import { problem } from './finding.ts';
import type { Owner } from './general.ts';

const explain = (object: ApiObject, more: Partial<ExplainFacts> = {}) =>
  explainAnswer({ object, owners: [], needsController: true, now: NOW, special: [], events: [], ...more });

const plain = (more: Partial<ApiObject['metadata']> = {}, status?: object): ApiObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: metadata('thing', more),
  ...(status === undefined ? {} : { status }),
});

const ownedBy = (object: ApiObject | undefined, owners: readonly Owner[] = []): Owner => ({
  reference: { apiVersion: 'v1', kind: 'IPSet', name: 'parent', uid: 'uid-parent' },
  namespace: 'openstack',
  object,
  owners,
});

test('an object whose Ready condition holds is fine', () => {
  const answer = explain(readyIpSet('compute-0', '172.17.0.10'));
  assert.equal(answer.says, 'IPSet compute-0 in namespace openstack is Ready');
  assert.deepEqual([answer.ready, answer.findings, isFine(answer)], [true, [], true]);
});

test('an object without readiness is fine as long as nothing is wrong with it', () => {
  const fine = explain(plain(), { needsController: false });
  assert.deepEqual([fine.ready, isFine(fine)], [null, true]);
  assert.equal(
    fine.says,
    'Thing thing in namespace openstack has no readiness of its own, and nothing is wrong with it',
  );
  const special = [problem({ kind: 'Thing', namespace: 'openstack', name: 'thing' }, 'it is bent')];
  assert.equal(isFine(explain(plain(), { needsController: false, special })), false);
});

test('where nothing is known at first hand, the conditions that do not hold are the reason', () => {
  const conditions = [
    { type: 'Ready', status: 'False', message: 'no parent', lastTransitionTime: before(9) },
    { type: 'ParentReady', status: 'False', message: 'no parent', lastTransitionTime: before(9) },
    { type: 'InputReady', status: 'True', lastTransitionTime: before(9) },
  ];
  const { findings } = explain(plain({}, { conditions }));
  assert.deepEqual(
    findings.map(({ says }) => says),
    ['ParentReady does not hold: no parent'],
  );
});

test('conditions that are unwelcome are told when they hold', () => {
  const conditions = [
    { type: 'Ready', status: 'True', lastTransitionTime: before(9) },
    { type: 'Full', status: 'False', lastTransitionTime: before(9) },
    { type: 'Overlaps', status: 'True', message: 'with pool vips', lastTransitionTime: before(9) },
  ];
  const answer = explain(plain({}, { conditions }));
  assert.deepEqual(
    answer.findings.map(({ severity, says }) => [severity, says]),
    [['note', 'Overlaps: with pool vips']],
  );
  assert.equal(isFine(answer), true);
});

test('a status that nobody has written for some seconds means that no controller acts', () => {
  const { status: _, ...silent } = ipSet('compute-0', {}, { creationTimestamp: before(60) });
  const [finding] = explain(silent).findings;
  assert.match(
    finding?.says ?? '',
    /^nothing has written a status for IPSet compute-0, .* 60 seconds ago: no controller seems to act$/,
  );
  assert.match(finding?.remedies[0] ?? '', /^start "netloom up"/);
  const { status: __, ...fresh } = ipSet('compute-0', {}, { creationTimestamp: before(1) });
  assert.match(explain(fresh).findings[0]?.says ?? '', /has not been looked at yet$/);
});

test('a status about an earlier generation is no readiness', () => {
  const changed = readyIpSet('compute-0', '172.17.0.10', {
    generation: 2,
    managedFields: [
      {
        manager: 'kubectl',
        operation: 'Update',
        apiVersion: 'v1',
        time: before(30),
        fieldsType: 'FieldsV1',
        fieldsV1: {},
      },
    ],
  });
  const answer = explain(changed);
  assert.equal(answer.ready, false);
  assert.equal(
    answer.findings[0]?.says,
    'the status of IPSet compute-0 is about generation 1, but it is at 2 by now, which was changed 30 seconds ago: no controller seems to act',
  );
});

test('an object that is going names every finalizer, who takes it away, and the way out', () => {
  const going = plain({ deletionTimestamp: before(120), finalizers: ['foregroundDeletion', 'example.com/clean-up'] });
  const answer = explain(going, { needsController: false });
  assert.equal(answer.ready, false);
  assert.equal(
    explainText(answer, NOW),
    `Thing thing in namespace openstack is being deleted

Why:
  Thing thing is being deleted since 2026-01-01T00:58:00Z (2 minutes ago), and stays until its finalizers are gone: foregroundDeletion, example.com/clean-up
    foregroundDeletion goes once everything that it owns is gone
    example.com/clean-up was set by somebody who has to clean up first
    → let whoever set example.com/clean-up on Thing thing finish; if nobody ever will, take it away: kubectl patch thing thing -n openstack --type=json -p '[{"op":"remove","path":"/metadata/finalizers/1"}]'`,
  );
});

test('a finalizer of ours that stays means that no controller acts', () => {
  const going = (seconds: number) =>
    explain(ipSet('compute-0', {}, { deletionTimestamp: before(seconds), finalizers: ['openstack.org/ipset'] }));
  assert.match(going(60).remedies[0] ?? '', /^start "netloom up"/);
  assert.deepEqual(going(1).remedies, []);
});

test('the chain goes up through owners that are not Ready, gone or going', () => {
  const says = (owner: Owner) => explain(readyIpSet('child', '172.17.0.10'), { owners: [owner] }).findings[0]?.says;
  assert.equal(
    says(ownedBy(undefined)),
    'it belongs to IPSet parent, which does not exist any more: it will be collected',
  );
  assert.equal(says(ownedBy(ipSet('parent'))), 'it belongs to IPSet parent, which is not Ready: no address');
  assert.equal(says(ownedBy(readyIpSet('parent', '172.17.0.11'))), 'it belongs to IPSet parent, which is Ready');
  assert.equal(
    says(ownedBy(ipSet('parent', {}, { deletionTimestamp: before(9) }))),
    'it belongs to IPSet parent, which is going',
  );
  const above = ownedBy(ipSet('grandparent'));
  const { findings } = explain(readyIpSet('child', '172.17.0.10'), { owners: [ownedBy(plain(), [above])] });
  assert.equal(findings[0]?.because[0]?.says, 'it belongs to IPSet grandparent, which is not Ready: no address');
});

test('a status that is no status is read as none', () => {
  for (const status of [[], 'Ready', { conditions: 'all' }, { conditions: [null, 7, { type: 3 }] }]) {
    assert.doesNotThrow(() => explainText(explain({ ...plain(), ...{ status } }), NOW));
  }
});

test('what others have written cannot tear lines apart or speak to the terminal', () => {
  const conditions = [{ type: 'Ready', status: 'False', message: 'one\n\u001b[2Jtwo', lastTransitionTime: before(9) }];
  const text = explainText(explain(plain({}, { conditions })), NOW);
  assert.match(text, /^ {2}Ready does not hold: one \[2Jtwo$/m);
});

test('a namespace that is going names what it still has in it', () => {
  const message = 'Some resources are remaining: configmaps has 1 resource instances';
  const namespace = {
    ...plain({ deletionTimestamp: before(9) }),
    kind: 'Namespace',
    status: {
      conditions: [
        { type: 'NamespaceContentRemaining', status: 'True', message, lastTransitionTime: before(9) },
        { type: 'NamespaceDeletionContentFailure', status: 'False', message: 'ok', lastTransitionTime: before(9) },
      ],
    },
  };
  const [finding] = explain(namespace, { needsController: false }).findings;
  assert.match(finding?.says ?? '', /and stays until everything in it is gone$/);
  assert.deepEqual(
    finding?.because.map(({ says }) => says),
    [message],
  );
});

test('a finalizer of ours that waits for others is no reason to call for controllers', () => {
  const going = plain({ deletionTimestamp: before(600), finalizers: ['netloom.io/addresses-in-use'] });
  const [finding] = explain(going, { needsController: false }).findings;
  assert.deepEqual(
    finding?.because.map(({ severity, says }) => `${severity}: ${says}`),
    ['note: netloom.io/addresses-in-use goes once no Service has an address of it any more'],
  );
});
