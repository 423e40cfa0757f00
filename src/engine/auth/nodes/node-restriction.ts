import type { Admission, AdmissionRequest } from '../../../api/admission.ts';
import { equalJson, type JsonObject } from '../../../api/json.ts';
import { builtinKind, type Kind } from '../../../api/kind.ts';
import { hostObjection, NODE_PREFIX, nodeNameOf } from '../../../api/node-identity.ts';
import { forbidden } from '../../../api/status.ts';
import { isAbsent, metadataOf, objectAt, objectsAt, specOf, textAt, textMapAt } from '../../builtin/reading.ts';
import { NODE_LEASES } from './node-authorizer.ts';
import { changedLabels, mayLabelItself } from './node-labels.ts';
import { ownKinds } from './own-kinds.ts';
import { isMirror, MIRROR, referencesOf } from './pod-references.ts';

const Pod = builtinKind('', 'v1', 'Pod', 'pods');
const Node = builtinKind('', 'v1', 'Node', 'nodes', 'Cluster');
const Lease = builtinKind('coordination.k8s.io', 'v1', 'Lease', 'leases');
const Event = builtinKind('', 'v1', 'Event', 'events');

const EVERYTHING = ['CREATE', 'UPDATE', 'DELETE'] as const;

/** What is said against a write; undefined for nothing. */
type Objection = (node: string, request: Written) => string | undefined;

interface Written extends Pick<AdmissionRequest, 'operation' | 'subresource' | 'namespace' | 'name'> {
  readonly now: JsonObject;
  readonly before: JsonObject;
}

/**
 * Lets nodes write what belongs to them and nothing else, in the words of Kubernetes' NodeRestriction. Stricter than that one with
 * Events and ranges of pods: a node tells what happens in its own name, and does not choose what is routed to it.
 */
export const nodeRestriction: readonly Admission[] = [
  restrict(Pod, ofPod, ['status', 'eviction']),
  restrict(Node, ofNode, ['status']),
  restrict(Lease, ofLease),
  restrict(Event, ofKind(Event, tellersOf)),
  ...ownKinds.map(({ kind, hostOf }) =>
    restrict(
      kind,
      ofKind(kind, (object) => [hostOf(object)]),
      ['status'],
    ),
  ),
];

function restrict(kind: Kind, objection: Objection, subresources: readonly string[] = []): Admission {
  return {
    kind,
    operations: EVERYTHING,
    subresources,
    validate({ user, object, oldObject, ...request }) {
      const node = nodeNameOf(user);
      if (node === undefined) return [];
      const why =
        node === ''
          ? `could not determine node from user "${user.username}"`
          : objection(node, { ...request, now: asJson(object), before: asJson(oldObject) });
      if (why !== undefined) throw forbidden(kind, request.name, why);
      return [];
    },
  };
}

function ofPod(node: string, { operation, subresource, now, before }: Written): string | undefined {
  if (subresource === 'status') {
    if (nodeOf(before) !== node) {
      return `node "${node}" can only update pod status for pods with spec.nodeName set to itself`;
    }
    return changedLabels(labelsOf(now), labelsOf(before)).length === 0
      ? undefined
      : `node "${node}" cannot update labels through pod status`;
  }
  if (subresource === 'eviction') {
    return nodeOf(before) === node ? undefined : `node "${node}" can only evict pods with spec.nodeName set to itself`;
  }
  if (operation === 'CREATE') return ofMirror(node, now);
  if (operation === 'UPDATE') {
    return `unexpected operation "UPDATE", node "${node}" can only create and delete mirror pods`;
  }
  return nodeOf(before) === node ? undefined : `node "${node}" can only delete pods with spec.nodeName set to itself`;
}

/** Of every kind of which each object belongs to a host: it must before the write and after. */
function ofKind(kind: Kind, hostsOf: (object: JsonObject) => readonly string[]): Objection {
  return (node, { operation, now, before }) => {
    const objects = { CREATE: [now], UPDATE: [before, now], DELETE: [before] }[operation];
    return hostObjection(node, kind, objects.flatMap(hostsOf));
  };
}

/** Who says that something happened, by both of the names that an Event has for that; `deprecatedSource` in its newer form. */
function tellersOf(event: JsonObject): readonly string[] {
  const sources = ['source', 'deprecatedSource'].map((field) => textAt(objectAt(event, field), 'host'));
  const named = [...sources, textAt(event, 'reportingInstance')].filter((host) => host !== '');
  return named.length === 0 ? [''] : named;
}

/** A mirror shows what a host runs by itself. What it names would be the host's to read, so it may name nothing. */
function ofMirror(node: string, pod: JsonObject): string | undefined {
  if (!isMirror(pod)) return `pod does not have "${MIRROR}" annotation, node "${node}" can only create mirror pods`;
  if (nodeOf(pod) !== node) return `node "${node}" can only create pods with spec.nodeName set to itself`;
  const fault = ownerFault(node, objectsAt(metadataOf(pod), 'ownerReferences'));
  if (fault !== undefined) return fault;
  const { serviceAccount, secrets, configMaps } = referencesOf(pod);
  const claims = objectsAt(specOf(pod), 'volumes').filter((volume) => !isAbsent(volume, 'persistentVolumeClaim'));
  const named = [
    ...(serviceAccount === '' ? [] : ['a service account']),
    ...(secrets.size === 0 ? [] : ['secrets']),
    ...(configMaps.size === 0 ? [] : ['configmaps']),
    ...(claims.length === 0 ? [] : ['persistentvolumeclaims']),
  ];
  return named.length === 0 ? undefined : `node "${node}" can not create pods that reference ${named[0]}`;
}

