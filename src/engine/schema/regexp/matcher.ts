import { END, holds, kindOf, LINE, OTHER, START, WORD } from './assertions.ts';
import type { Program } from './program.ts';

/** How much one match may cost, in steps of the machine. Ordinary patterns on ordinary text need a few hundred. */
const MAX_WORK = 5_000_000;
/** Beyond this the remembered situations are forgotten and built up again. */
const MAX_MEMORY = 50_000;

/**
 * Tells whether a text matches, in time proportional to its length: every way through the pattern is followed at once,
 * and situations that were seen before are looked up. Nothing ever goes back, so no pattern is catastrophic.
 */
export class Matcher {
  readonly #program: Program;
  readonly #situations = new Map<string, Situation>();
  #first: Situation | undefined;
  #memory = 0;
  #work = 0;
  readonly #marks: Int32Array;
  #mark = 0;

  constructor(program: Program) {
    this.#program = program;
    this.#marks = new Int32Array(program.steps.length);
  }

  /** Undefined when finding out would take too long. */
  test(text: string): boolean | undefined {
    this.#work = MAX_WORK;
    const { alphabet } = this.#program;
    this.#first ??= this.#situation([this.#program.start], START);
    let situation = this.#first;
    for (let i = 0; i < text.length; i++) {
      let char = text.charCodeAt(i);
      if (char >= 0xd800 && char < 0xdc00) {
        char = text.codePointAt(i) ?? char;
        if (char > 0xffff) i++;
      }
      const letter = alphabet.letterOf(char);
      const next = situation.after[letter] ?? this.#after(situation, letter);
      if (next === 'match') return true;
      if (next === 'dead') return false;
      situation = next;
      if (this.#work < 0) return undefined;
    }
    return this.#closure(situation, END).done;
  }

  #after(situation: Situation, letter: number): Next {
    const { alphabet, steps, start, anchored } = this.#program;
    const kind = kindOf(alphabet, letter);
    const { done, readers } = this.#closure(situation, kind);
    if (done) return this.#remember(situation, letter, 'match');
    const places = new Set<number>();
    for (const reader of readers) {
      const step = steps[reader];
      if (step?.kind === 'char' && step.reads[letter] === 1) places.add(step.next);
    }
    this.#work -= readers.length;
    if (!anchored) places.add(start);
    if (places.size === 0) return this.#remember(situation, letter, 'dead');
    return this.#remember(situation, letter, this.#situation([...places], kind));
  }

  #remember(situation: Situation, letter: number, next: Next): Next {
    situation.after[letter] = next;
    return next;
  }

  #situation(places: number[], before: number): Situation {
    const { looksBack } = this.#program;
    const known =
      (before === WORD && !looksBack.word) ||
      (before === LINE && !looksBack.line) ||
      (before === START && !looksBack.text)
        ? OTHER
        : before;
    places.sort((a, b) => a - b);
    const key = `${known}:${places.join()}`;
    let situation = this.#situations.get(key);
    if (situation === undefined) {
      const size = places.length + this.#program.alphabet.size;
      this.#memory += size;
      if (this.#memory > MAX_MEMORY) {
        this.#situations.clear();
        this.#first = undefined;
        this.#memory = size;
      }
      situation = { places, before: known, after: [], closures: [] };
      this.#situations.set(key, situation);
    }
    this.#work -= places.length;
    return situation;
  }

  /** Where the machine can be without reading on, given what comes next. */
  #closure(situation: Situation, next: number): Closure {
    const remembered = situation.closures[next];
    if (remembered !== undefined) return remembered;
    const { steps } = this.#program;
    const mark = ++this.#mark;
    const open = [...situation.places];
    const readers: number[] = [];
    let done = false;
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (this.#marks[place] === mark) continue;
      this.#marks[place] = mark;
      this.#work--;
      const step = steps[place];
      if (step === undefined) continue;
      if (step.kind === 'char') readers.push(place);
      else if (step.kind === 'split') open.push(step.other, step.next);
      else if (step.kind === 'done') done = true;
      else if (holds(step.what, situation.before, next)) open.push(step.next);
    }
    this.#memory += readers.length;
    const closure = { done, readers };
    situation.closures[next] = closure;
    return closure;
  }
}

/** A set of places in the program, all reached by the same text, and what the last character of it was. */
interface Situation {
  readonly places: readonly number[];
  readonly before: number;
  readonly after: (Next | undefined)[];
  readonly closures: (Closure | undefined)[];
}
type Next = Situation | 'match' | 'dead';

interface Closure {
  readonly done: boolean;
  readonly readers: readonly number[];
}
