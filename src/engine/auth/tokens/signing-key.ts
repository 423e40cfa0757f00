import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../../api/json.ts';

/** Signs JSON Web Tokens with ES256, and knows its own again. */
export class SigningKey {
  readonly #key: KeyObject;
  readonly #public: KeyObject;
  readonly #id: string;

  /** @param pem a private key on P-256 */
  constructor(pem: string) {
    this.#key = createPrivateKey(pem);
    this.#public = createPublicKey(this.#key);
    const der = this.#public.export({ type: 'spki', format: 'der' });
    this.#id = createHash('sha256').update(der).digest('base64url');
  }

  sign(claims: JsonObject): string {
    const signed = `${encoded({ alg: ALGORITHM, kid: this.#id })}.${encoded(claims)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: this.#key, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }

  /** The claims of a token that this key has signed. */
  verify(token: string): JsonObject | undefined {
    const [header = '', claims = '', signature = '', ...more] = token.split('.');
    if (more.length > 0 || signature === '') return undefined;
    // Said by whoever made the token: only what this key makes is looked at any further.
    if (decoded(header)?.['alg'] !== ALGORITHM) return undefined;
    const data = Buffer.from(`${header}.${claims}`);
    const isOurs = verify(
      'sha256',
      data,
      { key: this.#public, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
    return isOurs ? decoded(claims) : undefined;
  }

  /** The public key, for others who want to verify. */
  get jwk(): JsonObject {
    const { kty, crv, x, y } = this.#public.export({ format: 'jwk' });
    return { use: 'sig', kty: kty ?? '', kid: this.#id, crv: crv ?? '', alg: ALGORITHM, x: x ?? '', y: y ?? '' };
  }
}

export const ALGORITHM = 'ES256';

const encoded = (part: JsonObject): string => Buffer.from(JSON.stringify(part)).toString('base64url');

function decoded(part: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
