import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileRegexp, Regexp } from './regexp.ts';

const matches = (pattern: string, text: string) => new Regexp(pattern).test(text);

for (const [pattern, yes, no] of [
  ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', ['a', 'a-1', '0'], ['', '-a', 'a-', 'A', 'a\n']],
  ['b', ['abc'], ['acd']],
  ['', ['', 'x'], []],
  ['^$', [''], ['\n']],
  ['a|bc|', ['a', 'x'], []],
  ['^(ab|c)+$', ['ababc', 'c'], ['aab', '']],
  ['^a{2}$', ['aa'], ['a', 'aaa']],
  ['^a{2,}$', ['aa', 'aaa'], ['a']],
  ['^a{1,2}?$', ['a', 'aa'], ['', 'aaa']],
  ['^{a}{,2}$', ['{a}{,2}'], ['a']],
  ['^x{2}{$', ['xx{'], ['xx']],
  ['^.$', ['a', '😀'], ['', '\n', 'ab']],
  ['(?s)^.$', ['\n'], ['ab']],
  ['(?m)^b$', ['a\nb\nc'], ['ab']],
  ['^b$', ['b'], ['a\nb\nc']],
  ['(?i)^straße$', ['STRAẞE'], ['strasse']],
  ['(?i)^k[s]$', ['KS', '\u212aſ'], ['k']],
  ['a(?i)b|c', ['aB', 'C'], ['Ab']],
  ['a(?i:b)c', ['aBc'], ['aBC']],
  ['(?i-i)a', ['a'], ['A']],
  ['^\\d\\D\\s\\S\\w\\W$', ['1a b_-'], ['1ab']],
  ['^[\\d.]+$', ['1.2'], ['1,2']],
  ['^[^a]$', ['b', '\n'], ['a', '']],
  ['^[]a-]+$', ['a]-'], ['b']],
  ['^[[:alpha:][:^digit:]-]$', ['a', '-', 'ß'], ['1']],
  ['^\\p{Greek}\\pL\\P{L}$', ['αβ1'], ['aβ1', 'αβγ']],
  ['^[\\p{^Lu}]$', ['a'], ['A']],
  ['^\\Qa.b*\\E*$', ['a.b***', 'a.b'], ['axb']],
  ['\\x41\\x{1F600}\\101\\n', ['A😀A\n'], []],
  ['^\\.\\-\\/\\_\\"$', ['.-/_"'], []],
  ['\\bcat\\b', ['a cat!', 'cat'], ['cats', 'scat']],
  ['\\Bat\\b', ['cat'], ['at']],
  ['\\Aab\\z', ['ab'], ['ab\n']],
  ['(?P<year>\\d{4})-(?<month>\\d\\d)', ['in 2024-05'], ['24-5']],
  ['^(a*)*$', ['aaa', ''], ['b']],
  ['^(?:x|(?:y|z)w)$', ['x', 'yw'], ['y']],
  ['(?U)^a+?$', ['aaa'], ['']],
  ['a^', [], ['a']],
  ['(^a|^b)', ['b'], ['cb']],
] as const) {
  test(`/${pattern}/ matches what Go matches`, () => {
    for (const text of yes) assert.equal(matches(pattern, text), true, JSON.stringify(text));
    for (const text of no) assert.equal(matches(pattern, text), false, JSON.stringify(text));
  });
}

for (const [pattern, fault] of [
  ['(', 'missing closing ): `(`'],
  ['a)', 'unexpected ): `a)`'],
  ['[a', 'missing closing ]: `[a`'],
  ['[]', 'missing closing ]: `[]`'],
  ['*a', 'missing argument to repetition operator: `*`'],
  ['(|+)', 'missing argument to repetition operator: `+`'],
  ['a**', 'invalid nested repetition operator: `**`'],
  ['a{2}{3}', 'invalid nested repetition operator: `{2}{3}`'],
  ['a{1001}', 'invalid repeat count: `{1001}`'],
  ['a{3,2}', 'invalid repeat count: `{3,2}`'],
  ['(a{100}){11}', 'invalid repeat count: `{11}`'],
  ['a\\', 'trailing backslash at end of expression: ``'],
  ['\\1', 'invalid escape sequence: `\\1`'],
  ['\\k', 'invalid escape sequence: `\\k`'],
  ['\\Z', 'invalid escape sequence: `\\Z`'],
  ['\\x{110000}', 'invalid escape sequence: `\\x{110000}`'],
  ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['(?!a)', 'invalid or unsupported Perl syntax: `(?!`'],
  ['(?<=a)', 'invalid named capture: `(?<=a)`'],
  ['(?<n>a)(?<n>b)', 'invalid named capture: `(?<n>`'],
  ['[b-a]', 'invalid character class range: `b-a`'],
  ['[[:foo:]]', 'invalid character class range: `[:foo:]`'],
  ['\\p{Foo}', 'invalid character class range: `\\p{Foo}`'],
] as const) {
  test(`/${pattern}/ is refused`, () => {
    assert.throws(() => new Regexp(pattern), { message: `error parsing regexp: ${fault}` });
  });
}

