import type { PodTemplate } from '../../api/apps/workloads.ts';
import type { Pod } from '../../api/core/pod.ts';
import { equalJson, isJsonObject, type Json } from '../../api/json.ts';
import type { ApiObject } from '../../api/object.ts';
import type { Chance } from '../../runtime/clock.ts';
import type { Draft } from '../../runtime/draft.ts';
import { ownedBy } from '../../runtime/owner.ts';

/** The label that tells the pods of one ReplicaSet of a Deployment from those of another. */
export const TEMPLATE_HASH = 'pod-template-hash';

/** Letters and digits that cannot be mistaken for each other, nor make words. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** The same pods would come of both, but for the label that says which template they are of. */
export const isSameTemplate = (a: PodTemplate, b: PodTemplate): boolean =>
  equalJson(substance(withoutHash(a)), substance(withoutHash(b)));

/** A short name for a template. Where another template has it already, the count of such collisions makes another one. */
export function templateHash(template: PodTemplate, collisions = 0): string {
  const text = JSON.stringify(substance(withoutHash(template))) + (collisions > 0 ? String(collisions) : '');
  return safe(String(fnv32(text)));
}

/** The digits of a number in letters that make no words. */
const safe = (digits: string): string =>
  [...digits].map((digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length]).join('');

export function randomSuffix(chance: Chance): string {
  return Array.from({ length: 5 }, () => ALPHABET[Math.floor(chance.random() * ALPHABET.length)]).join('');
}

/** Names of pods end up in names of hosts, so the name of what made them may lose its end. */
export const podName = (owner: string, chance: Chance): string => `${owner.slice(0, 57)}-${randomSuffix(chance)}`;

export function podOf(owner: ApiObject, { metadata = {}, spec }: PodTemplate, name: string): Draft<Pod> {
  const { labels, annotations } = metadata;
  const { namespace = '' } = owner.metadata;
  return {
    metadata: {
      name,
      namespace,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [ownedBy(owner)],
    },
    spec,
  };
}

function withoutHash({ metadata = {}, spec }: PodTemplate): Json {
  const { [TEMPLATE_HASH]: _, ...labels } = metadata.labels ?? {};
  return { metadata: { ...metadata, labels }, spec } as unknown as Json;
}

/** Keys in one order, and nothing that says nothing: servers and clients differ in what they leave out. */
function substance(value: Json): Json {
  if (Array.isArray(value)) return value.map(substance);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]): [string, Json] => [key, substance(inner)])
      .filter(([, inner]) => !isEmpty(inner))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const isEmpty = (value: Json): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);

function fnv32(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
