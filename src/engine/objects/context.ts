import type { UserInfo } from '../../api/admission.ts';
import type { Catalog } from '../resources/catalog.ts';
import type { Endpoint } from '../resources/resource.ts';
import type { Store } from '../store/store.ts';
import type { AdmissionChain } from './admission-chain.ts';

/** What every operation on objects works with. */
export interface Context {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly admission: AdmissionChain;
  now(): Date;
  /** Now, as metadata writes it: whole seconds in UTC. */
  timestamp(): string;
}

/** What a request is about. `name` is empty for collections, `namespace` for cluster-scoped kinds and lists over all. */
export interface Target {
  readonly endpoint: Endpoint;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

export interface WriteOptions {
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Who is written down as the owner of the fields that change. */
  readonly fieldManager: string;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** Sentences that go back to the client as Warning headers. */
  readonly warnings: string[];
  /** Of a write that may turn out to make what it was to change: throws for who has no right to make one. */
  readonly requireCreation?: () => void;
}

/** What a write left behind, encoded as the endpoint shows it. */
export interface Written {
  readonly bytes: Buffer;
  readonly created: boolean;
}