test('a pattern may not be bottomless or huge', () => {
  assert.throws(() => new Regexp('('.repeat(5000)), /expression nests too deeply/);
  assert.throws(() => new Regexp('((a{30}){30}b){30}'), /invalid repeat count/);
  assert.throws(() => new Regexp('(abcdefghijklmnopqrstuvwxyz){900}'), /expression too large/);
  const chinese = String.fromCodePoint(...Array.from({ length: 9000 }, (_, i) => 0x4e00 + 2 * i));
  assert.throws(() => new Regexp(chinese), /expression too large/);
});

test('what is found is the leftmost match that the pattern prefers', () => {
  const find = (pattern: string, text: string, limit?: number) => compileRegexp(pattern).findAll(text, limit);
  assert.deepEqual(find('a+', 'xaaxa'), ['aa', 'a']);
  assert.deepEqual(find('a|ab', 'ab'), ['a']);
  assert.deepEqual(find('a+?', 'aa'), ['a', 'a']);
  assert.deepEqual(find('a*', 'baac'), ['', 'aa', '']);
  assert.deepEqual(find('\\b', 'ab c'), ['', '', '', '']);
  assert.deepEqual(find('.', '😀x', 1), ['😀']);
  assert.deepEqual(find('^a', 'aa'), ['a']);
});

// The patterns below mean the same to JavaScript, so its engine can judge ours.
const atom = fc.constantFrom('a', 'b', '[ab]', '[^a]', '.', '(?:)', '\\b', '^', '$');
const pattern = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    atom,
    fc.tuple(tie('node'), tie('node')).map(([left, right]) => `${left}${right}`),
    fc.tuple(tie('node'), tie('node')).map(([left, right]) => `(?:${left}|${right})`),
    fc.tuple(tie('node'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}')).map(([body, times]) => `(?:${body})${times}`),
  ),
})).node;

test('ours and the engine of JavaScript agree', () => {
  fc.assert(
    fc.property(pattern, fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' '), maxLength: 8 }), (source, text) => {
      assert.equal(matches(source, text), new RegExp(source, 'u').test(text));
    }),
    { numRuns: 500 },
  );
});

test('whatever is written is a pattern or a sentence', () => {
  const soup = fc.string({
    unit: fc.constantFrom(
      'a',
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      '2',
      ',',
      '*',
      '?',
      ':',
      '\\',
      'p',
      'Q',
      'E',
      '^',
      '-',
      '|',
      'P',
      '<',
      '>',
    ),
    maxLength: 12,
  });
  fc.assert(
    fc.property(soup, fc.string(), (source, text) => {
      try {
        assert.equal(typeof matches(source, text), 'boolean');
      } catch (error) {
        assert.match(String(error), /^RegexpSyntaxError: error parsing regexp: /);
      }
    }),
    { numRuns: 500 },
  );
});

test('patterns that take others exponential time take linear time', () => {
  const start = performance.now();
  assert.equal(matches('^(a+)+$', `${'a'.repeat(200_000)}!`), false);
  assert.equal(matches('^(a|a)*$', `${'a'.repeat(200_000)}!`), false);
  assert.equal(matches('(x+x+)+y', 'x'.repeat(200_000)), false);
  assert.equal(matches('.*.*=.*', 'x'.repeat(200_000)), false);
  assert.ok(performance.now() - start < 2000);
});

test('a match that would take too long is given up', () => {
  let random = 1;
  const text = Array.from({ length: 100_000 }, () => {
    random = (random * 1103515245 + 12345) % 2147483648;
    return random > 1e9 ? 'a' : 'b';
  }).join('');
  const start = performance.now();
  assert.equal(matches('(a|b)*a(a|b){900}c', text), undefined);
  assert.equal(compileRegexp('b[ab]*c|b').findAll(text), undefined);
  assert.ok(performance.now() - start < 5000);
});
