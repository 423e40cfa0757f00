import type { CharSet } from './charset.ts';
import {
  ANY,
  complement,
  DIGIT,
  folded,
  MAX_CODE_POINT,
  NEWLINE,
  posixClass,
  SPACE,
  unicodeClass,
  union,
  WORD,
} from './charset.ts';

/** What a pattern says, with flags, escapes and classes resolved. Groups only group: nobody asks what they captured. */
export type Node =
  | { readonly kind: 'char'; readonly set: CharSet }
  | { readonly kind: 'assert'; readonly what: Assertion }
  | { readonly kind: 'concat'; readonly parts: readonly Node[] }
  | { readonly kind: 'alternate'; readonly options: readonly Node[] }
  | {
      readonly kind: 'repeat';
      readonly body: Node;
      readonly min: number;
      readonly max: number;
      readonly greedy: boolean;
    };

export type Assertion = 'text start' | 'text end' | 'line start' | 'line end' | 'word boundary' | 'no word boundary';

/** A pattern that Go's regexp package would not compile either, worded as it words it. */
export class RegexpSyntaxError extends Error {
  constructor(what: string, where: string) {
    super(`error parsing regexp: ${what}: \`${where}\``);
    this.name = 'RegexpSyntaxError';
  }
}

/** Reads the syntax of Go's regexp package (RE2), which is what patterns in schemas and in CEL are written in. */
export function parseRegexp(pattern: string): Node {
  return new Parser(pattern).whole();
}

interface Flags {
  readonly fold: boolean;
  readonly multiLine: boolean;
  readonly dotNewline: boolean;
  readonly lazy: boolean;
}

const MAX_NESTING = 1000;
const MAX_REPEAT = 1000;
const FLAG_NAMES: Readonly<Record<string, keyof Flags>> = { i: 'fold', m: 'multiLine', s: 'dotNewline', U: 'lazy' };
const PERL_CLASSES = new Map<string, CharSet>([
  ['d', DIGIT],
  ['s', SPACE],
  ['w', WORD],
]);
const ESCAPES: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

