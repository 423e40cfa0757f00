import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { TlsFiles } from '../sockets.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
const validity = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };

/** An authority for one test, and what it has signed. */
export class TestAuthority {
  readonly #keys: webcrypto.CryptoKeyPair;
  readonly #certificate: X509Certificate;

  private constructor(keys: webcrypto.CryptoKeyPair, certificate: X509Certificate) {
    this.#keys = keys;
    this.#certificate = certificate;
  }

  static async create(): Promise<TestAuthority> {
    const keys = await newKeys();
    const name = 'CN=test authority';
    const extensions = [new BasicConstraintsExtension(true, undefined, true)];
    const certificate = await X509CertificateGenerator.createSelfSigned(
      { name, keys, signingAlgorithm: algorithm, ...validity, extensions },
      webcrypto,
    );
    return new TestAuthority(keys, certificate);
  }

  /** For a peer of this name at ::1. */
  async sign(name: string): Promise<TlsFiles> {
    const keys = await newKeys();
    const certificate = await X509CertificateGenerator.create(
      {
        subject: `CN=${name}`,
        issuer: this.#certificate.subject,
        publicKey: keys.publicKey,
        signingKey: this.#keys.privateKey,
        signingAlgorithm: algorithm,
        ...validity,
        extensions: [
          new SubjectAlternativeNameExtension([
            { type: 'ip', value: '::1' },
            { type: 'dns', value: `${name}.example.com` },
          ]),
        ],
      },
      webcrypto,
    );
    const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
    const key = `-----BEGIN PRIVATE KEY-----\n${der.match(/.{1,64}/g)?.join('\n')}\n-----END PRIVATE KEY-----\n`;
    return { certificate: certificate.toString('pem'), key, authority: this.#certificate.toString('pem') };
  }
}
