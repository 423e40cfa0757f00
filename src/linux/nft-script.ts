import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/**
 * Carries out a script in the language of nftables, as one transaction: all of it or nothing. For what its JSON form cannot say,
 * such as maps whose keys are random numbers.
 */
export const runNftScript = (script: string): Promise<void> => nft(['-f', '-'], script);

/** Throws what `runNftScript` would, and changes nothing. */
export const checkNftScript = (script: string): Promise<void> => nft(['-c', '-f', '-'], script);

async function nft(words: readonly string[], script: string): Promise<void> {
  const child = spawn('nft', words, { stdio: ['pipe', 'ignore', 'pipe'] });
  const ended = Promise.withResolvers<number | null>();
  child.on('error', ended.reject);
  child.on('close', ended.resolve);
  // It may end before it has read everything; its exit code says so.
  child.stdin.on('error', () => {});
  child.stdin.end(script);
  const [complaint, code] = await Promise.all([text(child.stderr), ended.promise]);
  if (code !== 0) throw new Error(`nft: ${complaint.trim() || `it ended with ${code}`}`);
}
