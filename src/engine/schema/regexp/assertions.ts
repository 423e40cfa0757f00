import type { Assertion } from './parse.ts';
import type { Alphabet } from './program.ts';

/** What stands beside a place in the text, as far as assertions care. */
export const OTHER = 0;
export const WORD = 1;
export const LINE = 2;
export const START = 3;
export const END = 4;

export function kindOf(alphabet: Alphabet, letter: number): number {
  return alphabet.newline[letter] === 1 ? LINE : alphabet.word[letter] === 1 ? WORD : OTHER;
}

export function holds(what: Assertion, before: number, next: number): boolean {
  switch (what) {
    case 'text start':
      return before === START;
    case 'text end':
      return next === END;
    case 'line start':
      return before === START || before === LINE;
    case 'line end':
      return next === END || next === LINE;
    case 'word boundary':
      return (before === WORD) !== (next === WORD);
    case 'no word boundary':
      return (before === WORD) === (next === WORD);
  }
}
