import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

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

/** A connection as it began, and as its answers are seen. */
export interface KnownConnection {
  readonly original: Tuple;
  readonly reply: Tuple;
}

export interface Tuple {
  readonly source: string;
  readonly sourcePort: string;
  readonly target: string;
  readonly targetPort: string;
}

/** Those of one protocol with ports, of both families. */
export async function listConnections(protocol: string): Promise<KnownConnection[]> {
  const child = spawn('conntrack', ['-L', '--proto', protocol], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (code !== 0) throw new Error(`conntrack -L --proto ${protocol} ended with ${code}`);
  return connectionsIn(printed);
}

export const connectionsIn = (printed: string): KnownConnection[] =>
  printed.split('\n').flatMap((line) => {
    const [original, reply] = [...line.matchAll(TUPLE)].map(
      ([, source = '', target = '', sourcePort = '', targetPort = '']): Tuple => ({
        ...{ source, sourcePort, target, targetPort },
      }),
    );
    return original === undefined || reply === undefined ? [] : [{ original, reply }];
  });

const TUPLE = /src=(\S+) dst=(\S+) sport=(\d+) dport=(\d+)/g;
