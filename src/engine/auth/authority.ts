import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';
import type { SigningRequest } from './certificates/signing-request.ts';

/**
 * The engine's own certificate authority. ECDSA P-256 throughout: every TLS client of the last decade takes it and a
 * handshake costs a fraction of what RSA costs.
 */
export interface KeyPair {
  /** PEM of the certificate, and of its private key (PKCS #8). */
  readonly certificate: string;
  readonly key: string;
}

const CURVE = { name: 'ECDSA', namedCurve: 'P-256' };
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' };
const DAY = 24 * 60 * 60 * 1000;

export async function createAuthority(name: string, now: Date): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [name] }],
    serialNumber: serialNumber(),
    notBefore: aMomentBefore(now),
    notAfter: new Date(now.getTime() + 3650 * DAY),
    signingAlgorithm: SIGNATURE,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: certificate.toString('pem'), key: await pemOf(keys.privateKey) };
}

/** A certificate for a server under all `hosts` (names and addresses), for a year. */
export function issueServer(authority: KeyPair, hosts: readonly string[], now: Date): Promise<KeyPair> {
  return issue(authority, {
    subject: [{ CN: ['kube-apiserver'] }],
    usage: x509.ExtendedKeyUsage.serverAuth,
    hosts,
    now,
  });
}

/** A certificate that says who its holder is: CN is the user, O the groups. */
export function issueClient(
  authority: KeyPair,
  identity: { user: string; groups: readonly string[] },
  now: Date,
): Promise<KeyPair> {
  return issue(authority, {
    subject: [{ CN: [identity.user] }, ...identity.groups.map((group) => ({ O: [group] }))],
    usage: x509.ExtendedKeyUsage.clientAuth,
    hosts: [],
    now,
  });
}

/** Signs what somebody else made a key for; never for longer than the authority itself lasts. */
export async function signRequest(
  authority: KeyPair,
  request: SigningRequest,
  { usages, now, seconds }: { usages: readonly string[]; now: Date; seconds: number },
): Promise<string> {
  const asked = (purpose: string, usage: x509.ExtendedKeyUsage) => (usages.includes(purpose) ? [usage] : []);
  const { dnsNames, addresses, emails, uris } = request;
  const certificate = await certify(authority, {
    subject: request.subject,
    publicKey: request.publicKey,
    purposes: [
      ...asked('client auth', x509.ExtendedKeyUsage.clientAuth),
      ...asked('server auth', x509.ExtendedKeyUsage.serverAuth),
    ],
    flags:
      x509.KeyUsageFlags.digitalSignature |
      (usages.includes('key encipherment') ? x509.KeyUsageFlags.keyEncipherment : 0),
    names: [
      ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
      ...addresses.map((value) => ({ type: 'ip' as const, value })),
      ...emails.map((value) => ({ type: 'email' as const, value })),
      ...uris.map((value) => ({ type: 'url' as const, value })),
    ],
    now,
    seconds,
  });
  return certificate.toString('pem');
}

async function issue(
  authority: KeyPair,
  request: { subject: x509.JsonName; usage: x509.ExtendedKeyUsage; hosts: readonly string[]; now: Date },
): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const certificate = await certify(authority, {
    subject: request.subject,
    publicKey: keys.publicKey,
    purposes: [request.usage],
    flags: x509.KeyUsageFlags.digitalSignature,
    names: request.hosts.map((host) => ({ type: isIP(host) === 0 ? 'dns' : 'ip', value: host })),
    now: request.now,
    seconds: YEAR,
  });
  return { certificate: certificate.toString('pem'), key: await pemOf(keys.privateKey) };
}

async function certify(
  authority: KeyPair,
  request: {
    subject: x509.JsonName | x509.Name;
    publicKey: x509.PublicKeyType;
    purposes: readonly x509.ExtendedKeyUsage[];
    flags: number;
    names: x509.JsonGeneralNames;
    now: Date;
    seconds: number;
  },
): Promise<x509.X509Certificate> {
  const issuer = new x509.X509Certificate(authority.certificate);
  const signingKey = await webcrypto.subtle.importKey('pkcs8', derOf(authority.key), CURVE, false, ['sign']);
  const end = request.now.getTime() + request.seconds * 1000;
  return x509.X509CertificateGenerator.create({
    subject: request.subject,
    issuer: issuer.subject,
    serialNumber: serialNumber(),
    notBefore: aMomentBefore(request.now, request.seconds),
    notAfter: new Date(Math.min(end, issuer.notAfter.getTime())),
    signingAlgorithm: SIGNATURE,
    publicKey: request.publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(request.flags, true),
      new x509.ExtendedKeyUsageExtension([...request.purposes]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      ...(request.names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(request.names)]),
    ],
  });
}

/** The longest life of a certificate, in seconds. */
export const YEAR = 365 * 24 * 60 * 60;

/** Clocks of two machines differ a little: a certificate is valid from an hour ago, one that is short of life from a bit of that. */
const aMomentBefore = (now: Date, seconds = YEAR): Date =>
  new Date(now.getTime() - Math.min(60 * 60, seconds / 10) * 1000);

function serialNumber(): string {
  const bytes = Buffer.from(webcrypto.getRandomValues(new Uint8Array(16)));
  // A serial number is a positive integer.
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return bytes.toString('hex');
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), x509.PemConverter.PrivateKeyTag);
}

const derOf = (pem: string): ArrayBuffer => x509.PemConverter.decodeFirst(pem);
