import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HostSigns } from './host-signs.ts';

/** `+` is a question that was answered, `.` one that was not; the result marks silence after each with `s`. */
function judged(questions: string): string {
  const signs = new HostSigns();
  let before = false;
  return [...questions]
    .map((question) => {
      const changed = signs.tell('host', question === '+');
      const isSilent = signs.isSilent('host');
      assert.equal(changed, isSilent !== before);
      before = isSilent;
      return isSilent ? 's' : '-';
    })
    .join('');
}

describe('a host is', () => {
  it('silent after three questions without an answer, and not before', () => {
    assert.equal(judged('++...'), '----s');
    assert.equal(judged('+..+..+..'), '---------');
  });

  it('heard again after two answers in a row', () => {
    assert.equal(judged('+...+.+.++'), '---ssssss-');
  });

  it('not judged before it has ever answered', () => {
    assert.equal(judged('......+...'), '---------s');
  });

  it('not known any more when it was forgotten', () => {
    const signs = new HostSigns();
    for (const answer of [true, false, false, false]) signs.tell('host', answer);
    assert.ok(signs.isSilent('host'));
    signs.forget('host');
    assert.ok(!signs.isSilent('host'));
    for (let i = 0; i < 5; i += 1) assert.ok(!signs.tell('host', false));
  });
});
