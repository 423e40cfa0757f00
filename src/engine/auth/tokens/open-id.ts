import type { JsonObject } from '../../../api/json.ts';
import { ISSUER } from './account-tokens.ts';
import { ALGORITHM, type SigningKey } from './signing-key.ts';

/** What those need to know who verify tokens of service accounts without asking us about each. */
export class OpenId {
  readonly #key: SigningKey;
  readonly #url: () => string;

  constructor(key: SigningKey, url: () => string) {
    this.#key = key;
    this.#url = url;
  }

  configuration(): JsonObject {
    return {
      issuer: ISSUER,
      jwks_uri: `${this.#url()}/openid/v1/jwks`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [ALGORITHM],
    };
  }

  keys(): JsonObject {
    return { keys: [this.#key.jwk] };
  }
}
