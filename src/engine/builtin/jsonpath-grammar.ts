import type { Json } from '../../api/json.ts';

/** One step of a path: each leads from a value to any number of values. */
export type Step =
  | { type: 'field'; name: string }
  | { type: 'all' }
  | { type: 'descent' }
  | { type: 'slice'; start: number | undefined; end: number | 'one' | undefined; step: number }
  | { type: 'union'; branches: readonly (readonly Step[])[] }
  | { type: 'filter'; keeps: Filter };

type Walk = (from: readonly Json[], steps: readonly Step[]) => Json[];
export type Filter = (item: Json, walk: Walk) => boolean;

export function parseJsonPath(text: string): Step[] {
  return new Parser(text).path();
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  path(): Step[] {
    const steps: Step[] = [];
    if (this.#text.length > LONGEST_PATH) throw this.#fault(`is longer than ${LONGEST_PATH} characters`);
    if (/^[$@]/.test(this.#text)) this.#at = 1;
    while (this.#at < this.#text.length) this.#step(steps);
    return steps;
  }

  #step(steps: Step[]): void {
    const rest = this.#text.slice(this.#at, this.#at + 3);
    if (rest.startsWith('..')) {
      if (steps.at(-1)?.type === 'descent') throw this.#fault('has two recursive descents (..) in a row');
      this.#at += 2;
      steps.push({ type: 'descent' });
      if (/[\p{L}\p{Nd}_*]/u.test(rest.charAt(2))) this.#field(steps);
    } else if (rest.startsWith('.')) {
      this.#at++;
      this.#field(steps);
    } else if (rest.startsWith(' ')) this.#at++;
    else if (rest.startsWith('[?(')) steps.push({ type: 'filter', keeps: this.#filter() });
    else if (rest.startsWith('[')) steps.push(...this.#brackets());
    else throw this.#fault(`has ${JSON.stringify(rest.charAt(0))} where a . or [ should be`);
  }

  /** A name up to the next character that ends one; a backslash takes the next character as part of the name. */
  #field(steps: Step[]): void {
    let name = '';
    while (this.#at < this.#text.length) {
      const char = this.#text.charAt(this.#at);
      if (char === '\\') this.#at++;
      else if (/[\s.,[\]$@{}]/.test(char)) break;
      name += this.#text.charAt(this.#at);
      this.#at++;
    }
    steps.push(name === '*' ? { type: 'all' } : { type: 'field', name });
  }

  #brackets(): Step[] {
    const content = this.#upTo(']');
    const parts = splitOutsideQuotes(content);
    if (parts.length === 1) return this.#bracket(content.trim());
    return [{ type: 'union', branches: parts.map((part) => this.#bracket(part.trim())) }];
  }

  #bracket(content: string): Step[] {
    if (content === '*') return [{ type: 'all' }];
    const quoted = /^'([^']*)'$|^"([^"]*)"$/.exec(content);
    if (quoted !== null) return [{ type: 'field', name: (quoted[1] ?? quoted[2] ?? '').replaceAll('\\', '') }];
    const slice = /^(-?\d{0,9})(?::(-?\d{0,9}))?(?::(-?\d{0,9}))?$/.exec(content);
    if (slice === null || content === '' || content === '-') {
      throw this.#fault(
        `has ${JSON.stringify(content)} in brackets: an index, a slice, * or a quoted name should be there`,
      );
    }
    const [, start = '', end, step] = slice;
    const by = numberIn(step) ?? 1;
    if (by < 1) throw this.#fault(`has a slice with the step ${by}; it must be at least 1`);
    const to = end === undefined ? 'one' : numberIn(end);
    return [{ type: 'slice', start: numberIn(start), end: to, step: by }];
  }

  /** Everything up to the closing character, passing over what stands in quotes. */
  #upTo(close: string): string {
    const start = this.#at + 1;
    let quote = '';
    for (let at = start; at < this.#text.length; at++) {
      const char = this.#text.charAt(at);
      if (quote !== '') {
        if (char === quote && this.#text.charAt(at - 1) !== '\\') quote = '';
      } else if (char === '"' || char === "'") quote = char;
      else if (char === close) {
        this.#at = at + 1;
        return this.#text.slice(start, at);
      }
    }
    throw this.#fault(`has a [ without its ${close}`);
  }

  #filter(): Filter {
    this.#at += 2;
    const content = this.#upTo(')');
    if (this.#text.charAt(this.#at) !== ']') throw this.#fault('has a filter that does not end with )]');
    this.#at++;
    const comparison = /^([^!<>=]+)([!<>=]+)(.+)$/s.exec(content);
    if (comparison === null) {
      const steps = parseOperand(content.trim());
      return (item, walk) => (Array.isArray(steps) ? walk([item], steps).length > 0 : true);
    }
    const [, left = '', operator = '', right = ''] = comparison;
    const compare = COMPARISONS[operator];
    if (compare === undefined) {
      throw this.#fault(`compares by ${operator}: one of ${Object.keys(COMPARISONS).join(' ')} should be there`);
    }
    const leftOf = operand(parseOperand(left.trim()));
    const rightOf = operand(parseOperand(right.trim()));
    return (item, walk) => {
      const a = leftOf(item, walk);
      const b = rightOf(item, walk);
      return a !== undefined && b !== undefined && compare(a, b);
    };
  }

  #fault(what: string): Error {
    return new Error(`the JSONPath ${JSON.stringify(this.#text.slice(0, 200))} ${what}, at character ${this.#at + 1}`);
  }
}

const LONGEST_PATH = 4096;

const numberIn = (text: string | undefined): number | undefined =>
  text === undefined || text === '' || text === '-' ? undefined : Number(text);

/** A path, or a literal in an object of its own. */
type Operand = Step[] | { literal: Json };

function parseOperand(text: string): Operand {
  if (/^[@$.[]/.test(text)) return parseJsonPath(text);
  const quoted = /^'(.*)'$|^"(.*)"$/s.exec(text);
  if (quoted !== null) return { literal: (quoted[1] ?? quoted[2] ?? '').replace(/\\(.)/gs, '$1') };
  if (text === 'true' || text === 'false') return { literal: text === 'true' };
  if (/^[+-]?\d+(?:\.\d*)?$/.test(text)) return { literal: Number(text) };
  throw new Error(
    `the JSONPath filter has ${JSON.stringify(text)} where a path, a quoted text, a number, true or false should be`,
  );
}

function operand(parsed: Operand): (item: Json, walk: Walk) => Json | undefined {
  if (!Array.isArray(parsed)) return () => parsed.literal;
  return (item, walk) => {
    const results = walk([item], parsed);
    return results.length === 1 ? results[0] : undefined;
  };
}

/** Only values of one type can be compared; those of different types are neither equal nor in order. */
const inOrder =
  (holds: (a: number | string, b: number | string) => boolean) =>
  (a: Json, b: Json): boolean =>
    (typeof a === 'number' && typeof b === 'number') || (typeof a === 'string' && typeof b === 'string')
      ? holds(a, b)
      : false;

const COMPARISONS: Readonly<Record<string, (a: Json, b: Json) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => typeof a === typeof b && a !== b,
  '<': inOrder((a, b) => a < b),
  '<=': inOrder((a, b) => a <= b),
  '>': inOrder((a, b) => a > b),
  '>=': inOrder((a, b) => a >= b),
};

function splitOutsideQuotes(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === ',') {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}
