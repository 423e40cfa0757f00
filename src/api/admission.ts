import type { Kind } from './kind.ts';
import type { ApiObject } from './object.ts';

/**
 * Checks that stand between a request and the store and need more than the object: other objects, or who asks.
 * The embedded engine calls them directly; on Kubernetes the same code is served as webhooks.
 */
export interface Admission {
  readonly kind: Kind;
  readonly operations: readonly AdmissionOperation[];
  /** Also asked about writes through these, such as `status`; only about writes of whole objects when left out. */
  readonly subresources?: readonly string[];
  /** For checks that compare with other objects. */
  readonly turn?: Turn;
  /** Fills in what was left out, before validation. Changes `request.object` in place. */
  readonly mutate?: (request: AdmissionRequest, live: LiveReader) => void | Promise<void>;
  /** Throws an ApiError to refuse. Returned sentences become Warning headers. */
  readonly validate?: (
    request: AdmissionRequest,
    live: LiveReader,
  ) => readonly string[] | undefined | Promise<readonly string[] | undefined>;
}

/**
 * Two that are checked at the same moment do not see each other. From the check until it is stored, a write that goes `alone` has no other
 * write beside it in its namespace that names the same `line`; those that do not go alone have each other. Whoever is asked as a webhook
 * cannot wait until something is stored: there the controllers must cope with what came through.
 */
export interface Turn {
  readonly line: string;
  readonly alone: boolean;
}

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE';

export interface AdmissionRequest {
  readonly operation: AdmissionOperation;
  /** Through which the object is written; left out for the object as a whole. */
  readonly subresource?: string;
  readonly namespace: string;
  readonly name: string;
  readonly dryRun: boolean;
  readonly user: UserInfo;
  /** What would be stored; absent on DELETE. */
  readonly object?: ApiObject;
  /** What is stored; absent on CREATE. */
  readonly oldObject?: ApiObject;
}

export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  /** What else is known of them, such as the pod that a token was made for. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Reads that see every acknowledged write: no cache in between. */
export interface LiveReader {
  get<T extends ApiObject>(kind: Kind<T>, name: string, namespace?: string): Promise<T | undefined>;
  list<T extends ApiObject>(kind: Kind<T>, namespace?: string): Promise<T[]>;
}
