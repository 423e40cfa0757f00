import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../command.ts';
import { questionOf } from './question.ts';

const asked = (word: string): string => {
  const question = questionOf(word);
  if (question.is === 'address') return `address ${question.address}`;
  if (question.is === 'prefix') return `prefix ${question.prefix}`;
  return `name ${question.kind ?? 'any'} ${question.name}`;
};
const refused = (word: string, why: RegExp) =>
  assert.throws(
    () => questionOf(word),
    (error) => error instanceof UsageError && why.test(error.message),
    word,
  );

test('an address is understood in every spelling that is not ambiguous', () => {
  for (const spelling of ['172.17.0.80', ' 172.17.0.80 ', '::ffff:172.17.0.80', '[::FFFF:172.17.0.80]']) {
    assert.equal(asked(spelling), 'address 172.17.0.80');
  }
  for (const spelling of ['fd00::80', 'FD00:0:0::0080', '[fd00::80]', 'fd00:0:0:0:0:0:0.0.0.128']) {
    assert.equal(asked(spelling), 'address fd00::80');
  }
});

test('what looks like an address and is none is refused, as nobody has such a name', () => {
  refused('172.17.0.500', /^"172\.17\.0\.500" is not an IP address$/);
  refused('172.17.0.010', /without leading zeros/);
  refused('fe80::1%eth0', /a zone \(%\.\.\.\) has no meaning here/);
  refused('fd00::x', /is not an IP address/);
});

test('a prefix may have host bits set', () => {
  assert.equal(asked('172.17.0.5/28'), 'prefix 172.17.0.0/28');
  assert.equal(asked('fd00::1/64'), 'prefix fd00::/64');
  refused('172.17.0.0/33', /is not an IP prefix/);
  refused('172.17.0.0/', /neither an address/);
});

test('everything else is a name, with or without its kind', () => {
  assert.equal(asked('edpm-compute-0'), 'name any edpm-compute-0');
  assert.equal(asked('ipset/edpm-compute-0'), 'name ipset edpm-compute-0');
  assert.equal(asked('services/keystone.public'), 'name services keystone.public');
  assert.equal(asked('10.0.0'), 'name any 10.0.0');
  refused('', /neither an address/);
  refused('/x', /neither an address/);
});
