import type { JsonObject } from '../../../api/json.ts';
import { objectAt, objectsAt, textAt } from '../../builtin/reading.ts';
import { Grants } from './grants.ts';
import { rulesIn } from './policy-rule.ts';

/** A grant of a role to somebody: everywhere (no namespace), or in one namespace. */
export interface Binding {
  readonly namespace: string;
  readonly name: string;
  readonly role: { readonly kind: string; readonly name: string; readonly namespace: string };
  /** As `subjectKeys` spells them. */
  readonly subjects: readonly string[];
}

/**
 * All roles and bindings, found by who is asking: what others may do costs nobody anything. A role that is bound before it
 * exists grants nothing until it does.
 */
export class RoleBook {
  /** `namespace/name` → what the role allows; cluster roles have no namespace. */
  readonly #roles = new Map<string, Grants>();
  /** `namespace/name` → the binding. */
  readonly #bindings = new Map<string, Binding>();
  /** Namespace ('' for everywhere) → subject → its bindings. */
  readonly #bySubject = new Map<string, Map<string, Set<Binding>>>();

  setRole(namespace: string, name: string, role: JsonObject | undefined): void {
    if (role === undefined) this.#roles.delete(`${namespace}/${name}`);
    else this.#roles.set(`${namespace}/${name}`, new Grants(rulesIn(role)));
  }

  setBinding(namespace: string, name: string, object: JsonObject | undefined): void {
    const key = `${namespace}/${name}`;
    const before = this.#bindings.get(key);
    if (before !== undefined) this.#unlink(before);
    this.#bindings.delete(key);
    if (object === undefined) return;
    const binding = bindingOf(namespace, name, object);
    this.#bindings.set(key, binding);
    this.#link(binding);
  }

  grantsOf(namespace: string, name: string): Grants | undefined {
    return this.#roles.get(`${namespace}/${name}`);
  }

  /** What has been granted to somebody everywhere, and in a namespace. */
  *bindingsOf(subjects: readonly string[], namespace: string): Generator<Binding> {
    for (const place of namespace === '' ? [''] : ['', namespace]) {
      const here = this.#bySubject.get(place);
      if (here === undefined) continue;
      for (const subject of subjects) yield* here.get(subject) ?? [];
    }
  }

  #link(binding: Binding): void {
    const here = this.#bySubject.get(binding.namespace) ?? new Map<string, Set<Binding>>();
    this.#bySubject.set(binding.namespace, here);
    for (const subject of binding.subjects) {
      const bindings = here.get(subject) ?? new Set();
      here.set(subject, bindings);
      bindings.add(binding);
    }
  }

  #unlink(binding: Binding): void {
    const here = this.#bySubject.get(binding.namespace);
    for (const subject of binding.subjects) {
      const bindings = here?.get(subject);
      bindings?.delete(binding);
      if (bindings?.size === 0) here?.delete(subject);
    }
    if (here?.size === 0) this.#bySubject.delete(binding.namespace);
  }
}

/** How somebody can be named as the subject of a binding: a service account is the user that it acts as. */
export const subjectKeys = ({ username, groups }: { username: string; groups: readonly string[] }): string[] => [
  `user ${username}`,
  ...groups.map((group) => `group ${group}`),
];

function bindingOf(namespace: string, name: string, object: JsonObject): Binding {
  const role = objectAt(object, 'roleRef');
  const kind = textAt(role, 'kind');
  return {
    namespace,
    name,
    role: { kind, name: textAt(role, 'name'), namespace: kind === 'Role' ? namespace : '' },
    subjects: objectsAt(object, 'subjects').flatMap((subject) => subjectKey(subject, namespace) ?? []),
  };
}

function subjectKey(subject: JsonObject, namespace: string): string | undefined {
  const name = textAt(subject, 'name');
  switch (textAt(subject, 'kind')) {
    case 'User':
      return `user ${name}`;
    case 'Group':
      return `group ${name}`;
    case 'ServiceAccount': {
      const home = textAt(subject, 'namespace') || namespace;
      return home === '' ? undefined : `user system:serviceaccount:${home}:${name}`;
    }
    default:
      return undefined;
  }
}
