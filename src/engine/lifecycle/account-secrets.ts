import type { JsonObject } from '../../api/json.ts';
import { ApiError } from '../../api/status.ts';
import type { Log } from '../../runtime/log.ts';
import type { AccountTokens } from '../auth/tokens/account-tokens.ts';
import { metadataOf, objectAt, textAt, textMapAt } from '../builtin/reading.ts';
import type { Context } from '../objects/context.ts';
import { remove } from '../objects/delete.ts';
import { decode } from '../objects/encoding.ts';
import { update } from '../objects/replace.ts';
import type { Version } from '../store/version.ts';
import { storageEndpoint } from './garbage-collector.ts';
import { internalOptions } from './internal-options.ts';
import { Jobs } from './jobs.ts';

const TYPE = 'kubernetes.io/service-account-token';
const NAME = 'kubernetes.io/service-account.name';
const UID = 'kubernetes.io/service-account.uid';

interface Options {
  readonly tokens: AccountTokens;
  /** PEM. */
  readonly authority: string;
  readonly log: Log;
}

/** Fills Secrets that are for the token of an account, and deletes them with the account. */
export class AccountSecrets {
  readonly #context: Context;
  readonly #options: Options;
  readonly #jobs: Jobs;
  readonly #following: readonly { close(): void }[];

  constructor(context: Context, options: Options) {
    this.#context = context;
    this.#options = options;
    this.#jobs = new Jobs('the Secret of an account', options.log);
    const { store } = context;
    for (const secret of store.list({ resource: 'secrets' }).versions) this.#see(secret);
    this.#following = [
      store.watch({ resource: 'secrets', after: store.revision }, (events) => {
        for (const { type, current } of events) if (type !== 'DELETED') this.#see(current);
      }),
      store.watch({ resource: 'serviceaccounts', after: store.revision }, (events) => {
        for (const { type, current } of events) {
          if (type === 'MODIFIED') continue;
          for (const secret of store.list({ resource: 'secrets', namespace: current.namespace }).versions) {
            this.#see(secret);
          }
        }
      }),
    ];
  }

  stop(): Promise<void> {
    for (const each of this.#following) each.close();
    return this.#jobs.stop();
  }

  #see({ namespace, name, bytes }: Version): void {
    // Nearly no Secret is one of these: looking for the word spares decoding all others.
    if (!bytes.includes(TYPE)) return;
    this.#jobs.add(`${namespace}/${name}`, () => this.#settle(namespace, name));
  }

  async #settle(namespace: string, name: string): Promise<void> {
    const { store } = this.#context;
    const version = store.newest('secrets', namespace, name);
    const secret = version === undefined ? undefined : decode(version.bytes);
    if (version === undefined || secret === undefined || textAt(secret, 'type') !== TYPE) return;
    const annotations = textMapAt(metadataOf(secret), 'annotations');
    const account = annotations.get(NAME) ?? '';
    const found = store.newest('serviceaccounts', namespace, account);
    const uid = found === undefined ? '' : textAt(metadataOf(decode(found.bytes)), 'uid');
    const claimed = annotations.get(UID) ?? '';
    if (uid === '' || (claimed !== '' && claimed !== uid)) await this.#remove(namespace, name, version);
    else await this.#fill(secret, { namespace, name, account, uid });
  }

  async #fill(
    secret: JsonObject,
    { namespace, name, account, uid }: { namespace: string; name: string; account: string; uid: string },
  ): Promise<void> {
    const data = objectAt(secret, 'data') ?? {};
    const metadata = metadataOf(secret);
    const isComplete = ['token', 'ca.crt', 'namespace'].every((key) => textAt(data, key) !== '');
    const annotations = objectAt(metadata, 'annotations') ?? {};
    if (isComplete && annotations[UID] === uid) return;
    const { tokens, authority } = this.#options;
    const wanted: JsonObject = {
      token: base64(tokens.issueLasting(namespace, { name: account, uid }, name)),
      'ca.crt': base64(authority),
      namespace: base64(namespace),
    };
    const filled = {
      ...secret,
      metadata: { ...metadata, annotations: { ...annotations, [UID]: uid } },
      data: { ...wanted, ...data },
    };
    await this.#try(async (endpoint) => {
      const target = { endpoint, namespace, name, subresource: '' };
      await update(this.#context, target, { object: filled, duplicates: [] }, internalOptions('netloom'));
    });
  }

  async #remove(namespace: string, name: string, { revision }: Version): Promise<void> {
    await this.#try(async (endpoint) => {
      const wishes = { preconditions: { resourceVersion: String(revision) } };
      const target = { endpoint, namespace, name, subresource: '' };
      await remove(this.#context, target, wishes, internalOptions('netloom'));
    });
  }

  async #try(write: (endpoint: NonNullable<ReturnType<typeof storageEndpoint>>) => Promise<void>): Promise<void> {
    const endpoint = storageEndpoint(this.#context, 'secrets');
    if (endpoint === undefined) return;
    try {
      await write(endpoint);
    } catch (error) {
      // Deleted meanwhile, or changed, which tells us again.
      if (!(error instanceof ApiError && (error.code === 404 || error.code === 409))) throw error;
    }
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
