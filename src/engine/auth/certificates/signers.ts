import { NODE_PREFIX, NODES } from '../../../api/node-identity.ts';
import type { SigningRequest } from './signing-request.ts';

/** The part of a request that signers judge. */
export type Asked = Omit<SigningRequest, 'subject' | 'publicKey'>;

export const KUBELET_CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet';
export const KUBELET_SERVING = 'kubernetes.io/kubelet-serving';
export const API_CLIENT = 'kubernetes.io/kube-apiserver-client';

/** The signers that the engine is, with what each refuses to sign whoever has approved it; undefined where nothing is wrong. */
export const signers: ReadonlyMap<string, (asked: Asked, usages: readonly string[]) => string | undefined> = new Map([
  [KUBELET_CLIENT, kubeletClientFault],
  [KUBELET_SERVING, kubeletServingFault],
  [API_CLIENT, apiClientFault],
]);

function kubeletClientFault(asked: Asked, usages: readonly string[]): string | undefined {
  if (!isOfNodes(asked)) return NOT_OF_NODES;
  if (asked.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (asked.emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (asked.addresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (asked.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return nameFault(asked) ?? usagesFault(usages, 'client auth');
}

function kubeletServingFault(asked: Asked, usages: readonly string[]): string | undefined {
  if (!isOfNodes(asked)) return NOT_OF_NODES;
  if (asked.dnsNames.length + asked.addresses.length === 0) return 'DNS or IP subjectAltName is required';
  if (asked.emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (asked.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return usagesFault(usages, 'server auth') ?? nameFault(asked);
}

function apiClientFault(_: Asked, usages: readonly string[]): string | undefined {
  const odd = usages.find((usage) => !['digital signature', 'key encipherment', 'client auth'].includes(usage));
  if (odd !== undefined) return `invalid usage for client certificate: ${odd}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
}

const NOT_OF_NODES = `subject organization is not ${NODES}`;

const isOfNodes = ({ organizations }: Asked): boolean => organizations.length === 1 && organizations[0] === NODES;

const nameFault = ({ commonName }: Asked): string | undefined =>
  commonName.startsWith(NODE_PREFIX) && commonName.length > NODE_PREFIX.length
    ? undefined
    : `subject common name does not begin with "${NODE_PREFIX}"`;

/** `key encipherment` is for keys of RSA, and may be left out. */
function usagesFault(usages: readonly string[], purpose: string): string | undefined {
  const needed = ['digital signature', purpose];
  const allowed = [...needed, 'key encipherment'];
  const fits = needed.every((usage) => usages.includes(usage)) && usages.every((usage) => allowed.includes(usage));
  return fits ? undefined : `usages did not match ${JSON.stringify(allowed.sort())}`;
}