/** A mirror goes with the Node that shows it, and holds nothing else up. */
function ownerFault(node: string, [owner, ...more]: readonly JsonObject[]): string | undefined {
  if (more.length > 0) return `node "${node}" can only create pods with a single owner reference set to itself`;
  const { apiVersion, kind, name } = owner ?? {};
  if (apiVersion !== 'v1' || kind !== 'Node' || name !== node) {
    return `node "${node}" can only create pods with an owner reference set to itself`;
  }
  if (owner?.['controller'] !== true) {
    return `node "${node}" can only create pods with a controller owner reference set to itself`;
  }
  return owner['blockOwnerDeletion'] === true
    ? `node "${node}" must not set blockOwnerDeletion on an owner reference`
    : undefined;
}

function ofNode(node: string, { operation, name, now, before }: Written): string | undefined {
  if (name !== node) return `node "${node}" is not allowed to modify node "${name}"`;
  if (operation === 'DELETE') return `node "${node}" is not allowed to delete nodes`;
  const odd = changedLabels(labelsOf(now), labelsOf(before)).filter((label) => !mayLabelItself(label));
  if (operation === 'CREATE') {
    if (odd.length > 0) return `node "${node}" is not allowed to set the following labels: ${odd.join(', ')}`;
    // Others lead to it what is for the addresses of its pods: it does not choose them.
    const isRanged = ['podCIDR', 'podCIDRs'].some((field) => !isAbsent(specOf(now), field));
    return isRanged ? `node "${node}" is not allowed to set spec.podCIDR` : undefined;
  }
  const differ = (field: string, of: (object: JsonObject) => JsonObject): boolean =>
    !equalJson(of(now)[field] ?? null, of(before)[field] ?? null);
  if (differ('taints', specOf)) return `node "${node}" is not allowed to modify taints`;
  if (odd.length > 0) return `is not allowed to modify labels: ${odd.join(', ')}`;
  if (differ('ownerReferences', metadataOf)) return `node "${node}" is not allowed to modify ownerReferences`;
  return equalJson(specOf(now), specOf(before)) ? undefined : `node "${node}" is not allowed to modify spec`;
}

function ofLease(node: string, { namespace, name }: Written): string | undefined {
  if (namespace !== NODE_LEASES) return `can only access leases in the "${NODE_LEASES}" system namespace`;
  return name === node ? undefined : 'can only access node lease with the same name as the requesting node';
}

const nodeOf = (pod: JsonObject): string => textAt(specOf(pod), 'nodeName');
const labelsOf = (object: JsonObject): Map<string, string> => textMapAt(metadataOf(object), 'labels');
const asJson = (object: unknown): JsonObject => (object ?? {}) as JsonObject;

interface AskedToken {
  readonly audiences: readonly string[];
  /** What it is to be bound to, and the pod of that name. */
  readonly bound: JsonObject | undefined;
  readonly pod: JsonObject | undefined;
}

/** What is said against a token that a node asks for: it gets those that its pods want, for as long as the pods live. */
export function tokenObjection(node: string, { audiences, bound, pod }: AskedToken): string | undefined {
  const isPod = textAt(bound, 'apiVersion') === 'v1' && textAt(bound, 'kind') === 'Pod' && textAt(bound, 'name') !== '';
  if (!isPod) return 'node requested token not bound to a pod';
  const uid = textAt(bound, 'uid');
  if (uid === '') return 'node requested token with a pod binding without a uid';
  if (textAt(objectAt(pod, 'metadata'), 'uid') !== uid) {
    return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  }
  if (nodeOf(pod ?? {}) !== node) return 'node requested token bound to a pod scheduled on a different node';
  const wanted = audiencesIn(pod ?? {});
  // Without one, a token is for the API.
  const odd = (audiences.length === 0 ? [''] : audiences).find((audience) => !wanted.has(audience));
  return odd === undefined
    ? undefined
    : `audience ${JSON.stringify(odd)} not found in pod spec volume, ${NODE_PREFIX}${node} is not authorized to request tokens for this audience`;
}

/** For whom the volumes of a pod want tokens; empty for the API. */
function audiencesIn(pod: JsonObject): ReadonlySet<string> {
  const sources = objectsAt(specOf(pod), 'volumes').flatMap((volume) =>
    objectsAt(objectAt(volume, 'projected'), 'sources'),
  );
  const tokens = sources.filter((source) => !isAbsent(source, 'serviceAccountToken'));
  return new Set(tokens.map((source) => textAt(objectAt(source, 'serviceAccountToken'), 'audience')));
}
