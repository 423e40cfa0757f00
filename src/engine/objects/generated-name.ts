import { randomInt } from 'node:crypto';

/** Letters and digits that cannot be mistaken for each other, nor make words. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

export function generatedName(prefix: string): string {
  let name = prefix.slice(0, 58);
  for (let i = 0; i < 5; i++) name += ALPHABET[randomInt(ALPHABET.length)];
  return name;
}
