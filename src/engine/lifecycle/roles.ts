import { equalJson, type JsonObject } from '../../api/json.ts';
import { metadataOf } from '../../api/object.ts';
import { ApiError } from '../../api/status.ts';
import type { Log } from '../../runtime/log.ts';
import {
  type BootstrapBinding,
  type BootstrapRole,
  bootstrapBindings,
  bootstrapRoles,
} from '../auth/rbac/bootstrap-roles.ts';
import { type PolicyRule, rulesIn, uncovered } from '../auth/rbac/policy-rule.ts';
import { selects } from '../builtin/label-selectors.ts';
import { objectAt, objectsAt, textMapAt } from '../builtin/reading.ts';
import type { Context, Target } from '../objects/context.ts';
import { create } from '../objects/create.ts';
import { decode } from '../objects/encoding.ts';
import { update } from '../objects/replace.ts';
import { storageEndpoint } from './garbage-collector.ts';
import { internalOptions } from './internal-options.ts';
import { Jobs } from './jobs.ts';

const GROUP = 'rbac.authorization.k8s.io';
const CLUSTER_ROLES = `clusterroles.${GROUP}`;

/** Sees to the roles that every cluster has, and to those that are made of others. */
export class Roles {
  readonly #context: Context;
  readonly #jobs: Jobs;
  #following: { close(): void } | undefined;

  constructor(context: Context, log: Log) {
    this.#context = context;
    this.#jobs = new Jobs('a role made of others', log);
  }

  /** Resolves when everybody has the rights that they have from the start. */
  async start(): Promise<void> {
    await Promise.all([
      ...bootstrapRoles.map((role) => this.#ensureRole(role)),
      ...bootstrapBindings.map((binding) => this.#ensureBinding(binding)),
    ]);
    const { store } = this.#context;
    // One may be made of another that is made of others.
    for (let isSettled = false; !isSettled; ) {
      isSettled = true;
      for (const name of this.#aggregated()) if (await this.#aggregate(name)) isSettled = false;
    }
    this.#following = store.watch({ resource: CLUSTER_ROLES, after: store.revision }, () => {
      for (const name of this.#aggregated())
        this.#jobs.add(name, async () => {
          await this.#aggregate(name);
        });
    });
  }

  stop(): Promise<void> {
    this.#following?.close();
    return this.#jobs.stop();
  }

  async #ensureRole({ name, namespace = '', labels, rules, aggregates }: BootstrapRole): Promise<void> {
    const id = `${namespace === '' ? 'clusterroles' : 'roles'}.${GROUP}`;
    const found = this.#read(id, namespace, name);
    if (found === undefined) {
      await this.#create(id, namespace, {
        metadata: bootstrapMetadata(name, labels),
        rules: asJson(rules ?? []),
        ...(aggregates === undefined
          ? {}
          : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregates]: 'true' } }] } }),
      });
      return;
    }
    if (!isKeptUp(found) || rules === undefined) return;
    // What somebody has added stays; what is missing comes back, as when Kubernetes is upgraded.
    const missing = uncovered(rulesIn(found), rules);
    if (missing.length === 0) return;
    await this.#update(id, namespace, name, { ...found, rules: [...objectsAt(found, 'rules'), ...asJson(missing)] });
  }

  async #ensureBinding({ name, role, groups }: BootstrapBinding): Promise<void> {
    const id = `clusterrolebindings.${GROUP}`;
    const subjects = groups.map((group): JsonObject => ({ kind: 'Group', apiGroup: GROUP, name: group }));
    const found = this.#read(id, '', name);
    if (found === undefined) {
      const roleRef = { apiGroup: GROUP, kind: 'ClusterRole', name: role };
      await this.#create(id, '', { metadata: bootstrapMetadata(name), roleRef, subjects });
      return;
    }
    if (!isKeptUp(found)) return;
    const there = objectsAt(found, 'subjects');
    const missing = subjects.filter((subject) => !there.some((each) => each['name'] === subject['name']));
    if (missing.length > 0) await this.#update(id, '', name, { ...found, subjects: [...there, ...missing] });
  }

  #aggregated(): string[] {
    return this.#clusterRoles().flatMap(({ name, role }) => (role['aggregationRule'] === undefined ? [] : [name]));
  }

  /** The union of all that the selected roles allow, in the order of their names, each rule once. True if that is news. */
  async #aggregate(name: string): Promise<boolean> {
    const roles = this.#clusterRoles();
    const role = roles.find((each) => each.name === name)?.role;
    const selectors = objectsAt(objectAt(role, 'aggregationRule'), 'clusterRoleSelectors');
    if (role === undefined || selectors.length === 0) return false;
    const rules = new Map<string, PolicyRule>();
    for (const part of roles) {
      const labels = textMapAt(metadataOf(part.role), 'labels');
      if (part.name === name || !selectors.some((selector) => selects(selector, labels))) continue;
      for (const rule of rulesIn(part.role)) rules.set(JSON.stringify(rule), rule);
    }
    const wanted = asJson([...rules.values()]);
    if (equalJson(wanted, role['rules'] ?? [])) return false;
    await this.#update(CLUSTER_ROLES, '', name, { ...role, rules: wanted });
    return true;
  }

  #clusterRoles(): { name: string; role: JsonObject }[] {
    const { versions } = this.#context.store.list({ resource: CLUSTER_ROLES });
    return versions.map(({ name, bytes }) => ({ name, role: decode(bytes) }));
  }

  #read(id: string, namespace: string, name: string): JsonObject | undefined {
    const version = this.#context.store.newest(id, namespace, name);
    return version && decode(version.bytes);
  }

  async #create(id: string, namespace: string, object: JsonObject): Promise<void> {
    await create(this.#context, this.#target(id, namespace, ''), submission(object), internalOptions('netloom'));
  }

  async #update(id: string, namespace: string, name: string, object: JsonObject): Promise<void> {
    try {
      await update(this.#context, this.#target(id, namespace, name), submission(object), internalOptions('netloom'));
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 404)) throw error;
    }
  }

  #target(id: string, namespace: string, name: string): Target {
    const endpoint = storageEndpoint(this.#context, id);
    if (endpoint === undefined) throw new Error(`${id} is not served`);
    return { endpoint, namespace, name, subresource: '' };
  }
}

const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

const bootstrapMetadata = (name: string, labels: Readonly<Record<string, string>> = {}): JsonObject => ({
  name,
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
  annotations: { [AUTOUPDATE]: 'true' },
});

/** Whoever changes one of these roles for good sets the annotation to false. */
const isKeptUp = (object: JsonObject): boolean =>
  textMapAt(metadataOf(object), 'annotations').get(AUTOUPDATE) === 'true';

const submission = (object: JsonObject) => ({ object, duplicates: [] });

const asJson = (rules: readonly PolicyRule[]): JsonObject[] => JSON.parse(JSON.stringify(rules));
