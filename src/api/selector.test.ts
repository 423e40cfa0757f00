import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { everything, labelSelector, nothing, parseLabelSelector } from './selector.ts';

const faultOf = (text: string): string => {
  try {
    parseLabelSelector(text);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'no fault';
};

const WEB = { app: 'web', tier: 'front', 'example.com/size': '3' };
for (const [text, expected] of [
  ['', true],
  ['app=web', true],
  ['app==web', true],
  ['app = api', false],
  ['app!=api', true],
  ['gone!=x', true],
  ['app', true],
  ['!app', false],
  ['!gone', true],
  ['app in (api,web)', true],
  ['app notin (api,web)', false],
  ['gone notin (x)', true],
  ['gone in ()', false],
  ['app=web,tier=front', true],
  ['app=web , tier=back', false],
  ['example.com/size>2', true],
  ['example.com/size<3', false],
  ['app>2', false],
  ['in in (in)', false],
] as const) {
  test(`the selector '${text}' ${expected ? 'matches' : 'does not match'}`, () => {
    assert.equal(parseLabelSelector(text).matches(WEB), expected);
  });
}

test('an omitted value is the empty string', () => {
  assert.equal(parseLabelSelector('a=').matches({ a: '' }), true);
  assert.equal(parseLabelSelector('a in (,b)').matches({ a: '' }), true);
});

test('an object without labels is matched by what asks for absence only', () => {
  assert.equal(parseLabelSelector('!a').matches(undefined), true);
  assert.equal(parseLabelSelector('a').matches(undefined), false);
});

test('names that every object inherits are no labels', () => {
  assert.equal(parseLabelSelector('constructor').matches({}), false);
});

for (const [text, fault] of [
  ['a=b=c', "found '=', expected: ',' or 'end of string'"],
  ['a,', "found '', expected: identifier after ','"],
  [',a', "found ',', expected: !, identifier, or 'end of string'"],
  ['a in b', "unable to parse requirement: found 'b' expected: '('"],
  ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
  ['!', "unable to parse requirement: found '', expected: identifier"],
  ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ['a=(', "unable to parse requirement: found '(', expected: identifier"],
  [
    'a>x',
    `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
  ],
] as const) {
  test(`the selector '${text}' is refused`, () => assert.equal(faultOf(text), fault));
}

test('a key or value that no label can have is refused with the rule', () => {
  assert.match(
    faultOf('a/b/c=d'),
    /^unable to parse requirement: <nil>: Invalid value: "a\/b\/c": a qualified name must consist/,
  );
  assert.match(
    faultOf('a=-'),
    /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "-": a valid label must be an empty string/,
  );
});

test('the object form means the same as the text form', () => {
  const form = labelSelector({
    matchLabels: { app: 'web' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['front', 'back'] },
      { key: 'gone', operator: 'DoesNotExist' },
    ],
  });
  assert.equal(form.matches(WEB), true);
  assert.equal(form.matches({ ...WEB, gone: '' }), false);
});

test('no object form selects nothing, an empty one everything', () => {
  assert.equal(labelSelector(undefined).matches(WEB), nothing.matches(WEB));
  assert.equal(labelSelector({}).matches(WEB), everything.matches(WEB));
});

test('an object form with an unknown operator is refused', () => {
  assert.throws(() => labelSelector({ matchExpressions: [{ key: 'a', operator: 'Near' }] }), {
    message: '"Near" is not a valid label selector operator',
  });
  assert.throws(() => labelSelector({ matchExpressions: [{ key: 'a', operator: 'In' }] }), {
    message: "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
  });
});

test('whatever is written, it is a selector or a sentence', () => {
  const soup = fc.string({
    unit: fc.constantFrom('a', '/', '=', '!', '(', ')', ',', ' ', 'in', '<', '"', '\\'),
    maxLength: 20,
  });
  fc.assert(
    fc.property(soup, (text) => {
      assert.match(faultOf(text), /^(no fault|found '|unable to parse requirement: )/);
    }),
  );
});

test('any set of labels is selected by writing it down', () => {
  const labels = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.stringMatching(/^[a-z0-9]{0,5}$/));
  fc.assert(
    fc.property(labels, labels, (wanted, others) => {
      const text = Object.entries(wanted)
        .map(([key, value]) => `${key}=${value}`)
        .join(',');
      assert.equal(parseLabelSelector(text).matches({ ...others, ...wanted }), true);
      assert.equal(labelSelector({ matchLabels: wanted }).matches({ ...others, ...wanted }), true);
    }),
  );
});
