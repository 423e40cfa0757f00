import type { UserInfo } from '../../api/admission.ts';
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { type AccessRules, type Attempt, mayDo, mayReadPath, rulesOf } from '../auth/access.ts';
import type { Identities } from '../auth/identity.ts';
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

  constructor(identities: Identities) {
    this.#identities = identities;
  }

  answer(endpoint: Endpoint, question: JsonObject, user: UserInfo): JsonObject {
    const { kind } = endpoint.resource;
    const spec = isJsonObject(question['spec']) ? question['spec'] : {};
    return {
      kind,
      apiVersion: endpoint.apiVersion,
      metadata: { creationTimestamp: null },
      ...(kind === 'SelfSubjectReview' ? {} : { spec }),
      status: this.#status(kind, spec, user),
    };
  }

  #status(kind: string, spec: JsonObject, user: UserInfo): JsonObject {
    switch (kind) {
      case 'SelfSubjectReview':
        return { userInfo: shown(user) };
      case 'TokenReview': {
        const known = this.#identities.userOf(text(spec['token']));
        return known === undefined ? { authenticated: false } : { authenticated: true, user: shown(known) };
      }
      case 'SelfSubjectAccessReview':
        return allowance(user, spec);
      case 'SelfSubjectRulesReview':
        return { ...asJson(rulesOf(user)), incomplete: false };
      default: {
        const groups = Array.isArray(spec['groups']) ? spec['groups'].map(text) : [];
        return allowance({ username: text(spec['user']), groups }, spec);
      }
    }
  }
}

function allowance(user: UserInfo, spec: JsonObject): JsonObject {
  const path = isJsonObject(spec['nonResourceAttributes']) ? text(spec['nonResourceAttributes']['path']) : undefined;
  const allowed = path === undefined ? mayDo(user, attemptIn(spec)) : mayReadPath(user, path);
  return allowed ? { allowed } : { allowed, reason: 'only members of the group system:masters have access' };
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
  };
}

const asJson = (rules: AccessRules): JsonObject => JSON.parse(JSON.stringify(rules));

const shown = (user: UserInfo): JsonObject => ({
  username: user.username,
  ...(user.uid === undefined ? {} : { uid: user.uid }),
  groups: [...user.groups],
});

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
