import type { Attempt } from '../access.ts';
import { coversUrl, type PolicyRule } from './policy-rule.ts';

/** The rules of a role, arranged so that a question costs the same whatever the number of rules. */
export class Grants {
  readonly rules: readonly PolicyRule[];
  /** `group/resource`, either of them `*` → what is allowed there. */
  readonly #targets = new Map<string, Grant[]>();
  readonly #paths: { verbs: ReadonlySet<string>; patterns: readonly string[] }[] = [];

  constructor(rules: readonly PolicyRule[]) {
    this.rules = rules;
    for (const rule of rules) {
      const verbs = new Set(rule.verbs);
      if (rule.nonResourceURLs !== undefined) this.#paths.push({ verbs, patterns: rule.nonResourceURLs });
      const grant = { verbs, ...(rule.resourceNames === undefined ? {} : { names: new Set(rule.resourceNames) }) };
      for (const group of rule.apiGroups ?? []) {
        for (const resource of rule.resources ?? []) {
          const target = `${group}/${resource}`;
          const grants = this.#targets.get(target);
          if (grants === undefined) this.#targets.set(target, [grant]);
          else grants.push(grant);
        }
      }
    }
  }

  /** `targets` are those of the attempt: the same for every role that is asked. */
  allow({ verb, name }: Attempt, targets: readonly string[]): boolean {
    for (const target of targets) {
      for (const { verbs, names } of this.#targets.get(target) ?? []) {
        if ((verbs.has(verb) || verbs.has('*')) && (names === undefined || names.has(name))) return true;
      }
    }
    return false;
  }

  allowPath(verb: string, path: string): boolean {
    return this.#paths.some(
      ({ verbs, patterns }) =>
        (verbs.has(verb) || verbs.has('*')) && patterns.some((pattern) => coversUrl(pattern, path)),
    );
  }
}

interface Grant {
  readonly verbs: ReadonlySet<string>;
  /** Absent: whatever the name. */
  readonly names?: ReadonlySet<string>;
}

/** Every way in which a rule can speak of what is tried. */
export function targetsOf({ group, resource, subresource }: Attempt): readonly string[] {
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  const targets = [`${group}/${whole}`, `${group}/*`, `*/${whole}`, '*/*'];
  if (subresource !== '') targets.push(`${group}/*/${subresource}`, `*/*/${subresource}`);
  return targets;
}
