import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { tokensOf } from './tokens.ts';

const words = (source: string) =>
  tokensOf(source)
    .filter((token) => token.kind === 'word')
    .map((token) => token.text);
const strings = (source: string) =>
  tokensOf(source)
    .filter((token) => token.kind === 'string')
    .map((token) => token.text);

test('comments are not code', () => {
  assert.deepEqual(words('a // b\n/* c\n d */ e'), ['a', 'e']);
});

test('what is inside strings is not code', () => {
  assert.deepEqual(words(`a('b', "c // d", 'e\\'f') + g`), ['a', 'g']);
  assert.deepEqual(strings(`a('b', "c // d", 'e\\'f') + g`), ['b', 'c // d', "e\\'f"]);
});

test('what a template substitutes is code, the rest of it is not', () => {
  assert.deepEqual(words('`a $' + '{b({ c: `d $' + '{e} f` })} $g {h}` + i'), ['b', 'c', 'e', 'i']);
});

test('a regular expression is not code, and a division is', () => {
  assert.deepEqual(words(`a = /b'[/]c/.test(d) && e / f / g`), ['a', 'test', 'd', 'e', 'f', 'g']);
  assert.deepEqual(words(`return /a"/.exec(b)`), ['return', 'exec', 'b']);
});

test('tokens know their line', () => {
  assert.deepEqual(
    tokensOf('a\n/*\n*/ b `\n\n` c').map(({ text, line }) => [text.trim(), line]),
    [
      ['a', 1],
      ['b', 3],
      ['', 3],
      ['c', 5],
    ],
  );
});

test('any text at all comes to an end', () => {
  const piece = fc.constantFrom('`', '${', '}', "'", '"', '/', '\\', '*', '[', ']', '\n', 'a', '²', '𝒳', ' ');
  fc.assert(fc.property(fc.array(fc.oneof(piece, fc.string())), (pieces) => void tokensOf(pieces.join(''))));
});
