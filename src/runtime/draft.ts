import type { ApiObject, OwnerReference } from '../api/object.ts';

/** An object as somebody writes it who creates one: without what the server sets. */
export type Draft<T extends ApiObject> = Written<T> & { metadata: { name: string } & DraftMeta };

/** The server makes up a name that begins with `generateName`. */
export type Unnamed<T extends ApiObject> = Written<T> & { metadata: { generateName: string } & DraftMeta };

/** The fields that server-side apply shall set, be they ever so few. */
export type Applied<T extends ApiObject> = Some<Written<T>> & { metadata: { name: string } & DraftMeta };

/** `never` for kinds without one. */
export type StatusOf<T> = 'status' extends keyof T ? Exclude<T['status'], undefined> : never;

export interface DraftMeta {
  namespace?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
}

type Written<T extends ApiObject> = Omit<T, 'apiVersion' | 'kind' | 'metadata' | 'status'>;

/** Lists are set as a whole, so their items are complete. */
type Some<T> = T extends readonly unknown[] ? T : T extends object ? { [K in keyof T]?: Some<T[K]> } : T;
