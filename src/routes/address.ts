import { isIPv4, isIPv6 } from 'node:net';
import { at } from './columns.ts';

/**
 * An address is four 32-bit words, the most significant first. IPv4 uses the first word and leaves the others 0.
 * Which family it is has to be remembered beside it.
 */
export type Family = 4 | 6;
export type Words = Uint32Array<ArrayBuffer>;

/** Writes the address to `words[from]` and following; undefined, and nothing written, if the text is not an address. */
export function parseAddress(text: string, words: Words, from = 0): Family | undefined {
  if (isIPv4(text)) {
    words.fill(0, from, from + 4);
    words[from] = wordOfIPv4(text);
    return 4;
  }
  // A zone names an interface of one machine and cannot travel.
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const groups = groupsOfIPv6(text);
  for (let i = 0; i < 4; i += 1) words[from + i] = (((groups[2 * i] ?? 0) << 16) | (groups[2 * i + 1] ?? 0)) >>> 0;
  return 6;
}

export function formatAddress(words: Words, from: number, family: Family): string {
  return family === 4 ? formatIPv4(at(words, from)) : formatIPv6(words, from);
}

function wordOfIPv4(text: string): number {
  return text.split('.').reduce((word, part) => ((word << 8) | Number(part)) >>> 0, 0);
}

function groupsOfIPv6(text: string): number[] {
  const dotted = text.includes('.') ? text.slice(text.lastIndexOf(':') + 1) : '';
  const tail = dotted === '' ? [] : [wordOfIPv4(dotted) >>> 16, wordOfIPv4(dotted) & 0xffff];
  const hexadecimal = text.slice(0, text.length - dotted.length);
  const [before = '', after] = hexadecimal.split('::');
  const head = groupsBetweenColons(before);
  if (after === undefined) return [...head, ...tail];
  const end = [...groupsBetweenColons(after), ...tail];
  return [...head, ...Array<number>(8 - head.length - end.length).fill(0), ...end];
}

function groupsBetweenColons(text: string): number[] {
  return text
    .split(':')
    .filter((group) => group !== '')
    .map((group) => Number.parseInt(group, 16));
}

function formatIPv4(word: number): string {
  return `${word >>> 24}.${(word >>> 16) & 0xff}.${(word >>> 8) & 0xff}.${word & 0xff}`;
}

/** RFC 5952: lower case, no leading zeros, the longest run of two or more zero groups as `::`. */
function formatIPv6(words: Words, from: number): string {
  if (at(words, from) === 0 && at(words, from + 1) === 0 && at(words, from + 2) === 0xffff) {
    return `::ffff:${formatIPv4(at(words, from + 3))}`;
  }
  const groups: number[] = [];
  for (let i = 0; i < 4; i += 1) groups.push(at(words, from + i) >>> 16, at(words, from + i) & 0xffff);
  const gap = longestRunOfZeros(groups);
  const text = (part: number[]): string => part.map((group) => group.toString(16)).join(':');
  if (gap.length < 2) return text(groups);
  return `${text(groups.slice(0, gap.start))}::${text(groups.slice(gap.start + gap.length))}`;
}

function longestRunOfZeros(groups: number[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 };
  let start = 0;
  groups.forEach((group, i) => {
    if (group !== 0) start = i + 1;
    else if (i + 1 - start > longest.length) longest = { start, length: i + 1 - start };
  });
  return longest;
}
