import type { JsonObject } from '../api/json.ts';
import { builtinKind } from '../api/kind.ts';
import type { ApiObject } from '../api/object.ts';
import type { Client } from '../runtime/client.ts';
import { type System, sleep } from '../runtime/clock.ts';
import { requestFor, type Subject } from './certificate-request.ts';

/** A certificate and its key, PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export const CertificateSigningRequest = builtinKind<CertificateSigningRequest>(
  'certificates.k8s.io',
  'v1',
  'CertificateSigningRequest',
  'certificatesigningrequests',
  'Cluster',
);
export interface CertificateSigningRequest extends ApiObject {
  spec: { request: string; signerName: string; usages: string[]; expirationSeconds?: number };
  status?: { certificate?: string; conditions?: { type: string; status: string; reason?: string; message?: string }[] };
}

export interface Wish extends Subject {
  readonly purpose: 'client' | 'serving';
  readonly seconds?: number | undefined;
  readonly annotations?: Record<string, string>;
}

export interface Asking {
  readonly client: Client;
  readonly system: System;
  /** Whether whoever asks approves as well; otherwise somebody else has to. */
  readonly approve: boolean;
  readonly signal?: AbortSignal | undefined;
  /** For how long an answer is waited for, in milliseconds. */
  readonly patience: number;
}

/** Has a new key certified. Throws a sentence when that is refused, or when nobody decides in time. */
export async function obtain(wish: Wish, asking: Asking): Promise<KeyPair> {
  const { client } = asking;
  const { key, request } = requestFor(wish);
  const { metadata } = await client.create(CertificateSigningRequest, {
    metadata: {
      generateName: `netloom-${wish.purpose}-`,
      ...(wish.annotations === undefined ? {} : { annotations: wish.annotations }),
    },
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName:
        wish.purpose === 'client' ? 'kubernetes.io/kube-apiserver-client-kubelet' : 'kubernetes.io/kubelet-serving',
      usages: ['digital signature', wish.purpose === 'client' ? 'client auth' : 'server auth'],
      ...(wish.seconds === undefined ? {} : { expirationSeconds: wish.seconds }),
    },
  });
  const ref = { namespace: '', name: metadata.name };
  if (asking.approve) await client.patch(CertificateSigningRequest, ref, { merge: { status: APPROVAL } }, 'approval');
  return { certificate: await answerTo(metadata.name, wish, asking), key };
}

const APPROVAL: JsonObject = {
  conditions: [{ type: 'Approved', status: 'True', reason: 'NetloomEnrolment', message: 'Whoever enrols this host.' }],
};

async function answerTo(name: string, { commonName, purpose }: Wish, asking: Asking): Promise<string> {
  const { client, system, signal, patience } = asking;
  const end = system.uptime() + patience;
  const what = `the ${purpose} certificate of ${commonName} (CertificateSigningRequest ${name})`;
  for (let pause = 20; !signal?.aborted; pause = Math.min(pause * 1.5, 2_000)) {
    const found = await client.get(CertificateSigningRequest, name);
    if (found === undefined) throw new Error(`${what} was not issued: somebody deleted the request`);
    const { certificate = '', conditions = [] } = found.status ?? {};
    if (certificate !== '') return Buffer.from(certificate, 'base64').toString('latin1');
    const no = conditions.find(({ type }) => type === 'Denied' || type === 'Failed');
    if (no !== undefined) throw new Error(`${what} was refused: ${no.message ?? no.reason ?? no.type}`);
    if (system.uptime() > end) {
      const isApproved = conditions.some(({ type }) => type === 'Approved');
      throw new Error(
        isApproved
          ? `${what} was approved, but nobody has signed it`
          : `${what} waits for somebody to approve it: kubectl certificate approve ${name}`,
      );
    }
    await sleep(system, pause, signal);
  }
  throw new Error(`${what} is not waited for any more`);
}
