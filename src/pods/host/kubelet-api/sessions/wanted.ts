import { Refusal } from '../refusal.ts';
import type { Wanted } from './streams.ts';

/** The streams that a query asks for, in the words between an API server and a kubelet. */
export function wantedStreams(query: URLSearchParams): Wanted {
  const asks = (name: string) => query.get(name) === '1';
  const tty = asks('tty');
  // All output of a terminal is one stream.
  const wanted = { stdin: asks('input'), stdout: asks('output'), stderr: asks('error') && !tty, tty };
  if (wanted.stdin || wanted.stdout || wanted.stderr) return wanted;
  throw new Refusal(400, 'you must specify at least 1 of stdin, stdout, stderr');
}
