import { ServiceAccount } from '../../../api/core/config.ts';
import type { Pod } from '../../../api/core/pod.ts';
import { isJsonObject } from '../../../api/json.ts';
import type { Client } from '../../../runtime/client.ts';
import type { TokenWish } from './payload.ts';

/** A token as it was issued, by its own words. */
export interface Token {
  readonly text: string;
  /** When it is to be replaced, in milliseconds since 1970. */
  readonly renewAt: number;
}

/** A token serves for so much of its life, and for a day at most. */
const SHARE = 0.8;
const DAY = 86_400_000;

/** Asks for a token of the pod's service account that is good for as long as the pod exists. */
export async function requestToken(client: Client, pod: Pod, wish: TokenWish, now: number): Promise<Token> {
  const { name, namespace = '', uid } = pod.metadata;
  const { serviceAccountName = 'default' } = pod.spec;
  const answer = await client.act(ServiceAccount, { namespace, name: serviceAccountName }, 'token', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      audiences: wish.audience === undefined ? [] : [wish.audience],
      expirationSeconds: wish.expirationSeconds,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    },
  });
  const status = isJsonObject(answer['status']) ? answer['status'] : {};
  const { token, expirationTimestamp } = status;
  const end = Date.parse(String(expirationTimestamp));
  if (typeof token !== 'string' || Number.isNaN(end)) {
    throw new Error(`the server answered without a token for service account ${namespace}/${serviceAccountName}`);
  }
  return { text: token, renewAt: renewal(now, end) };
}

/** A token that was found in a volume, if it is for this pod and still good for a while: the next agent goes on with it. */
export function foundToken(text: string, pod: Pod, wish: TokenWish, now: number): Token | undefined {
  const { iat, exp, aud, 'kubernetes.io': about } = claimsOf(text);
  const bound = isJsonObject(about) && isJsonObject(about['pod']) ? about['pod']['uid'] : undefined;
  if (typeof iat !== 'number' || typeof exp !== 'number' || bound !== pod.metadata.uid) return undefined;
  if (wish.audience !== undefined && !(Array.isArray(aud) && aud.includes(wish.audience))) return undefined;
  const renewAt = renewal(iat * 1000, exp * 1000);
  return renewAt > now ? { text, renewAt } : undefined;
}

const renewal = (begin: number, end: number): number => begin + Math.min((end - begin) * SHARE, DAY);

function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return isJsonObject(claims) ? claims : {};
  } catch {
    return {};
  }
}
