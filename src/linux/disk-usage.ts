import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/**
 * What is in each of these folders, in bytes of the disk or in inodes; one that is not there has nothing. Somebody we do not trust may be at work in
 * them: links are not followed, and a tree of any depth takes up this process neither time nor descriptors.
 */
export async function diskUsage(
  folders: readonly string[],
  of: 'bytes' | 'inodes' = 'bytes',
): Promise<ReadonlyMap<string, number>> {
  if (folders.length === 0) return new Map();
  // It reports what vanishes while it looks, and ends with 1 then: that is no reason to know nothing of the others.
  const options = [
    '--summarize',
    '--one-file-system',
    of === 'bytes' ? '--block-size=1' : '--inodes',
    '--null',
    '--files0-from=-',
  ];
  const child = spawn('du', options, { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve());
  });
  child.stdin.on('error', () => {});
  child.stdin.end(folders.join('\0'));
  const [output] = await Promise.all([text(child.stdout), ended]);
  return new Map(
    output.split('\0').flatMap((line): [string, number][] => {
      const [, bytes, folder] = /^(\d+)\t(.*)$/s.exec(line) ?? [];
      return bytes === undefined || folder === undefined ? [] : [[folder, Number(bytes)]];
    }),
  );
}
