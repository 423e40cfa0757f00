/** Sets of code points, as ascending pairs of first and last: [0x30, 0x39, 0x41, 0x5a] is digits and capitals. */
export type CharSet = readonly number[];

export const MAX_CODE_POINT = 0x10ffff;
export const ANY: CharSet = [0, MAX_CODE_POINT];
export const NEWLINE: CharSet = [0x0a, 0x0a];
export const DIGIT: CharSet = [0x30, 0x39];
export const SPACE: CharSet = [0x09, 0x0a, 0x0c, 0x0d, 0x20, 0x20];
export const WORD: CharSet = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];

/** Brings pairs in any order, overlapping or not, into the ascending form. */
export function union(...sets: readonly CharSet[]): CharSet {
  const pairs: [number, number][] = [];
  for (const set of sets) {
    for (let i = 0; i + 1 < set.length; i += 2) pairs.push([set[i] ?? 0, set[i + 1] ?? 0]);
  }
  pairs.sort((a, b) => a[0] - b[0]);
  const merged: number[] = [];
  for (const [first, last] of pairs) {
    const previous = merged.at(-1);
    if (previous !== undefined && first <= previous + 1) merged[merged.length - 1] = Math.max(previous, last);
    else merged.push(first, last);
  }
  return merged;
}

export function complement(set: CharSet): CharSet {
  const gaps: number[] = [];
  let next = 0;
  for (let i = 0; i + 1 < set.length; i += 2) {
    const first = set[i] ?? 0;
    if (first > next) gaps.push(next, first - 1);
    next = (set[i + 1] ?? 0) + 1;
  }
  if (next <= MAX_CODE_POINT) gaps.push(next, MAX_CODE_POINT);
  return gaps;
}

export function has(set: CharSet, char: number): boolean {
  let low = 0;
  let high = set.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (char < (set[2 * middle] ?? 0)) high = middle - 1;
    else if (char > (set[2 * middle + 1] ?? 0)) low = middle + 1;
    else return true;
  }
  return false;
}

/** With every character also those that differ from it in case only. */
export function folded(set: CharSet): CharSet {
  const others: number[] = [];
  for (const orbit of caseOrbits()) {
    if (orbit.some((char) => has(set, char))) for (const char of orbit) others.push(char, char);
  }
  return union(set, others);
}

let orbits: readonly (readonly number[])[] | undefined;

/** Groups of characters that are equal but for case: {k, K, K (Kelvin)}, {s, S, ſ} and about 1400 pairs. */
function caseOrbits(): readonly (readonly number[])[] {
  if (orbits !== undefined) return orbits;
  const groups = new Map<string, number[]>();
  const cased = charactersWith('Changes_When_Casemapped') ?? [];
  for (let i = 0; i + 1 < cased.length; i += 2) {
    for (let char = cased[i] ?? 0; char <= (cased[i + 1] ?? 0); char++) {
      if (char === DOTLESS_I) continue;
      const text = String.fromCodePoint(char);
      const upper = text.toUpperCase();
      const key = [...upper].length > 1 ? text : upper.toLowerCase();
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [char]);
      else group.push(char);
    }
  }
  orbits = [...groups.values()].filter((group) => group.length > 1);
  return orbits;
}

/** Its capital is I, but Unicode does not fold it to i. */
const DOTLESS_I = 0x131;

const POSIX = new Map<string, CharSet>([
  ['alnum', [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a]],
  ['alpha', [0x41, 0x5a, 0x61, 0x7a]],
  ['ascii', [0x00, 0x7f]],
  ['blank', [0x09, 0x09, 0x20, 0x20]],
  ['cntrl', [0x00, 0x1f, 0x7f, 0x7f]],
  ['digit', DIGIT],
  ['graph', [0x21, 0x7e]],
  ['lower', [0x61, 0x7a]],
  ['print', [0x20, 0x7e]],
  ['punct', [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e]],
  ['space', [0x09, 0x0d, 0x20, 0x20]],
  ['upper', [0x41, 0x5a]],
  ['word', WORD],
  ['xdigit', [0x30, 0x39, 0x41, 0x46, 0x61, 0x66]],
]);
export const posixClass = (name: string): CharSet | undefined => POSIX.get(name);

const unicodeClasses = new Map<string, CharSet | undefined>();

/** A general category (`L`, `Lu`) or a script (`Greek`); undefined when there is none of that name. */
export function unicodeClass(name: string): CharSet | undefined {
  if (name === 'Any') return ANY;
  if (!unicodeClasses.has(name)) unicodeClasses.set(name, named(name));
  return unicodeClasses.get(name);
}

function named(name: string): CharSet | undefined {
  if (!/^[A-Z][A-Za-z_]*$/.test(name)) return undefined;
  return charactersWith(name.length <= 2 ? `General_Category=${name}` : `Script=${name}`);
}

function charactersWith(property: string): CharSet | undefined {
  const test = tester(property);
  if (test === undefined) return undefined;
  const set: number[] = [];
  const take = (first: number, last: number): void => {
    if (!test.test(String.fromCodePoint(first))) return;
    if (set.at(-1) === first - 1) set[set.length - 1] = last;
    else set.push(first, last);
  };
  for (const [first, last] of CROWDED) for (let char = first; char <= last; char++) take(char, char);
  for (const [first, last] of UNIFORM) take(first, last);
  return union(set);
}

function tester(property: string): RegExp | undefined {
  try {
    return new RegExp(`\\p{${property}}`, 'u');
  } catch {
    return undefined;
  }
}

/** Where neighbours differ, and where nothing or private use is: looking at each of a million characters takes too long. */
const CROWDED = [
  [0, 0xd7ff],
  [0xe000, 0x323ff],
  [0xe0000, 0xe0fff],
] as const;
const UNIFORM = [
  [0x32400, 0xdffff],
  [0xe1000, 0xeffff],
  [0xf0000, 0xffffd],
  [0xffffe, 0xfffff],
  [0x100000, 0x10fffd],
  [0x10fffe, MAX_CODE_POINT],
] as const;
