import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

/** What a PKCS #10 request asks to have signed. */
export interface SigningRequest {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly addresses: readonly string[];
  readonly emails: readonly string[];
  readonly uris: readonly string[];
  /** The subject as it stands, and the key that is to be certified. */
  readonly subject: x509.Name;
  readonly publicKey: x509.PublicKey;
}

/** Throws a sentence when it is none, or when whoever asks does not hold the key. */
export async function readSigningRequest(pem: string): Promise<SigningRequest> {
  const request = parsed(pem);
  if (!(await request.verify().catch(() => false))) {
    throw new Error('the request is not signed with the key that it is about');
  }
  const names = request.extensions
    .filter((extension) => extension instanceof x509.SubjectAlternativeNameExtension)
    .flatMap((extension) => extension.names.items);
  const odd = names.find(({ type }) => !['dns', 'ip', 'email', 'url'].includes(type));
  if (odd !== undefined) throw new Error(`subjectAltNames of the type "${odd.type}" cannot be signed`);
  const of = (wanted: string) => names.flatMap(({ type, value }) => (type === wanted ? [value] : []));
  return {
    commonName: request.subjectName.getField('CN').at(-1) ?? '',
    organizations: request.subjectName.getField('O'),
    dnsNames: of('dns'),
    addresses: of('ip'),
    emails: of('email'),
    uris: of('url'),
    subject: request.subjectName,
    publicKey: request.publicKey,
  };
}

function parsed(pem: string): x509.Pkcs10CertificateRequest {
  try {
    return new x509.Pkcs10CertificateRequest(pem);
  } catch (error) {
    throw new Error(`the request cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