class Parser {
  readonly #pattern: string;
  #at = 0;
  #depth = 0;
  #flags: Flags = { fold: false, multiLine: false, dotNewline: false, lazy: false };
  readonly #names = new Set<string>();

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  whole(): Node {
    if (!this.#pattern.isWellFormed()) throw new RegexpSyntaxError('invalid UTF-8', this.#pattern);
    const node = this.#alternation();
    if (this.#at < this.#pattern.length) throw new RegexpSyntaxError('unexpected )', this.#pattern);
    return node;
  }

  #alternation(): Node {
    if (++this.#depth > MAX_NESTING) throw new RegexpSyntaxError('expression nests too deeply', this.#pattern);
    const options = [this.#concatenation()];
    while (this.#take('|')) options.push(this.#concatenation());
    this.#depth--;
    return options.length === 1 && options[0] !== undefined ? options[0] : { kind: 'alternate', options };
  }

  #concatenation(): Node {
    const parts: Node[] = [];
    let repetition: { start: number; end: number } | undefined;
    while (this.#at < this.#pattern.length && !this.#ahead('|') && !this.#ahead(')')) {
      const start = this.#at;
      const bounds = this.#bounds();
      if (bounds === undefined) {
        for (const part of this.#atoms()) parts.push(part);
        continue;
      }
      const greedy = this.#take('?') === this.#flags.lazy;
      const operator = this.#pattern.slice(start, this.#at);
      if (repetition?.end === start) {
        const operators = this.#pattern.slice(repetition.start, this.#at);
        throw new RegexpSyntaxError('invalid nested repetition operator', operators);
      }
      const body = parts.pop();
      if (body === undefined) throw new RegexpSyntaxError('missing argument to repetition operator', operator);
      const repeat: Node = { kind: 'repeat', body, ...bounds, greedy };
      if (copies(repeat) > MAX_REPEAT) throw new RegexpSyntaxError('invalid repeat count', operator);
      parts.push(repeat);
      repetition = { start, end: this.#at };
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: 'concat', parts };
  }

  #bounds(): { min: number; max: number } | undefined {
    if (this.#take('*')) return { min: 0, max: Number.POSITIVE_INFINITY };
    if (this.#take('+')) return { min: 1, max: Number.POSITIVE_INFINITY };
    if (this.#take('?')) return { min: 0, max: 1 };
    return this.#counted();
  }

  /** `{2}`, `{2,}` or `{2,5}`; anything else in braces is meant literally. */
  #counted(): { min: number; max: number } | undefined {
    const match = this.#match(/\{(0|[1-9]\d*)(?:(,)(0|[1-9]\d*)?)?\}/y);
    if (match === undefined) return undefined;
    const min = Number(match[1]);
    const max = match[2] === undefined ? min : match[3] === undefined ? Number.POSITIVE_INFINITY : Number(match[3]);
    if (min > MAX_REPEAT || min > max || (max > MAX_REPEAT && max !== Number.POSITIVE_INFINITY)) {
      throw new RegexpSyntaxError('invalid repeat count', match[0]);
    }
    return { min, max };
  }

  #atoms(): Node[] {
    if (this.#take('(?')) return this.#perlGroup();
    if (this.#take('(')) return [this.#group(this.#flags)];
    if (this.#take('[')) return [this.#class()];
    if (this.#take('.')) return [{ kind: 'char', set: this.#flags.dotNewline ? ANY : complement(NEWLINE) }];
    if (this.#take('^')) return [{ kind: 'assert', what: this.#flags.multiLine ? 'line start' : 'text start' }];
    if (this.#take('$')) return [{ kind: 'assert', what: this.#flags.multiLine ? 'line end' : 'text end' }];
    if (this.#take('\\A')) return [{ kind: 'assert', what: 'text start' }];
    if (this.#take('\\z')) return [{ kind: 'assert', what: 'text end' }];
    if (this.#take('\\b')) return [{ kind: 'assert', what: 'word boundary' }];
    if (this.#take('\\B')) return [{ kind: 'assert', what: 'no word boundary' }];
    if (this.#take('\\Q')) return this.#quoted();
    return [{ kind: 'char', set: this.#classEscape() ?? this.#literal(this.#char()) }];
  }

  #group(inside: Flags): Node {
    const outside = this.#flags;
    this.#flags = inside;
    const node = this.#alternation();
    if (!this.#take(')')) throw new RegexpSyntaxError('missing closing )', this.#pattern);
    this.#flags = outside;
    return node;
  }

  /** What follows `(?`: a name, flags for the rest of the group around, or a group with flags of its own. */
  #perlGroup(): Node[] {
    const start = this.#at - 2;
    const named = this.#match(/P?<([^>]*)(>?)/y);
    if (named !== undefined) {
      const name = named[1] ?? '';
      if (named[2] === '') throw new RegexpSyntaxError('invalid named capture', this.#pattern.slice(start));
      if (!/^\w+$/.test(name) || this.#names.has(name)) {
        throw new RegexpSyntaxError('invalid named capture', this.#pattern.slice(start, this.#at));
      }
      this.#names.add(name);
      return [this.#group(this.#flags)];
    }
    const match = this.#match(/([imsU]*)(?:-([imsU]+))?([:)])/y);
    if (match === undefined) {
      this.#match(/[imsU]*-?[imsU]*/y);
      throw new RegexpSyntaxError(
        'invalid or unsupported Perl syntax',
        this.#pattern.slice(start, this.#at + 1) || this.#pattern,
      );
    }
    const flags: { -readonly [F in keyof Flags]: boolean } = { ...this.#flags };
    for (const letter of match[1] ?? '') flags[FLAG_NAMES[letter] ?? 'fold'] = true;
    for (const letter of match[2] ?? '') flags[FLAG_NAMES[letter] ?? 'fold'] = false;
    if (match[3] === ':') return [this.#group(flags)];
    this.#flags = flags;
    return [];
  }

  #quoted(): Node[] {
    const end = this.#pattern.indexOf('\\E', this.#at);
    const text = this.#pattern.slice(this.#at, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#pattern.length : end + 2;
    return [...text].map((char) => ({ kind: 'char', set: this.#literal(char.codePointAt(0) ?? 0) }));
  }

  #class(): Node {
    const start = this.#at - 1;
    const negated = this.#take('^');
    const sets: CharSet[] = [];
    for (let first = true; first || !this.#ahead(']'); first = false) {
      if (this.#at >= this.#pattern.length) {
        throw new RegexpSyntaxError('missing closing ]', this.#pattern.slice(start));
      }
      sets.push(this.#posix() ?? this.#classEscape() ?? this.#range(start));
    }
    this.#at++;
    const set = union(...sets);
    return { kind: 'char', set: negated ? complement(set) : set };
  }

  #posix(): CharSet | undefined {
    const match = this.#match(/\[:(\^?)([^:\]]{0,20}):\]/y);
    if (match === undefined) return undefined;
    const set = posixClass(match[2] ?? '');
    if (set === undefined) throw new RegexpSyntaxError('invalid character class range', match[0]);
    const found = this.#flags.fold ? folded(set) : set;
    return match[1] === '^' ? complement(found) : found;
  }

  #range(classStart: number): CharSet {
    const start = this.#at;
    const first = this.#classChar(classStart);
    if (!this.#ahead('-') || this.#pattern.charAt(this.#at + 1) === ']') return this.#literal(first);
    if (this.#at + 1 >= this.#pattern.length) return this.#literal(first);
    this.#at++;
    const last = this.#classChar(classStart);
    if (last < first) {
      throw new RegexpSyntaxError('invalid character class range', this.#pattern.slice(start, this.#at));
    }
    return this.#flags.fold ? folded([first, last]) : [first, last];
  }

  #classChar(classStart: number): number {
    if (this.#at >= this.#pattern.length) {
      throw new RegexpSyntaxError('missing closing ]', this.#pattern.slice(classStart));
    }
    return this.#char();
  }

  /** `\d`, `\pL`, `\p{Greek}` and their complements. */
  #classEscape(): CharSet | undefined {
    const perl = this.#match(/\\([dswDSW])/y)?.[1];
    if (perl !== undefined) {
      const set = PERL_CLASSES.get(perl.toLowerCase()) ?? ANY;
      const found = this.#flags.fold ? folded(set) : set;
      return perl === perl.toLowerCase() ? found : complement(found);
    }
    const match = this.#match(/\\([pP])(?:\{(\^?)([^}]*)\}|([^{]))/suy);
    if (match === undefined) {
      if (this.#match(/\\[pP]\{/y) === undefined) return undefined;
      throw new RegexpSyntaxError('invalid character class range', this.#pattern.slice(this.#at - 3));
    }
    const set = unicodeClass(match[3] ?? match[4] ?? '');
    if (set === undefined) throw new RegexpSyntaxError('invalid character class range', match[0]);
    const found = this.#flags.fold ? folded(set) : set;
    return (match[1] === 'P') === (match[2] === '^') ? found : complement(found);
  }

  /** One character, written as itself or escaped. */
  #char(): number {
    const start = this.#at;
    const char = this.#pattern.codePointAt(this.#at) ?? 0;
    this.#at += char > 0xffff ? 2 : 1;
    if (char !== 0x5c) return char;
    const octal = this.#match(/0[0-7]{0,2}|[1-7][0-7]{1,2}/y);
    if (octal !== undefined) return Number.parseInt(octal[0], 8);
    const hex = this.#match(/x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})/y);
    if (hex !== undefined) {
      const code = Number.parseInt(hex[1] ?? hex[2] ?? '', 16);
      if (code <= MAX_CODE_POINT) return code;
      throw new RegexpSyntaxError('invalid escape sequence', this.#pattern.slice(start, this.#at));
    }
    const escaped = this.#match(/./suy)?.[0];
    if (escaped === undefined) throw new RegexpSyntaxError('trailing backslash at end of expression', '');
    const code = ESCAPES[escaped];
    if (code !== undefined) return code;
    if (escaped < '\x80' && !/[0-9A-Za-z]/.test(escaped)) return escaped.charCodeAt(0);
    throw new RegexpSyntaxError('invalid escape sequence', this.#pattern.slice(start, this.#at));
  }

  #literal(char: number): CharSet {
    return this.#flags.fold ? folded([char, char]) : [char, char];
  }

  #ahead(text: string): boolean {
    return this.#pattern.startsWith(text, this.#at);
  }
  #take(text: string): boolean {
    if (!this.#ahead(text)) return false;
    this.#at += text.length;
    return true;
  }
  #match(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#at;
    const match = sticky.exec(this.#pattern);
    if (match === null) return undefined;
    this.#at += match[0].length;
    return match;
  }
}

/** How often the innermost repeated part is there once all counts are written out. */
function copies(node: Node): number {
  switch (node.kind) {
    case 'repeat': {
      const times = node.max === Number.POSITIVE_INFINITY ? node.min : node.max;
      return Math.max(1, times) * copies(node.body);
    }
    case 'concat':
      return node.parts.reduce((most, part) => Math.max(most, copies(part)), 1);
    case 'alternate':
      return node.options.reduce((most, option) => Math.max(most, copies(option)), 1);
    default:
      return 1;
  }
}
