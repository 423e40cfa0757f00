import type { UserInfo } from '../../../api/admission.ts';
import { nodeNameOf } from '../../../api/node-identity.ts';
import type { Attempt } from '../access.ts';
import { Grants, targetsOf } from '../rbac/grants.ts';
import type { PolicyRule } from '../rbac/policy-rule.ts';
import type { NodeGraph, Related } from './node-graph.ts';
import { ownKinds } from './own-kinds.ts';

export const NODE_LEASES = 'kube-node-lease';

/** Allowed, or not for this reason; roles may still allow it. */
export type NodeDecision = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

const yes: NodeDecision = { allowed: true };
const no = (reason = ''): NodeDecision => ({ allowed: false, reason });

/**
 * What nodes may do without any role, in the way of Kubernetes' node authorizer: of pods and what belongs to them only what they
 * need to run theirs. What it cannot see, as it does not know what is written, `nodeRestriction` looks at.
 */
export class NodeAuthorizer {
  readonly #graph: NodeGraph;
  readonly #rules: Grants;

  /** @param rules what is allowed whatever the object, for resources that are not looked into */
  constructor(graph: NodeGraph, rules: readonly PolicyRule[]) {
    this.#graph = graph;
    this.#rules = new Grants(rules);
  }

  /** Undefined for who is no node. */
  decide(user: UserInfo, attempt: Attempt): NodeDecision | undefined {
    const node = nodeNameOf(user);
    if (node === undefined) return undefined;
    if (node === '') return no(`unknown node for user "${user.username}"`);
    switch (resourceOf(attempt)) {
      case 'secrets':
        return this.#read(node, 'secrets', attempt);
      case 'configmaps':
        return this.#read(node, 'configmaps', attempt);
      case 'serviceaccounts':
        return this.#account(node, attempt);
      case 'pods':
        return this.#pod(node, attempt);
      case 'nodes':
        return ofNode(node, attempt);
      case 'leases.coordination.k8s.io':
        return ofLease(node, attempt);
    }
    if (isOwnWrite(attempt) || this.#rules.allow(attempt, targetsOf(attempt))) return yes;
    return no();
  }

  #read(node: string, kind: Related, attempt: Attempt): NodeDecision {
    if (!READS.includes(attempt.verb)) return no('can only read resources of this type');
    if (attempt.subresource !== '') return no('cannot read subresource');
    if (attempt.namespace === '') return no('can only read namespaced object of this type');
    return this.#related(node, kind, attempt);
  }

  #account(node: string, attempt: Attempt): NodeDecision {
    if (attempt.subresource === '' && attempt.verb === 'get') return this.#related(node, 'serviceaccounts', attempt);
    if (attempt.verb !== 'create' || attempt.name === '') {
      return no('can only create tokens for individual service accounts');
    }
    if (attempt.subresource !== 'token') return no('can only create token subresource of serviceaccount');
    return this.#related(node, 'serviceaccounts', attempt);
  }

  #pod(node: string, attempt: Attempt): NodeDecision {
    const { verb, subresource, fields = [] } = attempt;
    if (subresource === 'status') return ['update', 'patch'].includes(verb) ? yes : no();
    if (subresource === 'eviction') return verb === 'create' ? yes : no();
    if (subresource !== '') return no();
    switch (verb) {
      case 'get':
        return this.#related(node, 'pods', attempt);
      case 'list':
      case 'watch': {
        const isOwn = fields.some(({ field, op, value }) => field === 'spec.nodeName' && op === '=' && value === node);
        return isOwn ? yes : no('can only list/watch pods with spec.nodeName field selector');
      }
      case 'create':
      case 'delete':
        return yes;
      default:
        return no();
    }
  }

  #related(node: string, kind: Related, { namespace, name }: Attempt): NodeDecision {
    if (name === '') return no('No Object name found');
    if (this.#graph.relates(node, kind, namespace, name)) return yes;
    return no(`no relationship found between node '${node}' and this object`);
  }
}

const READS = ['get', 'list', 'watch'];

const resourceOf = ({ group, resource }: Attempt): string => (group === '' ? resource : `${resource}.${group}`);

function ofNode(node: string, { verb, subresource, name }: Attempt): NodeDecision {
  if (subresource === 'status') return ['get', 'update', 'patch'].includes(verb) ? yes : no();
  if (subresource !== '') return no();
  if (['create', 'update', 'patch'].includes(verb)) return yes;
  if (!READS.includes(verb)) return no();
  return name === node ? yes : no(`node '${node}' cannot read all nodes, only its own Node object`);
}

function ofLease(node: string, { verb, namespace, name }: Attempt): NodeDecision {
  if (!['get', 'create', 'update', 'patch', 'delete'].includes(verb)) {
    return no('can only get, create, update, patch, or delete a node lease');
  }
  if (namespace !== NODE_LEASES) return no(`can only access leases in the "${NODE_LEASES}" system namespace`);
  // The name of what is created is not known yet.
  if (verb === 'create' || name === node) return yes;
  return no('can only access node lease with the same name as the requesting node');
}

const isOwnWrite = ({ group, resource, subresource, verb }: Attempt): boolean =>
  ownKinds.some(
    ({ kind, writes }) =>
      kind.group === group &&
      kind.plural === resource &&
      writes.some((write) => write === `${verb} ${subresource}`.trim()),
  );
