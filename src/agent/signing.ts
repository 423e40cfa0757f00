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

/** A new key, and the request to have it certified. */
export interface Asked {
  readonly name: string;
  readonly key: string;
  readonly wish: Wish;
}

export interface Waiting {
  readonly client: Client;
  readonly system: System;
  readonly signal?: AbortSignal | undefined;
  /** For how long an answer is waited for, in milliseconds. */
  readonly patience: number;
}

/** There will be no certificate for that request. After any other error there may be one yet. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** Has a new key certified. Throws a sentence when that is refused, or when nobody decides in time. */
export async function obtain(wish: Wish, { approve, ...waiting }: Waiting & { approve: boolean }): Promise<KeyPair> {
  const { client } = waiting;
  const asked = await ask(wish, client);
  const ref = { namespace: '', name: asked.name };
  if (approve) await client.patch(CertificateSigningRequest, ref, { merge: { status: APPROVAL } }, 'approval');
  return answerTo(asked, waiting);
}

/** Asks; who is to decide about it is somebody else. */
export async function ask(wish: Wish, client: Client): Promise<Asked> {
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
  return { name: metadata.name, key, wish };
}

const APPROVAL: JsonObject = {
  conditions: [{ type: 'Approved', status: 'True', reason: 'NetloomEnrolment', message: 'Whoever enrols this host.' }],
};

/** Throws a sentence when that is refused (`Refused`), or when nobody decides in time: then it can be waited for again. */
export async function answerTo({ name, key, wish }: Asked, waiting: Waiting): Promise<KeyPair> {
  const { client, system, signal, patience } = waiting;
  const { commonName, purpose } = wish;
  const end = system.uptime() + patience;
  const what = `the ${purpose} certificate of ${commonName} (CertificateSigningRequest ${name})`;
  for (let pause = 20; !signal?.aborted; pause = Math.min(pause * 1.5, 2_000)) {
    const found = await client.get(CertificateSigningRequest, name);
    if (found === undefined) throw new Refused(`${what} was not issued: somebody deleted the request`);
    const { certificate = '', conditions = [] } = found.status ?? {};
    if (certificate !== '') return { certificate: Buffer.from(certificate, 'base64').toString('latin1'), key };
    const no = conditions.find(({ type }) => type === 'Denied' || type === 'Failed');
    if (no !== undefined) throw new Refused(`${what} was refused: ${no.message ?? no.reason ?? no.type}`);
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
