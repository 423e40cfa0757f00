import type { TLSSocket } from 'node:tls';

/** Who a client certificate says that its holder is. */
export interface ShownIdentity {
  readonly user: string;
  readonly groups: readonly string[];
  /** Until when it is good, in milliseconds since 1970. */
  readonly until: number;
}

/** By the certificate shown on a connection; nobody where the server's authority has not signed it, or where it does not name one user. */
export function shownIdentity(socket: TLSSocket): ShownIdentity | undefined {
  if (!socket.authorized) return undefined;
  const { subject, valid_to: until } = socket.getPeerCertificate();
  const { CN, O } = (subject ?? {}) as { CN?: string | string[]; O?: string | string[] };
  const [user = '', ...more] = [CN ?? []].flat();
  // Of two names, one part of a program would judge by the first, and another by the last.
  if (user === '' || more.length > 0) return undefined;
  return { user, groups: [O ?? []].flat(), until: Date.parse(until) };
}

/** Also one that says nothing to the server, whose authority has not signed it. */
export const showsCertificate = (socket: TLSSocket): boolean => socket.getPeerCertificate()?.subject !== undefined;
