import type { Environment } from '@marcbachmann/cel-js';
import { compileRegexp } from '../../regexp/regexp.ts';
import { meter, textCost } from '../meter.ts';
import { definer, namespace } from './define.ts';
import { formatText } from './format-text.ts';

/** Strings: regular expressions as RE2 has them, and what the evaluator lacks of the string extensions. */
export function registerText(env: Environment): void {
  const define = definer(env);
  define('matches(string, string): bool', matches);
  define(`string.${MATCHES}(string): bool`, matches);
  define('string.find(string): string', (text: string, pattern: string) => findAll(text, pattern, 1)[0] ?? '');
  define('string.findAll(string): list<string>', (text: string, pattern: string) => findAll(text, pattern));
  define('string.findAll(string, int): list<string>', (text: string, pattern: string, limit: bigint) =>
    findAll(text, pattern, limit < 0n ? undefined : Number(limit)),
  );
  define('string.charAt(int): string', charAt);
  define('string.replace(string, string): string', (text: string, old: string, by: string) =>
    replace(text, old, by, -1n),
  );
  define('string.replace(string, string, int): string', replace);
  define('string.format(list): string', formatText);
  define(`${namespace(env, 'strings')}.quote(string): string`, (_: unknown, text: string) => quoted(text));
}

/**
 * The name under which `text.matches(pattern)` is compiled: the evaluator's own function of that name takes the syntax of
 * JavaScript, and backtracks.
 */
export const MATCHES = 'matchesRegexp';

function matches(text: string, pattern: string): boolean {
  meter.charge(text.length);
  const answer = compileRegexp(pattern).test(text);
  if (answer === undefined) throw new Error('matching the text against the pattern takes too long');
  return answer;
}

function findAll(text: string, pattern: string, limit?: number): string[] {
  meter.charge(text.length);
  const found = compileRegexp(pattern).findAll(text, limit);
  if (found === undefined) throw new Error('searching the text for the pattern takes too long');
  return found;
}

function charAt(text: string, index: bigint): string {
  meter.charge(textCost(text));
  const chars = [...text];
  if (index < 0n || index > BigInt(chars.length)) throw new Error(`index out of range: ${index}`);
  return chars[Number(index)] ?? '';
}

function replace(text: string, old: string, by: string, times: bigint): string {
  const parts = text.split(old);
  const count = times < 0n ? parts.length - 1 : Math.min(Number(times), parts.length - 1);
  meter.charge(parts.length + textCost(text) + (count * by.length) / 10);
  return (
    parts.slice(0, count + 1).join(by) +
    parts
      .slice(count + 1)
      .map((part) => old + part)
      .join('')
  );
}

const QUOTED: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};
const quoted = (text: string): string =>
  `"${Array.from(text.toWellFormed(), (char) => QUOTED[char] ?? char).join('')}"`;
