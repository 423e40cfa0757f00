import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { UserInfo } from '../../../api/admission.ts';
import type { Access } from '../access.ts';
import { type Asked, KUBELET_CLIENT, KUBELET_SERVING } from './signers.ts';

export interface Applicant {
  readonly signer: string;
  readonly asked: Asked;
  readonly user: UserInfo;
  /** The certificate that is to be renewed, as the annotation `netloom.io/renews` holds it. */
  readonly renews: string | undefined;
}

/** On a request for a serving certificate: the one that it is to replace, in PEM. */
export const RENEWS = 'netloom.io/renews';

export interface Policy {
  readonly access: Pick<Access, 'mayDo'>;
  /** PEM of the authority. */
  readonly authority: string;
  readonly now: Date;
}

/** Why nobody needs to be asked; undefined where a person has to decide. What is asked for is known to be in order. */
export function automaticApproval({ signer, asked, user, renews }: Applicant, policy: Policy): string | undefined {
  const isOwn = user.username === asked.commonName;
  const may = (subresource: string): boolean =>
    policy.access.mayDo(user, {
      ...{ verb: 'create', group: 'certificates.k8s.io', resource: 'certificatesigningrequests' },
      ...{ subresource, namespace: '', name: '' },
    });
  if (signer === KUBELET_CLIENT) {
    if (isOwn && may('selfnodeclient')) {
      return 'Auto approving self kubelet client certificate after SubjectAccessReview.';
    }
    return may('nodeclient') ? 'Auto approving kubelet client certificate after SubjectAccessReview.' : undefined;
  }
  if (signer === KUBELET_SERVING && isOwn && renews !== undefined && covers(renews, asked, policy)) {
    return 'The certificate that this one replaces is good for the same names and addresses.';
  }
  return undefined;
}

/**
 * Whether a certificate that the node has already is good for all that it asks for now. A node says by itself which addresses it
 * has; if that were enough, it could have a certificate for the address of another one, or for the API's.
 */
function covers(pem: string, asked: Asked, { authority, now }: Policy): boolean {
  let known: X509Certificate;
  try {
    known = new X509Certificate(pem);
  } catch {
    return false;
  }
  return (
    known.verify(new X509Certificate(authority).publicKey) &&
    known.validToDate > now &&
    known.keyUsage?.includes(SERVER_AUTH) === true &&
    known.toLegacyObject().subject['CN'] === asked.commonName &&
    // One that begins with a dot would be looked for among all below it.
    asked.dnsNames.every((name) => !name.startsWith('.') && known.checkHost(name, EXACTLY) !== undefined) &&
    asked.addresses.every((address) => isIP(address) !== 0 && known.checkIP(address) !== undefined)
  );
}

const EXACTLY = { subject: 'never', wildcards: false } as const;

/** Node.js calls the extended usages the usages. */
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
