import { generateKeyPairSync, sign } from 'node:crypto';
import { Address } from '../api/address.ts';

/** Who a certificate is to be for, and where it is to be good. */
export interface Subject {
  readonly commonName: string;
  readonly organization: string;
  /** Names and addresses of a server; none for a client. */
  readonly hosts: readonly string[];
}

/**
 * A new key, and the request (PKCS #10) to have it certified; both PEM. Written out here because a library for certificates takes
 * more memory than the whole rest of an idle agent may.
 */
export function requestFor({ commonName, organization, hosts }: Subject): { key: string; request: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const content = sequence(
    integer(0),
    sequence(relativeName(ORGANIZATION, organization), relativeName(COMMON_NAME, commonName)),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(ATTRIBUTES, hosts.length === 0 ? Buffer.alloc(0) : extensionRequest(hosts)),
  );
  const signature = sign('sha256', content, privateKey);
  const request = sequence(content, sequence(oid(ECDSA_WITH_SHA256)), der(BIT_STRING, Buffer.of(0), signature));
  const lines = request.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    request: `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join('\n')}\n-----END CERTIFICATE REQUEST-----\n`,
  };
}

function extensionRequest(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) => {
    const address = Address.parse(host);
    return address === undefined ? der(DNS_NAME, Buffer.from(host, 'latin1')) : der(IP_ADDRESS, bytesOf(address));
  });
  const extension = sequence(oid(SUBJECT_ALT_NAME), der(OCTET_STRING, sequence(...names)));
  return sequence(oid(EXTENSION_REQUEST), der(SET, sequence(extension)));
}

function bytesOf({ family, value }: Address): Buffer {
  return Buffer.from(value.toString(16).padStart(family === 4 ? 8 : 32, '0'), 'hex');
}

const relativeName = (type: string, value: string): Buffer =>
  der(SET, sequence(oid(type), der(UTF8_STRING, Buffer.from(value))));

const sequence = (...parts: readonly Buffer[]): Buffer => der(SEQUENCE, ...parts);
const integer = (value: number): Buffer => der(INTEGER, Buffer.of(value));

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  return der(OBJECT_IDENTIFIER, Buffer.from([first * 40 + second, ...rest.flatMap(inSevens)]));
}

/** Seven bits a byte, the highest first; all bytes but the last have their top bit set. */
function inSevens(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_IDENTIFIER = 0x06;
const UTF8_STRING = 0x0c;
const SEQUENCE = 0x30;
const SET = 0x31;
const ATTRIBUTES = 0xa0;
const DNS_NAME = 0x82;
const IP_ADDRESS = 0x87;

const ORGANIZATION = '2.5.4.10';
const COMMON_NAME = '2.5.4.3';
const SUBJECT_ALT_NAME = '2.5.29.17';
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
