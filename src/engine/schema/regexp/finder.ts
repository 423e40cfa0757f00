import { END, holds, kindOf, START } from './assertions.ts';
import type { Program } from './program.ts';

/** Where in a text something was found; `end` is the first unit after it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** How much a search may still cost, in steps of the machine; shared by the searches of one call. */
export interface Allowance {
  left: number;
}

/**
 * The leftmost match at or after `from`, and of those at one place the one that the pattern prefers. All ways through the
 * pattern advance together, the preferred ones first; `allowance.left` is negative when that took too long.
 */
export function find(program: Program, text: string, from: number, allowance: Allowance): Span | undefined {
  const { steps, alphabet, anchored } = program;
  const marks = new Int32Array(steps.length);
  let mark = 0;
  let found: Span | undefined;
  let threads: Thread[] = [];
  let before = from === 0 ? START : kindOf(alphabet, alphabet.letterOf(characterBefore(text, from)));
  for (let at = from; at <= text.length && allowance.left >= 0; ) {
    const char = text.codePointAt(at);
    const letter = char === undefined ? -1 : alphabet.letterOf(char);
    const next = char === undefined ? END : kindOf(alphabet, letter);
    if (found === undefined && (!anchored || at === 0)) threads.push({ place: program.start, start: at });
    if (threads.length === 0) break;
    const advanced: Thread[] = [];
    const after = at + (char !== undefined && char > 0xffff ? 2 : 1);
    mark++;
    following: for (const thread of threads) {
      const open = [thread.place];
      for (let place = open.pop(); place !== undefined; place = open.pop()) {
        if (marks[place] === mark) continue;
        marks[place] = mark;
        allowance.left--;
        const step = steps[place];
        if (step === undefined) continue;
        if (step.kind === 'split') open.push(step.other, step.next);
        else if (step.kind === 'assert') {
          if (holds(step.what, before, next)) open.push(step.next);
        } else if (step.kind === 'done') {
          found = { start: thread.start, end: at };
          break following;
        } else if (step.reads[letter] === 1) advanced.push({ place: step.next, start: thread.start });
      }
    }
    threads = advanced;
    before = next;
    at = after;
  }
  return found;
}

interface Thread {
  readonly place: number;
  readonly start: number;
}

function characterBefore(text: string, at: number): number {
  const pair = text.codePointAt(at - 2) ?? 0;
  return pair > 0xffff ? pair : text.charCodeAt(at - 1);
}
