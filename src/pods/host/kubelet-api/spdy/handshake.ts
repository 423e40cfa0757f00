import type { IncomingMessage } from 'node:http';
import { Refusal } from '../refusal.ts';

export const isSpdy = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'spdy/3.1';

/** The first that the client would like of what is spoken on the streams; undefined when it names none. */
export function agreedStreamProtocol<Protocol extends string>(
  { headers }: IncomingMessage,
  ours: readonly Protocol[],
): Protocol | undefined {
  const theirs = [headers['x-stream-protocol-version'] ?? []].flat().flatMap((names) => names.split(','));
  const wanted = theirs.map((name) => name.trim()).filter((name) => name !== '');
  const agreed = wanted.map((name) => ours.find((own) => own === name)).find((own) => own !== undefined);
  if (agreed === undefined && wanted.length > 0) {
    const lists = `client supports [${wanted.join(' ')}], server accepts [${ours.join(' ')}]`;
    throw new Refusal(403, `unable to upgrade: unable to negotiate protocol: ${lists}`);
  }
  return agreed;
}

/** The answer after which SPDY is spoken. */
export const spdyAgreement = (protocol: string | undefined): string =>
  [
    'HTTP/1.1 101 Switching Protocols',
    'Connection: Upgrade',
    'Upgrade: SPDY/3.1',
    ...(protocol === undefined ? [] : [`X-Stream-Protocol-Version: ${protocol}`]),
    '\r\n',
  ].join('\r\n');
