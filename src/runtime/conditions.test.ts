import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Condition } from '../api/condition.ts';
import { Conditions, readyOf } from './conditions.ts';

const about = { InputReady: 'Input data not checked', DeploymentReady: 'Deployment not started' };
const T0 = Date.UTC(2026, 0, 1);
const at = (seconds: number): string => new Date(T0 + seconds * 1000).toISOString().replace('.000', '');

const conditions = ({ before, seconds = 0 }: { before?: Condition[]; seconds?: number } = {}): Conditions =>
  new Conditions({ about, before, now: T0 + seconds * 1000 });
const brief = (list: readonly Condition[]): string[] =>
  list.map(({ type, status, severity, reason, message }) => [type, status, severity ?? '', reason, message].join('|'));

describe('conditions', () => {
  it('say at first that nothing is known: Ready in front, the others by name', () => {
    assert.deepEqual(brief(conditions().list()), [
      'Ready|Unknown||Init|Deployment not started',
      'DeploymentReady|Unknown||Init|Deployment not started',
      'InputReady|Unknown||Init|Input data not checked',
    ]);
  });

  it('are Ready when all others are met', () => {
    const now = conditions();
    now.met('InputReady', 'Input data complete');
    assert.equal(now.allMet, false);
    now.met('DeploymentReady', 'Deployment completed');
    assert.equal(now.allMet, true);
    assert.equal(brief(now.list())[0], 'Ready|True||Ready|Setup complete');
  });

  it('show at Ready what matters most: errors, then warnings, then waiting, then what is unknown', () => {
    const now = conditions();
    now.met('InputReady', 'Input data complete');
    assert.equal(brief(now.list())[0], 'Ready|Unknown||Init|Deployment not started');
    now.waiting('DeploymentReady', 'Deployment in progress');
    assert.equal(brief(now.list())[0], 'Ready|False|Info|Requested|Deployment in progress');
    now.failed('InputReady', 'no such secret');
    assert.equal(brief(now.list())[0], 'Ready|False|Warning|Error|no such secret');
    now.failed('DeploymentReady', 'broken for good', { severity: 'Error', reason: 'CreationFailed' });
    assert.equal(brief(now.list())[0], 'Ready|False|Error|CreationFailed|broken for good');
  });

  it('show at Ready what happened last among what matters alike', () => {
    const first = conditions();
    first.failed('InputReady', 'old trouble');
    const second = conditions({ before: first.list(), seconds: 60 });
    second.failed('InputReady', 'old trouble');
    second.failed('DeploymentReady', 'new trouble');
    assert.equal(readyOf(second.list())?.message, 'new trouble');
  });

  it('keep their time for as long as they say the same', () => {
    const first = conditions();
    first.met('InputReady', 'Input data complete');
    const second = conditions({ before: first.list(), seconds: 60 });
    second.met('InputReady', 'Input data complete');
    second.waiting('DeploymentReady', 'Deployment in progress');
    const times = Object.fromEntries(second.list().map(({ type, lastTransitionTime }) => [type, lastTransitionTime]));
    assert.deepEqual(times, { Ready: at(60), DeploymentReady: at(60), InputReady: at(0) });
  });

  it('are all rebuilt: what is not spoken of any more is gone', () => {
    const before: Condition[] = [{ type: 'Obsolete', status: 'True', lastTransitionTime: at(0) }];
    assert.ok(
      !conditions({ before })
        .list()
        .some(({ type }) => type === 'Obsolete'),
    );
  });

  it('have a severity only when they are not met, and the reason Ready when they are', () => {
    const now = conditions();
    now.set('InputReady', { status: 'True', severity: 'Error', reason: 'Else', message: 'fine' });
    now.set('DeploymentReady', { status: 'Unknown', severity: 'Info', reason: 'Init', message: 'who knows' });
    assert.deepEqual(brief(now.list()).slice(1), [
      'DeploymentReady|Unknown||Init|who knows',
      'InputReady|True||Ready|fine',
    ]);
  });

  it('mirror a condition of a child, and nothing of a child that says nothing', () => {
    const now = conditions();
    const child: Condition = {
      type: 'Ready',
      status: 'False',
      severity: 'Warning',
      reason: 'Error',
      message: 'x',
      lastTransitionTime: at(-5),
    };
    now.mirror('DeploymentReady', child);
    now.mirror('InputReady', undefined);
    assert.deepEqual(brief(now.list()).slice(1), [
      'DeploymentReady|False|Warning|Error|x',
      'InputReady|Unknown||Init|Input data not checked',
    ]);
  });

  it('let Ready be said in words of its own', () => {
    const now = conditions();
    now.set('Ready', { status: 'False', severity: 'Info', reason: 'Deleting', message: 'in use by a' });
    assert.equal(brief(now.list())[0], 'Ready|False|Info|Deleting|in use by a');
  });
});
