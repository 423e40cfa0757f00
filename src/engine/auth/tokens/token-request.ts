import type { UserInfo } from '../../../api/admission.ts';
import type { JsonObject } from '../../../api/json.ts';
import { nodeNameOf } from '../../../api/node-identity.ts';
import { badRequest, conflict, type FieldError, forbidden, invalid, notFound } from '../../../api/status.ts';
import { timestamp } from '../../../runtime/timestamp.ts';
import { metadataOf, objectAt, optionalNumberAt, specOf, textAt, textsAt } from '../../builtin/reading.ts';
import { decode } from '../../objects/encoding.ts';
import type { Store } from '../../store/store.ts';
import { tokenObjection } from '../nodes/node-restriction.ts';
import { type AccountTokens, type Grant, ISSUER, type Named } from './account-tokens.ts';

const ACCOUNTS = { group: '', plural: 'serviceaccounts', kind: 'ServiceAccount' };

export interface TokenRequest {
  readonly namespace: string;
  /** Of the account. */
  readonly name: string;
  readonly object: JsonObject;
  readonly user: UserInfo;
}

/** Answers a request for a token of an account with the same request, its status filled in. */
export function answerTokenRequest(
  { namespace, name, object, user }: TokenRequest,
  { store, tokens }: { store: Store; tokens: AccountTokens },
): JsonObject {
  const live = (resource: string, of: string, from = namespace): JsonObject | undefined => {
    const version = store.newest(resource, from, of);
    return version === undefined ? undefined : decode(version.bytes);
  };
  const account = live('serviceaccounts', name);
  if (account === undefined) throw notFound(ACCOUNTS, name);
  requireIdentity(object, namespace, name);
  const spec = specOf(object);
  const seconds = optionalNumberAt(spec, 'expirationSeconds') ?? 3600;
  const faults = lifeFaults(seconds);
  if (faults.length > 0) throw invalid({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', faults);
  const asked = textsAt(spec, 'audiences');
  const audiences = asked.length === 0 ? [ISSUER] : asked;
  const ref = objectAt(spec, 'boundObjectRef');

  const node = nodeNameOf(user);
  if (node !== undefined) {
    const isPod = textAt(ref, 'kind') === 'Pod';
    const pod = isPod ? live('pods', textAt(ref, 'name')) : undefined;
    const objection = tokenObjection(node, { audiences: asked, bound: ref, pod });
    if (objection !== undefined) throw forbidden(ACCOUNTS, name, objection);
  }
  const bound = ref === undefined ? {} : boundTo(ref, name, live);
  const grant = { namespace, account: namedIn(account), audiences, seconds, bound };
  const { token, expires } = tokens.issue(grant);
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace, creationTimestamp: timestamp(expires.getTime() - seconds * 1000) },
    spec: { audiences: [...audiences], expirationSeconds: seconds, boundObjectRef: ref ?? null },
    status: { token, expirationTimestamp: timestamp(expires.getTime()) },
  };
}

function requireIdentity(object: JsonObject, namespace: string, name: string): void {
  const metadata = metadataOf(object);
  const [givenName, givenNamespace] = [textAt(metadata, 'name'), textAt(metadata, 'namespace')];
  if (givenName !== '' && givenName !== name) {
    throw badRequest(`metadata.name ("${givenName}") must match the name in the request ("${name}")`);
  }
  if (givenNamespace !== '' && givenNamespace !== namespace) {
    throw badRequest(
      `metadata.namespace ("${givenNamespace}") must match the namespace in the request ("${namespace}")`,
    );
  }
}

function lifeFaults(seconds: number): FieldError[] {
  const fault = (detail: string): FieldError[] => [
    { type: 'Invalid', field: 'spec.expirationSeconds', value: seconds, detail },
  ];
  if (seconds < 600) return fault('may not specify a duration less than 10 minutes');
  return seconds > 2 ** 32 ? fault('may not specify a duration larger than 2^32 seconds') : [];
}

function boundTo(
  ref: JsonObject,
  account: string,
  live: (resource: string, name: string, namespace?: string) => JsonObject | undefined,
): Grant['bound'] {
  const [apiVersion, kind, name, uid] = ['apiVersion', 'kind', 'name', 'uid'].map((key) => textAt(ref, key));
  const found = (plural: string, namespace?: string): JsonObject => {
    const resource = { group: '', plural, kind: kind ?? '' };
    const object = live(plural, name ?? '', namespace);
    if (object === undefined) throw notFound(resource, name ?? '');
    const real = textAt(metadataOf(object), 'uid');
    if (uid === '' || uid === real) return object;
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ ...resource, plural: kind ?? '' }, name ?? '', why);
  };
  switch (`${apiVersion} ${kind}`) {
    case 'v1 Pod': {
      const pod = found('pods');
      if (textAt(specOf(pod), 'serviceAccountName') !== account) {
        const why = 'to pod running with different serviceaccount name.';
        throw badRequest(`cannot bind token for serviceaccount "${account}" ${why}`);
      }
      const host = textAt(specOf(pod), 'nodeName');
      const node = host === '' ? undefined : live('nodes', host, '');
      return { pod: namedIn(pod), ...(node === undefined ? {} : { node: namedIn(node) }) };
    }
    case 'v1 Secret':
      return { secret: namedIn(found('secrets')) };
    case 'v1 Node':
      return { node: namedIn(found('nodes', '')) };
    default:
      throw badRequest(`cannot bind token to object of type ${apiVersion}, Kind=${kind}`);
  }
}

const namedIn = (object: JsonObject): Named => ({
  name: textAt(metadataOf(object), 'name'),
  uid: textAt(metadataOf(object), 'uid'),
});
