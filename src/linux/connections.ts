import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Makes the kernel forget connections, so that the next packet of a client that never says goodbye (UDP) is sent on anew.
 * @param selection options of conntrack(8) that say which: `['--proto', 'udp', '--reply-src', '10.244.0.5']`
 */
export async function forgetConnections(selection: readonly string[]): Promise<void> {
  const child = spawn('conntrack', ['-D', ...selection], { stdio: 'ignore' });
  // It ends with 1 when there was nothing to forget.
  const [code] = await once(child, 'close');
  if (code !== 0 && code !== 1) throw new Error(`conntrack -D ${selection.join(' ')} ended with ${code}`);
}
