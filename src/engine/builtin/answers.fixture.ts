import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { mergePatch } from '../patch/merge-patch.ts';
import type { BuiltinKind } from './builtin-kind.ts';
import { builtinKinds } from './kinds.ts';

/** What kube-apiserver answered: the object as it would have been stored, or what is wrong with it. */
export type Answer = { object: JsonObject } | { faults: [reason: string, field: string, message: string][] };

export interface Answers {
  creations: Answer[];
  updates: { before: JsonObject; answer: Answer }[];
  rows: { object: JsonObject; now: string; columns: string[]; cells: Json[] }[];
}

export function recordedAnswers(): Answers {
  const file = new URL('./testdata/answers.json.gz', import.meta.url);
  return JSON.parse(gunzipSync(readFileSync(file)).toString());
}

export function kindOf(object: JsonObject): BuiltinKind {
  const kind = builtinKinds.find(
    ({ group, version, kind }) =>
      object['kind'] === kind && object['apiVersion'] === (group === '' ? version : `${group}/${version}`),
  );
  if (kind === undefined) throw new Error(`no built-in kind ${object['apiVersion']} ${object['kind']}`);
  return kind;
}

/** Where objects of its kind are created; those that live in a namespace are all in `default`. */
export function addressOf(object: JsonObject): string {
  const { group, version, plural, namespaced } = kindOf(object);
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${root}${namespaced ? '/namespaces/default' : ''}/${plural}`;
}

/** The body of a PUT that changes what is stored. */
export function sentFor(created: JsonObject, stored: JsonObject, change: JsonObject | 'as created'): JsonObject {
  const sent = change === 'as created' ? structuredClone(created) : structuredClone(mergePatch(stored, change));
  if (!isJsonObject(sent) || !isJsonObject(sent['metadata']) || !isJsonObject(stored['metadata'])) {
    throw new Error('the change does not leave an object with metadata');
  }
  const { resourceVersion } = stored['metadata'];
  return { ...sent, metadata: { ...sent['metadata'], ...(resourceVersion === undefined ? {} : { resourceVersion }) } };
}
