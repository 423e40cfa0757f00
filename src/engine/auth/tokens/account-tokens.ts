import { createHash, randomUUID } from 'node:crypto';
import type { UserInfo } from '../../../api/admission.ts';
import type { JsonObject } from '../../../api/json.ts';
import { metadataOf, numberAt, objectAt, textAt, textsAt } from '../../builtin/reading.ts';
import { decode } from '../../objects/encoding.ts';
import type { Store } from '../../store/store.ts';
import type { Version } from '../../store/version.ts';
import { accountGroups } from '../identity.ts';
import type { SigningKey } from './signing-key.ts';

/** Who says who somebody is, and for whom that is meant when nobody else is named. */
export const ISSUER = 'https://kubernetes.default.svc.cluster.local';
const LEGACY_ISSUER = 'kubernetes/serviceaccount';

export interface Named {
  readonly name: string;
  readonly uid: string;
}

export interface Grant {
  readonly namespace: string;
  readonly account: Named;
  readonly audiences: readonly string[];
  readonly seconds: number;
  /** The token is good only as long as these exist. */
  readonly bound: { readonly pod?: Named; readonly secret?: Named; readonly node?: Named };
}

export interface AccountUser {
  readonly user: UserInfo;
  readonly audiences: readonly string[];
}

/** Makes tokens of service accounts, and knows who brings one, for as long as account and what it is bound to exist. */
export class AccountTokens {
  readonly #key: SigningKey;
  readonly #store: Pick<Store, 'get'>;
  readonly #now: () => Date;
  /** Digest of a token that was verified → its claims: a signature is checked once. */
  readonly #verified = new Map<string, JsonObject>();
  readonly #lives = new WeakMap<Version, Life>();

  constructor(key: SigningKey, store: Pick<Store, 'get'>, now: () => Date) {
    this.#key = key;
    this.#store = store;
    this.#now = now;
  }

