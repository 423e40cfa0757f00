import { createHash } from 'node:crypto';

/** Says whether two things are the same; written without vowels, so that no word comes about by accident. */
export function fingerprint(value: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(value)).digest('hex');
  return digest.replace(/[0-9a-f]/g, (digit) => CONSONANTS[Number.parseInt(digit, 16)] ?? '');
}

const CONSONANTS = 'bcdfghjklmnpqrst';
