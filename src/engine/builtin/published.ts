import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../api/json.ts';

/** What Kubernetes publishes about its kinds: see data/README.md. Read when it is first asked for. */
export const publishedSchemas = once((): Record<string, JsonObject> => read('openapi.json'));
export const publishedMessages = once((): ProtobufTables => read('protobuf.json'));

export interface ProtobufTables {
  /** `group/version/Kind`, or `v1/Kind` in the core group → message. */
  readonly kinds: Record<string, string>;
  /** message → field number → field. */
  readonly messages: Record<string, Record<string, MessageField>>;
}

/** Name in JSON ('' where the fields of a message belong to its parent), type, and whether a zero value is meant. */
export type MessageField = readonly [name: string, type: string, zero?: 'zero'];

function read<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(`./data/${file}`, import.meta.url), 'utf8'));
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
