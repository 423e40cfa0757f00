import type { UserInfo } from '../../../api/admission.ts';
import type { JsonObject } from '../../../api/json.ts';
import { decode } from '../../objects/encoding.ts';
import type { Store } from '../../store/store.ts';
import type { Attempt } from '../access.ts';
import { targetsOf } from './grants.ts';
import type { PolicyRule } from './policy-rule.ts';
import { type Binding, RoleBook, subjectKeys } from './role-book.ts';

/** What the roles and bindings in the store allow: the union of all that is granted, and nothing is ever denied. */
export class Rbac {
  readonly #book = new RoleBook();
  readonly #watches: { close(): void }[];

  /** Follows the store: who has written a binding sees its effect with the next request. */
  constructor(store: Store) {
    const role = (namespace: string, name: string, object: JsonObject | undefined) =>
      this.#book.setRole(namespace, name, object);
    const binding = (namespace: string, name: string, object: JsonObject | undefined) =>
      this.#book.setBinding(namespace, name, object);
    const learn = [
      ['roles', role],
      ['clusterroles', role],
      ['rolebindings', binding],
      ['clusterrolebindings', binding],
    ] as const;
    this.#watches = learn.map(([plural, set]) => {
      const resource = `${plural}.rbac.authorization.k8s.io`;
      for (const { namespace, name, bytes } of store.list({ resource }).versions) set(namespace, name, decode(bytes));
      return store.watch({ resource, after: store.revision }, (events) => {
        for (const { type, current } of events) {
          set(current.namespace, current.name, type === 'DELETED' ? undefined : decode(current.bytes));
        }
      });
    });
  }

  stop(): void {
    for (const watch of this.#watches) watch.close();
  }

  /** The binding that allows it, if there is one. */
  grantFor(user: UserInfo, attempt: Attempt): Binding | undefined {
    const targets = targetsOf(attempt);
    for (const binding of this.#book.bindingsOf(subjectKeys(user), attempt.namespace)) {
      if (this.#grantsOf(binding)?.allow(attempt, targets) === true) return binding;
    }
    return undefined;
  }

  grantForPath(user: UserInfo, verb: string, path: string): Binding | undefined {
    for (const binding of this.#book.bindingsOf(subjectKeys(user), '')) {
      if (this.#grantsOf(binding)?.allowPath(verb, path) === true) return binding;
    }
    return undefined;
  }

  /** All that somebody holds in a namespace ('' for what holds everywhere). */
  rulesOf(user: UserInfo, namespace: string): PolicyRule[] {
    const bindings = [...this.#book.bindingsOf(subjectKeys(user), namespace)];
    return bindings.flatMap((binding) => this.#grantsOf(binding)?.rules ?? []);
  }

  /** What a role allows; undefined where there is no such role. */
  rulesOfRole(namespace: string, name: string): readonly PolicyRule[] | undefined {
    return this.#book.grantsOf(namespace, name)?.rules;
  }

  #grantsOf({ role }: Binding) {
    return this.#book.grantsOf(role.namespace, role.name);
  }
}
