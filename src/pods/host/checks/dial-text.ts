/** Why nobody could be reached, in the words that people know from a kubelet and look for. */
export function dialText(host: string, port: number | string, error: unknown): string {
  const { code = '', message = String(error) } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  const why = WORDS[code];
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return why === undefined ? message : `dial tcp ${name}:${port}: connect: ${why}`;
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
};
