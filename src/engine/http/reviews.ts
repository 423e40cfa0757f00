import type { UserInfo } from '../../api/admission.ts';
import { parseFieldSelector } from '../../api/field-selector.ts';
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { badRequest, type FieldError, invalid } from '../../api/status.ts';
import type { Access, Attempt } from '../auth/access.ts';
import type { Identities } from '../auth/identity.ts';
import type { PolicyRule } from '../auth/rbac/policy-rule.ts';
import type { Endpoint, Resource } from '../resources/resource.ts';

/** Kinds that are questions: what is posted comes back with an answer in its status, and nothing is stored. */
const REVIEWS = new Set([
  'authentication.k8s.io/SelfSubjectReview',
  'authentication.k8s.io/TokenReview',
  'authorization.k8s.io/SelfSubjectAccessReview',
  'authorization.k8s.io/SubjectAccessReview',
  'authorization.k8s.io/LocalSubjectAccessReview',
  'authorization.k8s.io/SelfSubjectRulesReview',
]);

export const isReview = ({ group, kind }: Resource): boolean => REVIEWS.has(`${group}/${kind}`);

export class Reviews {
  readonly #identities: Identities;
  readonly #access: Access;

  constructor(identities: Identities, access: Access) {
    this.#identities = identities;
    this.#access = access;
  }

  answer(endpoint: Endpoint, namespace: string, question: JsonObject, user: UserInfo): JsonObject {
    const { kind } = endpoint.resource;
    const spec = isJsonObject(question['spec']) ? question['spec'] : {};
    return {
      kind,
      apiVersion: endpoint.apiVersion,
      metadata: { creationTimestamp: null, ...(namespace === '' ? {} : { namespace }) },
      ...(kind === 'SelfSubjectReview' ? {} : { spec }),
      status: this.#status(endpoint.resource, namespace, spec, user),
    };
  }

  #status(resource: Resource, namespace: string, spec: JsonObject, user: UserInfo): JsonObject {
    switch (resource.kind) {
      case 'SelfSubjectReview':
        return { userInfo: shown(user) };
      case 'TokenReview':
        return this.#bearer(spec);
      case 'SelfSubjectRulesReview':
        return this.#rules(user, text(spec['namespace']));
      case 'SelfSubjectAccessReview':
        requireQuestion(resource, spec, []);
        return this.#allowance(user, spec);
      default: {
        const groups = Array.isArray(spec['groups']) ? spec['groups'].map(text) : [];
        const subject = { username: text(spec['user']), groups };
        const faults = resource.kind === 'LocalSubjectAccessReview' ? localFaults(spec, namespace) : [];
        if (subject.username === '' && groups.length === 0) faults.push(NOBODY);
        requireQuestion(resource, spec, faults);
        return this.#allowance(subject, spec);
      }
    }
  }

  /** Who brings a token, if it is meant for one of those that ask. */
  #bearer(spec: JsonObject): JsonObject {
    const asked = Array.isArray(spec['audiences']) ? spec['audiences'].map(text) : [];
    const targets = asked.length === 0 ? [this.#identities.audience] : asked;
    const bearer = this.#identities.bearerOf(text(spec['token']));
    if (bearer === undefined) return { user: {}, error: 'invalid bearer token' };
    const audiences = bearer.audiences.filter((audience) => targets.includes(audience));
    if (audiences.length > 0) return { authenticated: true, user: shown(bearer.user), audiences };
    const quoted = (list: readonly string[]) => `[${list.map((each) => JSON.stringify(each)).join(' ')}]`;
    const error = `token audiences ${quoted(bearer.audiences)} is invalid for the target audiences ${quoted(targets)}`;
    return { user: {}, error: `invalid bearer token, ${error}` };
  }

  #allowance(user: UserInfo, spec: JsonObject): JsonObject {
    if (isJsonObject(spec['nonResourceAttributes'])) {
      const { verb, path } = spec['nonResourceAttributes'];
      return { allowed: this.#access.mayUsePath(user, text(verb), text(path)) };
    }
    const { allowed, reason } = this.#access.decide(user, attemptIn(spec));
    return { allowed, ...(reason === '' ? {} : { reason }) };
  }

  #rules(user: UserInfo, namespace: string): JsonObject {
    if (namespace === '') throw badRequest('no namespace on request');
    const rules = this.#access.rulesOf(user, namespace);
    const evaluationError = this.#access.incompleteness(user);
    const json = (some: readonly PolicyRule[]): Json => JSON.parse(JSON.stringify(some));
    return {
      resourceRules: json(rules.filter((rule) => rule.nonResourceURLs === undefined)),
      nonResourceRules: json(rules.filter((rule) => rule.nonResourceURLs !== undefined)),
      incomplete: evaluationError !== undefined,
      ...(evaluationError === undefined ? {} : { evaluationError }),
    };
  }
}

const NOBODY: FieldError = {
  type: 'Invalid',
  field: 'spec.user',
  value: '',
  detail: 'at least one of user or group must be specified',
};

function localFaults(spec: JsonObject, namespace: string): FieldError[] {
  const asked = isJsonObject(spec['resourceAttributes']) ? text(spec['resourceAttributes']['namespace']) : '';
  if (asked === namespace) return [];
  const detail = 'must match metadata.namespace';
  return [{ type: 'Invalid', field: 'spec.resourceAttributes.namespace', value: asked, detail }];
}

/** A question is about a resource or about a path. */
function requireQuestion(resource: Resource, spec: JsonObject, faults: FieldError[]): void {
  const [about, path] = [isJsonObject(spec['resourceAttributes']), isJsonObject(spec['nonResourceAttributes'])];
  if (about === path) {
    faults.push({
      type: 'Invalid',
      field: about ? 'spec.nonResourceAttributes' : 'spec.resourceAttributes',
      value: spec['nonResourceAttributes'] ?? null,
      detail: about
        ? 'cannot be specified in combination with resourceAttributes'
        : 'exactly one of nonResourceAttributes or resourceAttributes must be specified',
    });
  }
  if (faults.length > 0) throw invalid(resource, '', faults);
}

function attemptIn(spec: JsonObject): Attempt {
  const asked = isJsonObject(spec['resourceAttributes']) ? spec['resourceAttributes'] : {};
  return {
    verb: text(asked['verb']),
    group: text(asked['group']),
    resource: text(asked['resource']),
    subresource: text(asked['subresource']),
    namespace: text(asked['namespace']),
    name: text(asked['name']),
    ...fieldsIn(asked),
  };
}

function fieldsIn({ fieldSelector }: JsonObject): Pick<Attempt, 'fields'> {
  if (!isJsonObject(fieldSelector) || typeof fieldSelector['rawSelector'] !== 'string') return {};
  return { fields: parseFieldSelector(fieldSelector['rawSelector']) };
}

const shown = (user: UserInfo): JsonObject => ({
  username: user.username,
  ...(user.uid === undefined ? {} : { uid: user.uid }),
  groups: [...user.groups],
  ...(user.extra === undefined ? {} : { extra: plain(user.extra) }),
});

const plain = (extra: NonNullable<UserInfo['extra']>): JsonObject =>
  Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
