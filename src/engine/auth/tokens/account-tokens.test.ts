import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import type { JsonObject } from '../../../api/json.ts';
import type { Version } from '../../store/version.ts';
import { AccountTokens } from './account-tokens.ts';
import { SigningKey } from './signing-key.ts';

const key = new SigningKey(
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
);
const robot = { name: 'robot', uid: 'r' };
const worker = { name: 'worker', uid: 'w' };

/** Tokens of an account and its pod, whose time and whose objects a test sets. */
class TokensInTest {
  now = Date.UTC(2030, 0, 1);
  readonly #objects = new Map<string, Version>();
  readonly #tokens = new AccountTokens(
    key,
    { get: (resource, _, name) => this.#objects.get(`${resource} ${name}`) },
    () => new Date(this.now),
  );

  put(resource: string, metadata: JsonObject): void {
    const version = { bytes: Buffer.from(JSON.stringify({ metadata })) } as Version;
    this.#objects.set(`${resource} ${metadata['name']}`, version);
  }

  drop(resource: string, name: string): void {
    this.#objects.delete(`${resource} ${name}`);
  }

  issue(): string {
    return this.#tokens.issue({
      namespace: 'default',
      account: robot,
      audiences: ['api'],
      seconds: 3600,
      bound: { pod: worker },
    }).token;
  }

  isGood(token: string): boolean {
    return this.#tokens.userOf(token) !== undefined;
  }
}

function tokensInTest(): TokensInTest {
  const tokens = new TokensInTest();
  tokens.put('serviceaccounts', robot);
  tokens.put('pods', worker);
  return tokens;
}

describe('a token of an account', () => {
  test('is good from its first second to its last', () => {
    const tokens = tokensInTest();
    const token = tokens.issue();
    assert.equal(tokens.isGood(token), true);
    tokens.now += 3_599_000;
    assert.equal(tokens.isGood(token), true);
    tokens.now += 1_000;
    assert.equal(tokens.isGood(token), false);
  });

  test('ends with its pod, its account, and others that come under their names', () => {
    for (const [resource, named] of [
      ['pods', worker],
      ['serviceaccounts', robot],
    ] as const) {
      const tokens = tokensInTest();
      const token = tokens.issue();
      tokens.put(resource, { ...named, uid: 'another' });
      assert.equal(tokens.isGood(token), false);
      tokens.drop(resource, named.name);
      assert.equal(tokens.isGood(token), false);
    }
  });

  test('ends a minute after the time that its pod or account was given to go, even if nobody says that it has', () => {
    for (const [resource, named] of [
      ['pods', worker],
      ['serviceaccounts', robot],
    ] as const) {
      const tokens = tokensInTest();
      const token = tokens.issue();
      tokens.put(resource, { ...named, deletionTimestamp: new Date(tokens.now + 30_000).toISOString() });
      tokens.now += 89_000;
      assert.equal(tokens.isGood(token), true, 'it may still be ending');
      tokens.now += 1_000;
      assert.equal(tokens.isGood(token), false);
    }
  });
});
