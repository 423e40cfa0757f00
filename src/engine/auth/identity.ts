import { hash, timingSafeEqual } from 'node:crypto';
import type { UserInfo } from '../../api/admission.ts';
import { unauthorized } from '../../api/status.ts';

/** Who may do everything, whatever else is decided: the group that certificates and tokens of administrators carry. */
export const ADMINISTRATORS = 'system:masters';

/**
 * The engine as agents see it. It can do little with the API: a Node says by itself where its agent is, and if that is the API, then
 * whoever may send requests through the Node must not come back in as an administrator.
 */
export const ENGINE = 'netloom:engine';

export const AUTHENTICATED = 'system:authenticated';
export const anonymous: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/** The engine's own work: controllers in the same process, and what starts it. */
export const internalUser: UserInfo = { username: 'system:netloom', groups: [ADMINISTRATORS, AUTHENTICATED] };

/** The service account that a user name stands for. */
export function accountIn(username: string): { namespace: string; name: string } | undefined {
  const [system, kind, namespace = '', name = '', ...more] = username.split(':');
  if (system !== 'system' || kind !== 'serviceaccount' || more.length > 0) return undefined;
  return namespace === '' || name === '' ? undefined : { namespace, name };
}

/** A service account is in the groups of all accounts, and of those of its namespace. */
export const accountGroups = (namespace: string): string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
];

export interface Credentials {
  /** The whole `Authorization` header. */
  authorization?: string | undefined;
  /** The subject of a client certificate that our own authority signed. */
  certificate?: { user: string; groups: readonly string[] } | undefined;
}

/** Whom a token makes of who brings it, and for whom it is meant. */
export interface Bearer {
  readonly user: UserInfo;
  readonly audiences: readonly string[];
}

/** Knows people by bearer token or client certificate; a certificate speaks when no token does. */
export class Identities {
  readonly #users = new Map<string, { digest: Buffer; user: UserInfo }>();
  readonly #accounts: { userOf(token: string): Bearer | undefined };
  readonly #audience: string;

  /** @param audience what tokens of accounts are to be meant for to be good here */
  constructor(
    tokens: readonly { token: string; user: UserInfo }[],
    accounts: { userOf(token: string): Bearer | undefined },
    audience: string,
  ) {
    this.#accounts = accounts;
    this.#audience = audience;
    for (const { token, user } of tokens) {
      const digest = sha256(token);
      this.#users.set(digest.toString('hex'), { digest, user });
    }
  }

  /** Throws 401 for credentials that are wrong; nobody at all is `system:anonymous`. */
  identify({ authorization, certificate }: Credentials): UserInfo {
    if (authorization !== undefined) {
      const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
      const bearer = token === undefined ? undefined : this.bearerOf(token);
      if (bearer?.audiences.includes(this.#audience) !== true) throw unauthorized();
      return bearer.user;
    }
    if (certificate !== undefined) {
      return { username: certificate.user, groups: [...certificate.groups, AUTHENTICATED] };
    }
    return anonymous;
  }

  /** Who brings this token; asked anew each time, as accounts come and go. */
  bearerOf(token: string): Bearer | undefined {
    // Looked up by digest: neither the map nor the comparison tells by its timing how much of a guess was right.
    const digest = sha256(token);
    const known = this.#users.get(digest.toString('hex'));
    const bearer =
      known !== undefined && timingSafeEqual(known.digest, digest)
        ? { user: known.user, audiences: [this.#audience] }
        : this.#accounts.userOf(token);
    if (bearer === undefined) return undefined;
    return { ...bearer, user: { ...bearer.user, groups: [...bearer.user.groups, AUTHENTICATED] } };
  }

  /** What is meant where nobody says for whom a token is to be good. */
  get audience(): string {
    return this.#audience;
  }
}

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');
