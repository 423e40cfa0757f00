import type { CharSet } from './charset.ts';
import { has, NEWLINE, WORD } from './charset.ts';
import type { Assertion, Node } from './parse.ts';
import { RegexpSyntaxError } from './parse.ts';

/** A pattern as a machine: at each place it reads a character, goes on two ways at once, checks where it is, or is done. */
export interface Program {
  readonly steps: readonly Step[];
  readonly start: number;
  /** Nothing can match anywhere but at the start of the text. */
  readonly anchored: boolean;
  readonly alphabet: Alphabet;
  /** What must be known of the character before to tell whether assertions hold. */
  readonly looksBack: { readonly word: boolean; readonly line: boolean; readonly text: boolean };
}

export type Step =
  /** `reads[letter]` tells whether the character is taken. */
  | { readonly kind: 'char'; readonly reads: Uint8Array; readonly next: number }
  /** `next` is preferred. */
  | { readonly kind: 'split'; next: number; other: number }
  | { readonly kind: 'assert'; readonly what: Assertion; readonly next: number }
  | { readonly kind: 'done' };

const MAX_STEPS = 20_000;
const MAX_TABLE = 4_000_000;

export function compileProgram(node: Node, pattern: string): Program {
  const alphabet = new Alphabet(charSets(node));
  if (alphabet.size * alphabet.sets > MAX_TABLE) throw new RegexpSyntaxError('expression too large', pattern);
  const builder = new Builder(alphabet, pattern);
  const done = builder.add({ kind: 'done' });
  const start = builder.emit(node, done);
  const asserts = new Set(builder.steps.map((step) => (step.kind === 'assert' ? step.what : undefined)));
  return {
    steps: builder.steps,
    start,
    anchored: startsAtTextStart(node),
    alphabet,
    looksBack: {
      word: asserts.has('word boundary') || asserts.has('no word boundary'),
      line: asserts.has('line start'),
      text: asserts.has('text start') || asserts.has('line start'),
    },
  };
}

/** Emits the parts of a pattern back to front: each is told where to go on. */
class Builder {
  readonly steps: Step[] = [];
  readonly #alphabet: Alphabet;
  readonly #pattern: string;

  constructor(alphabet: Alphabet, pattern: string) {
    this.#alphabet = alphabet;
    this.#pattern = pattern;
  }

  add(step: Step): number {
    if (this.steps.length >= MAX_STEPS) throw new RegexpSyntaxError('expression too large', this.#pattern);
    return this.steps.push(step) - 1;
  }

  emit(node: Node, next: number): number {
    switch (node.kind) {
      case 'char':
        return this.add({ kind: 'char', reads: this.#alphabet.lettersOf(node.set), next });
      case 'assert':
        return this.add({ kind: 'assert', what: node.what, next });
      case 'concat':
        return node.parts.reduceRight((after, part) => this.emit(part, after), next);
      case 'alternate': {
        const starts = node.options.map((option) => this.emit(option, next));
        return starts.reduceRight((other, start) => this.add({ kind: 'split', next: start, other }));
      }
      case 'repeat':
        return this.#repeat(node, next);
    }
  }

  #repeat({ body, min, max, greedy }: Node & { kind: 'repeat' }, next: number): number {
    let start = next;
    if (max === Number.POSITIVE_INFINITY) {
      const loop: Step = { kind: 'split', next, other: next };
      start = this.add(loop);
      const inside = this.emit(body, start);
      if (greedy) loop.next = inside;
      else loop.other = inside;
    } else {
      for (let i = min; i < max; i++) {
        const inside = this.emit(body, start);
        start = this.add({ kind: 'split', next: greedy ? inside : next, other: greedy ? next : inside });
      }
    }
    for (let i = 0; i < min; i++) start = this.emit(body, start);
    return start;
  }
}

function startsAtTextStart(node: Node): boolean {
  switch (node.kind) {
    case 'assert':
      return node.what === 'text start';
    case 'concat':
      return node.parts[0] !== undefined && startsAtTextStart(node.parts[0]);
    case 'alternate':
      return node.options.every(startsAtTextStart);
    case 'repeat':
      return node.min > 0 && startsAtTextStart(node.body);
    default:
      return false;
  }
}

function charSets(node: Node, found = new Set<CharSet>()): Set<CharSet> {
  if (node.kind === 'char') found.add(node.set);
  else if (node.kind === 'concat') for (const part of node.parts) charSets(part, found);
  else if (node.kind === 'alternate') for (const option of node.options) charSets(option, found);
  else if (node.kind === 'repeat') charSets(node.body, found);
  return found;
}

/** Characters that no part of a pattern tells apart are one letter. Keeps the machine's tables small. */
export class Alphabet {
  /** Where each letter begins; a letter is a run of code points. */
  readonly #starts: readonly number[];
  readonly #ascii = new Uint16Array(128);
  readonly #letters = new Map<string, Uint8Array>();
  /** How many different sets it was made for. */
  readonly sets: number;
  readonly word: Uint8Array;
  readonly newline: Uint8Array;

  constructor(sets: ReadonlySet<CharSet>) {
    this.sets = new Set([...sets].map(String)).size;
    const starts = new Set([0]);
    for (const set of [...sets, WORD, NEWLINE]) {
      for (let i = 0; i + 1 < set.length; i += 2) starts.add(set[i] ?? 0).add((set[i + 1] ?? 0) + 1);
    }
    this.#starts = [...starts].sort((a, b) => a - b);
    for (let char = 0; char < 128; char++) this.#ascii[char] = this.#search(char);
    this.word = this.lettersOf(WORD);
    this.newline = this.lettersOf(NEWLINE);
  }

  get size(): number {
    return this.#starts.length;
  }

  letterOf(char: number): number {
    return char < 128 ? (this.#ascii[char] ?? 0) : this.#search(char);
  }

  lettersOf(set: CharSet): Uint8Array {
    const key = String(set);
    let letters = this.#letters.get(key);
    if (letters === undefined) {
      letters = Uint8Array.from(this.#starts, (start) => (has(set, start) ? 1 : 0));
      this.#letters.set(key, letters);
    }
    return letters;
  }

  #search(char: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= char) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