  issue({ namespace, account, audiences, seconds, bound }: Grant): { token: string; expires: Date } {
    const now = this.#seconds();
    const plain = ({ name, uid }: Named) => ({ name, uid });
    const token = this.#key.sign({
      aud: [...audiences],
      exp: now + seconds,
      iat: now,
      iss: ISSUER,
      jti: randomUUID(),
      'kubernetes.io': {
        namespace,
        ...(bound.node === undefined ? {} : { node: plain(bound.node) }),
        ...(bound.pod === undefined ? {} : { pod: plain(bound.pod) }),
        ...(bound.secret === undefined ? {} : { secret: plain(bound.secret) }),
        serviceaccount: plain(account),
      },
      nbf: now,
      sub: subjectOf(namespace, account.name),
    });
    return { token, expires: new Date((now + seconds) * 1000) };
  }

  /** A token that never expires, as Secrets of accounts hold them; good for as long as the Secret holds it. */
  issueLasting(namespace: string, account: Named, secret: string): string {
    return this.#key.sign({
      iss: LEGACY_ISSUER,
      [`${LEGACY_ISSUER}/namespace`]: namespace,
      [`${LEGACY_ISSUER}/secret.name`]: secret,
      [`${LEGACY_ISSUER}/service-account.name`]: account.name,
      [`${LEGACY_ISSUER}/service-account.uid`]: account.uid,
      sub: subjectOf(namespace, account.name),
    });
  }

  userOf(token: string): AccountUser | undefined {
    const claims = this.#claimsOf(token);
    if (claims === undefined) return undefined;
    if (textAt(claims, 'iss') === LEGACY_ISSUER) return this.#lasting(claims, token);
    const now = this.#seconds();
    if (textAt(claims, 'iss') !== ISSUER || now >= numberAt(claims, 'exp') || now + SKEW < numberAt(claims, 'nbf')) {
      return undefined;
    }
    const own = objectAt(claims, 'kubernetes.io');
    const namespace = textAt(own, 'namespace');
    const [account, pod, secret, node] = ['serviceaccount', 'pod', 'secret', 'node'].map((key) => namedAt(own, key));
    const isLive =
      this.#exists('serviceaccounts', namespace, account) &&
      (pod === undefined || this.#exists('pods', namespace, pod)) &&
      (secret === undefined || this.#exists('secrets', namespace, secret)) &&
      // The node of a pod is only told: the pod itself says whether it is still there.
      (node === undefined || pod !== undefined || this.#exists('nodes', '', node));
    if (!isLive || account === undefined) return undefined;
    const extra = {
      ...(pod === undefined ? {} : extraOf('pod', pod)),
      ...(node === undefined ? {} : extraOf('node', node)),
      [`${EXTRA}/credential-id`]: [`JTI=${textAt(claims, 'jti')}`],
    };
    return { user: { ...userOf(namespace, account), extra }, audiences: textsAt(claims, 'aud') };
  }

  #lasting(claims: JsonObject, token: string): AccountUser | undefined {
    const at = (key: string): string => textAt(claims, `${LEGACY_ISSUER}/${key}`);
    const namespace = at('namespace');
    const account = { name: at('service-account.name'), uid: at('service-account.uid') };
    const held = this.#store.get('secrets', namespace, at('secret.name'));
    const data = held === undefined ? '' : textAt(objectAt(decode(held.bytes), 'data'), 'token');
    if (Buffer.from(data, 'base64').toString('latin1') !== token) return undefined;
    if (!this.#exists('serviceaccounts', namespace, account)) return undefined;
    return { user: userOf(namespace, account), audiences: [ISSUER] };
  }

  #claimsOf(token: string): JsonObject | undefined {
    if (!token.startsWith('eyJ') || token.length > LONGEST) return undefined;
    const digest = createHash('sha256').update(token).digest('base64');
    const known = this.#verified.get(digest);
    if (known !== undefined) return known;
    const claims = this.#key.verify(token);
    if (claims === undefined) return undefined;
    if (this.#verified.size >= REMEMBERED) {
      const [oldest] = this.#verified.keys();
      if (oldest !== undefined) this.#verified.delete(oldest);
    }
    this.#verified.set(digest, claims);
    return claims;
  }

  #exists(resource: string, namespace: string, named: Named | undefined): boolean {
    if (named === undefined) return false;
    const version = this.#store.get(resource, namespace, named.name);
    if (version === undefined) return false;
    let life = this.#lives.get(version);
    if (life === undefined) {
      life = lifeOf(metadataOf(decode(version.bytes)));
      this.#lives.set(version, life);
    }
    return life.uid === named.uid && this.#now().getTime() < life.until;
  }

  #seconds(): number {
    return Math.floor(this.#now().getTime() / 1000);
  }
}

interface Life {
  readonly uid: string;
  /** In milliseconds since 1970. */
  readonly until: number;
}

/** What is being deleted may be held up for ever, by a host that is lost: those who speak by it are believed no longer than it was to take. */
function lifeOf(metadata: JsonObject): Life {
  const end = Date.parse(textAt(metadata, 'deletionTimestamp'));
  return { uid: textAt(metadata, 'uid'), until: Number.isNaN(end) ? Number.POSITIVE_INFINITY : end + LEAVE };
}

/** To those that end tidily, in milliseconds. */
const LEAVE = 60_000;

const REMEMBERED = 10_000;
const LONGEST = 16 * 1024;
/** Clocks differ a little. */
const SKEW = 60;

const EXTRA = 'authentication.kubernetes.io';
const extraOf = (of: string, { name, uid }: Named) => ({
  [`${EXTRA}/${of}-name`]: [name],
  [`${EXTRA}/${of}-uid`]: [uid],
});

const subjectOf = (namespace: string, name: string): string => `system:serviceaccount:${namespace}:${name}`;

const userOf = (namespace: string, { name, uid }: Named): UserInfo => ({
  username: subjectOf(namespace, name),
  uid,
  groups: accountGroups(namespace),
});

function namedAt(claims: JsonObject | undefined, key: string): Named | undefined {
  const found = objectAt(claims, key);
  return found === undefined ? undefined : { name: textAt(found, 'name'), uid: textAt(found, 'uid') };
}
