import { find } from './finder.ts';
import { Matcher } from './matcher.ts';
import { parseRegexp } from './parse.ts';
import type { Program } from './program.ts';
import { compileProgram } from './program.ts';

const MAX_FIND_WORK = 5_000_000;

/** A compiled pattern in the syntax of Go's regexp package, matched in time linear in the text. */
export class Regexp {
  readonly pattern: string;
  readonly #program: Program;
  readonly #matcher: Matcher;

  constructor(pattern: string) {
    this.pattern = pattern;
    this.#program = compileProgram(parseRegexp(pattern), pattern);
    this.#matcher = new Matcher(this.#program);
  }

  /** Whether some part of the text matches. Undefined when the answer would take too long: huge text, huge pattern. */
  test(text: string): boolean | undefined {
    return this.#matcher.test(text);
  }

  /** What matches, from left to right without overlaps, at most `limit` of them. Undefined when it takes too long. */
  findAll(text: string, limit = Number.POSITIVE_INFINITY): string[] | undefined {
    const allowance = { left: MAX_FIND_WORK };
    const found: string[] = [];
    let previousEnd = -1;
    for (let at = 0; at <= text.length && found.length < limit; ) {
      const span = find(this.#program, text, at, allowance);
      if (allowance.left < 0) return undefined;
      if (span === undefined) break;
      // An empty match right behind another match is none.
      if (span.end > span.start || span.start !== previousEnd) found.push(text.slice(span.start, span.end));
      previousEnd = span.end;
      at = span.end > span.start ? span.end : span.end + ((text.codePointAt(span.end) ?? 0) > 0xffff ? 2 : 1);
    }
    return found;
  }
}

const MAX_CACHED = 2000;
const cache = new Map<string, Regexp>();

/** Compiles a pattern once; throws a `RegexpSyntaxError` when it is none. */
export function compileRegexp(pattern: string): Regexp {
  let regexp = cache.get(pattern);
  if (regexp === undefined) {
    regexp = new Regexp(pattern);
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(pattern, regexp);
  }
  return regexp;
}
