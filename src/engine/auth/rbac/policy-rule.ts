import type { JsonObject } from '../../../api/json.ts';
import { objectsAt, textsAt } from '../../builtin/reading.ts';

/** One rule of a role: the verbs that it allows, on resources or on paths. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  /** `pods`, `pods/log`, `*\/scale`, or `*` for all of them. */
  readonly resources?: readonly string[];
  /** None of them: whatever the name. */
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export const rulesIn = (role: JsonObject): PolicyRule[] =>
  objectsAt(role, 'rules').map((rule) => ({
    verbs: textsAt(rule, 'verbs'),
    ...listAt(rule, 'apiGroups'),
    ...listAt(rule, 'resources'),
    ...listAt(rule, 'resourceNames'),
    ...listAt(rule, 'nonResourceURLs'),
  }));

function listAt(rule: JsonObject, field: string): Record<string, readonly string[]> {
  const texts = textsAt(rule, field);
  return texts.length === 0 ? {} : { [field]: texts };
}

/**
 * What of `wanted` nobody with `held` could do, in rules of one verb on one thing each: nothing, if it is all covered. A few
 * of them are enough to refuse, so the search ends there.
 */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const missing: PolicyRule[] = [];
  let looked = 0;
  for (const rule of wanted) {
    // Nearly always one rule that is held covers the whole of one that is wanted.
    if (held.some((each) => coversRule(each, rule))) continue;
    for (const single of singles(rule)) {
      // A hostile rule has billions of combinations. What cannot be looked at in a moment counts as not held.
      if (++looked > MOST_LOOKS || !held.some((each) => coversRule(each, single))) missing.push(single);
      if (missing.length === ENOUGH) return missing;
    }
  }
  return missing;
}

const MOST_LOOKS = 20_000;
const ENOUGH = 20;

/** A rule taken apart. */
function* singles(rule: PolicyRule): Generator<PolicyRule> {
  for (const verb of rule.verbs) {
    for (const url of rule.nonResourceURLs ?? []) yield { verbs: [verb], nonResourceURLs: [url] };
    for (const group of rule.apiGroups ?? []) {
      for (const resource of rule.resources ?? []) {
        const target = { verbs: [verb], apiGroups: [group], resources: [resource] };
        if (rule.resourceNames === undefined) yield target;
        for (const name of rule.resourceNames ?? []) yield { ...target, resourceNames: [name] };
      }
    }
  }
}

function coversRule(held: PolicyRule, wanted: PolicyRule): boolean {
  if (!coversAll(held.verbs, wanted.verbs)) return false;
  if (wanted.nonResourceURLs !== undefined) {
    return wanted.nonResourceURLs.every((url) => held.nonResourceURLs?.some((own) => coversUrl(own, url)) === true);
  }
  return (
    coversAll(held.apiGroups ?? [], wanted.apiGroups ?? []) &&
    (wanted.resources ?? []).every((resource) => coversResource(held.resources ?? [], resource)) &&
    (held.resourceNames === undefined ||
      wanted.resourceNames?.every((name) => held.resourceNames?.includes(name) === true) === true)
  );
}

const coversAll = (held: readonly string[], wanted: readonly string[]): boolean =>
  held.includes('*') || wanted.every((each) => held.includes(each));

function coversResource(held: readonly string[], wanted: string): boolean {
  if (held.includes('*') || held.includes(wanted)) return true;
  const slash = wanted.indexOf('/');
  return slash >= 0 && held.includes(`*${wanted.slice(slash)}`);
}

/** Whether a pattern of paths (`/healthz`, `/healthz/*`, `*`) takes in a path, or all of another pattern. */
export const coversUrl = (pattern: string, path: string): boolean =>
  pattern === '*' || pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1)));
