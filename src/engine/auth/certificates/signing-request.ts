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
  /** All that the subject says, written anew out of what was read of it; and the key that is to be certified. */
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
  const commonNames = request.subjectName.getField('CN');
  if (commonNames.length > 1) throw new Error('the subject has several common names, and can be only one holder');
  const of = (wanted: string) => names.flatMap(({ type, value }) => (type === wanted ? [value] : []));
  return {
    commonName: commonNames[0] ?? '',
    organizations: request.subjectName.getField('O'),
    dnsNames: of('dns'),
    addresses: of('ip'),
    emails: of('email'),
    uris: of('url'),
    subject: rewritten(request.subjectName),
    publicKey: request.publicKey,
  };
}

/** Whoever reads the certificate must not find another name in it than the one that was judged, however it was written. */
const rewritten = (subject: x509.Name): x509.Name =>
  new x509.Name(
    subject.toJSON().map((part) => {
      const asText = Object.entries(part).map(([type, values]) => [type, values.map((utf8String) => ({ utf8String }))]);
      return Object.fromEntries(asText);
    }),
  );

function parsed(pem: string): x509.Pkcs10CertificateRequest {
  try {
    return new x509.Pkcs10CertificateRequest(pem);
  } catch (error) {
    throw new Error(`the request cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
