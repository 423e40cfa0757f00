import { execFileSync } from 'node:child_process';
import { cFunction } from '../../linux/kernel.ts';

export const needsRoot = { skip: process.getuid?.() === 0 ? false : 'needs root' };

const unshare = cFunction('int unshare(int flags)');
const CLONE_NEWNET = 0x40000000;

/** Moves this process into a network of its own, for good: nothing of the machine can be seen or changed from there. */
export function moveIntoOwnNetwork(): void {
  unshare('enter a network of its own', CLONE_NEWNET);
  ip('link set lo up');
}

export const ip = (words: string): string => execFileSync('ip', words.split(' '), { encoding: 'utf8' });
