import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/**
 * Makes the kernel forget connections, so that the next packet of a client that never says goodbye (UDP) is sent on anew.
 * @param selection options of conntrack(8) that say which: `['--proto', 'udp', '--reply-src', '10.244.0.5']`
 */
export async function forgetConnections(selection: readonly string[]): Promise<void> {
  const { code, complaint } = await conntrack(['-D', ...selection], 'ignore');
  // It ends with the same number when there was nothing to forget as when the kernel said no.
  if (code === 0 || (code === 1 && complaint.includes(' 0 flow entries '))) return;
  throw refusal(['-D', ...selection], code, complaint);
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
  const words = ['-L', '--proto', protocol];
  const { code, printed, complaint } = await conntrack(words, 'pipe');
  if (code !== 0) throw refusal(words, code, complaint);
  return connectionsIn(printed);
}

async function conntrack(words: readonly string[], output: 'pipe' | 'ignore') {
  const child = spawn('conntrack', words, { stdio: ['ignore', output, 'pipe'] });
  const [printed, complaint, [code]] = await Promise.all([
    child.stdout === null ? '' : text(child.stdout),
    child.stderr === null ? '' : text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: Number(code), printed, complaint };
}

/** In its own words, without its name and how else it could be called. */
function refusal(words: readonly string[], code: number, complaint: string): Error {
  const [said = ''] = complaint.trim().split('\n');
  const why = said.replace(/^conntrack v\S+ \(conntrack-tools\): /, '') || `it ended with ${code}`;
  return new Error(`conntrack ${words.join(' ')}: ${why}`);
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
