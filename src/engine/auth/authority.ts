import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';

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

async function issue(
  authority: KeyPair,
  request: { subject: x509.JsonName; usage: x509.ExtendedKeyUsage; hosts: readonly string[]; now: Date },
): Promise<KeyPair> {
  const issuer = new x509.X509Certificate(authority.certificate);
  const signingKey = await webcrypto.subtle.importKey('pkcs8', derOf(authority.key), CURVE, false, ['sign']);
  const keys = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: request.subject,
    issuer: issuer.subject,
    serialNumber: serialNumber(),
    notBefore: aMomentBefore(request.now),
    notAfter: new Date(request.now.getTime() + 365 * DAY),
    signingAlgorithm: SIGNATURE,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([request.usage]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      ...(request.hosts.length === 0
        ? []
        : [
            new x509.SubjectAlternativeNameExtension(
              request.hosts.map((host) => ({ type: isIP(host) === 0 ? 'dns' : 'ip', value: host })),
            ),
          ]),
    ],
  });
  return { certificate: certificate.toString('pem'), key: await pemOf(keys.privateKey) };
}

/** Clocks of two machines differ a little: a certificate is valid from an hour ago. */
const aMomentBefore = (now: Date): Date => new Date(now.getTime() - 60 * 60 * 1000);

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
