import type { PolicyRule } from '../src/engine/auth/rbac/policy-rule.ts';
import type { Right } from '../src/runtime/right.ts';

/** Rights as the rules of a role: each object is spoken of once, and what is allowed the same way is one rule. */
export function rulesOfRights(rights: readonly Right[]): PolicyRule[] {
  const verbsOf = new Map<string, { target: Target; verbs: Set<string> }>();
  for (const right of rights) {
    const target = targetOf(right);
    const key = JSON.stringify(target);
    const known = verbsOf.get(key) ?? { target, verbs: new Set() };
    for (const verb of right.verbs) known.verbs.add(verb);
    verbsOf.set(key, known);
  }
  const rules = new Map<string, PolicyRule & { resources: string[] }>();
  for (const { target, verbs: allowed } of verbsOf.values()) {
    const { group, resource, names } = target;
    const verbs = [...allowed].sort();
    const key = JSON.stringify([group, verbs, names]);
    const resourceNames = names.length === 0 ? {} : { resourceNames: names };
    const rule = rules.get(key) ?? { verbs, apiGroups: [group], resources: [], ...resourceNames };
    rule.resources.push(resource);
    rules.set(key, rule);
  }
  const sorted = [...rules.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([, rule]) => ({ ...rule, resources: rule.resources.sort() }));
}

interface Target {
  readonly group: string;
  readonly resource: string;
  readonly names: readonly string[];
}

const targetOf = ({ kind: { group, plural }, subresource, names = [] }: Right): Target => ({
  group,
  resource: subresource === '' ? plural : `${plural}/${subresource}`,
  names,
});
