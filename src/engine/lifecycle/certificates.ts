import type { UserInfo } from '../../api/admission.ts';
import type { JsonObject } from '../../api/json.ts';
import { ApiError } from '../../api/status.ts';
import type { Log } from '../../runtime/log.ts';
import type { Access } from '../auth/access.ts';
import type { KeyPair } from '../auth/authority.ts';
import { automaticApproval, RENEWS } from '../auth/certificates/automatic-approval.ts';
import { pemOf } from '../auth/certificates/checks.ts';
import { signers } from '../auth/certificates/signers.ts';
import type { SigningRequest } from '../auth/certificates/signing-request.ts';
import {
  metadataOf,
  objectsAt,
  optionalNumberAt,
  specOf,
  statusOf,
  textAt,
  textMapAt,
  textsAt,
} from '../builtin/reading.ts';
import type { Context } from '../objects/context.ts';
import { remove } from '../objects/delete.ts';
import { decode } from '../objects/encoding.ts';
import { update } from '../objects/replace.ts';
import { storageEndpoint } from './garbage-collector.ts';
import { internalOptions } from './internal-options.ts';
import { Jobs } from './jobs.ts';

const RESOURCE = 'certificatesigningrequests.certificates.k8s.io';

const HOUR = 60 * 60 * 1000;
const SWEEP_EVERY = HOUR / 4;
/** What has been decided is kept for an hour, what waits for a person for a day. */
const KEPT = { decided: HOUR, waiting: 24 * HOUR };

interface Options {
  readonly access: Access;
  readonly authority: KeyPair;
  readonly log: Log;
}

/** Signs the requests that have been approved, and approves those where nobody needs to be asked. */
export class Certificates {
  readonly #context: Context;
  readonly #options: Options;
  readonly #jobs: Jobs;
  readonly #following: { close(): void };
  readonly #timer: NodeJS.Timeout;

  constructor(context: Context, options: Options) {
    this.#context = context;
    this.#options = options;
    this.#jobs = new Jobs('a request for a certificate', options.log);
    const { store } = context;
    for (const { name } of store.list({ resource: RESOURCE }).versions) this.#tend(name);
    this.#following = store.watch({ resource: RESOURCE, after: store.revision }, (events) => {
      for (const { type, current } of events) if (type !== 'DELETED') this.#tend(current.name);
    });
    this.#timer = setInterval(() => void this.#sweep(), SWEEP_EVERY);
    this.#timer.unref();
  }

  stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#following.close();
    return this.#jobs.stop();
  }

  #tend(name: string): void {
    this.#jobs.add(name, async () => {
      const version = this.#context.store.newest(RESOURCE, '', name);
      if (version !== undefined) await this.#settle(name, decode(version.bytes));
    });
  }

  async #settle(name: string, request: JsonObject): Promise<void> {
    const { has, isIssued } = stateOf(request);
    const signer = textAt(specOf(request), 'signerName');
    const faultOf = signers.get(signer);
    if (faultOf === undefined || isIssued || has('Denied') || has('Failed')) return;

    // Loaded only where something is asked for: it is most of a cold start.
    const { readSigningRequest } = await import('../auth/certificates/signing-request.ts');
    const usages = textsAt(specOf(request), 'usages');
    let asked: SigningRequest;
    try {
      asked = await readSigningRequest(pemOf(specOf(request)));
      const fault = faultOf(asked, usages);
      if (fault !== undefined) throw new Error(fault);
    } catch (error) {
      // As long as nobody has approved it, a person may still want to see what was asked.
      if (has('Approved')) await this.#refuse(name, request, error instanceof Error ? error.message : String(error));
      return;
    }
    if (has('Approved')) await this.#sign(name, request, asked, usages);
    else await this.#approve(name, request, signer, asked);
  }

  async #approve(name: string, request: JsonObject, signer: string, asked: SigningRequest): Promise<void> {
    const spec = specOf(request);
    const user: UserInfo = { username: textAt(spec, 'username'), groups: textsAt(spec, 'groups') };
    const renews = textMapAt(metadataOf(request), 'annotations').get(RENEWS);
    const { access, authority } = this.#options;
    const policy = { access, authority: authority.certificate, now: this.#context.now() };
    const message = automaticApproval({ signer, asked, user, renews }, policy);
    if (message === undefined) return;
    await this.#write(name, 'approval', withCondition(request, 'Approved', 'AutoApproved', message));
  }

  async #sign(name: string, request: JsonObject, asked: SigningRequest, usages: readonly string[]): Promise<void> {
    const { signRequest, YEAR } = await import('../auth/authority.ts');
    const seconds = Math.min(YEAR, optionalNumberAt(specOf(request), 'expirationSeconds') ?? YEAR);
    const { authority, log } = this.#options;
    const pem = await signRequest(authority, asked, { usages, now: this.#context.now(), seconds });
    const certificate = Buffer.from(`${pem.trim()}\n`).toString('base64');
    await this.#write(name, 'status', { ...request, status: { ...statusOf(request), certificate } });
    log.info('signed a certificate', { request: name, subject: asked.commonName, seconds });
  }

  async #refuse(name: string, request: JsonObject, why: string): Promise<void> {
    await this.#write(name, 'status', withCondition(request, 'Failed', 'SignerValidationFailure', why));
  }

  async #write(name: string, subresource: 'approval' | 'status', object: JsonObject): Promise<void> {
    const endpoint = storageEndpoint(this.#context, RESOURCE);
    if (endpoint === undefined) return;
    const target = { endpoint, namespace: '', name, subresource };
    try {
      await update(this.#context, target, { object, duplicates: [] }, internalOptions('netloom'));
    } catch (error) {
      // Deleted meanwhile, or changed, which tells us again.
      if (!(error instanceof ApiError && (error.code === 404 || error.code === 409))) throw error;
    }
  }

  async #sweep(): Promise<void> {
    const endpoint = storageEndpoint(this.#context, RESOURCE);
    if (endpoint === undefined) return;
    const now = this.#context.now().getTime();
    for (const { name, bytes, revision } of this.#context.store.list({ resource: RESOURCE }).versions) {
      const request = decode(bytes);
      const { has } = stateOf(request);
      const isDecided = has('Approved') || has('Denied') || has('Failed');
      if (now - changedAt(request) < (isDecided ? KEPT.decided : KEPT.waiting)) continue;
      const wishes = { preconditions: { resourceVersion: String(revision) } };
      await remove(
        this.#context,
        { endpoint, namespace: '', name, subresource: '' },
        wishes,
        internalOptions('netloom'),
      ).catch((error: unknown) => this.#options.log.debug('a request stays for now', { name, error: String(error) }));
    }
  }
}

function stateOf(request: JsonObject) {
  const types = new Set(objectsAt(statusOf(request), 'conditions').map((condition) => textAt(condition, 'type')));
  return { has: (type: string) => types.has(type), isIssued: textAt(statusOf(request), 'certificate') !== '' };
}

/** When it was made, or last decided about. */
function changedAt(request: JsonObject): number {
  const conditions = objectsAt(statusOf(request), 'conditions');
  const times = [metadataOf(request)['creationTimestamp'], ...conditions.map((each) => each['lastUpdateTime'])];
  return Math.max(...times.map((time) => (typeof time === 'string' ? Date.parse(time) : 0)));
}

function withCondition(request: JsonObject, type: string, reason: string, message: string): JsonObject {
  const status = statusOf(request);
  const conditions = [...objectsAt(status, 'conditions'), { type, status: 'True', reason, message }];
  return { ...request, status: { ...status, conditions } };
}
