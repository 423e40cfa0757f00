import { X509Certificate } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connection } from '../runtime/kubeconfig.ts';
import type { KeyPair } from './signing.ts';

/** How the API is reached; the identity comes from beside it. */
export type Way = Pick<Connection, 'server' | 'serverName' | 'ca' | 'insecure'>;

/** Who a host is, as it lies in STATE/agent: a kubeconfig that refers to the client certificate, and the serving one. */
export class IdentityFiles {
  readonly #folder: string;

  /** @param stateDirectory STATE of the host */
  constructor(stateDirectory: string) {
    this.#folder = join(stateDirectory, 'agent');
  }

  get kubeconfig(): string {
    return join(this.#folder, 'kubeconfig');
  }

  read(which: 'client' | 'serving'): Promise<KeyPair | undefined> {
    return readPair(join(this.#folder, `${which}.pem`));
  }

  async write(which: 'client' | 'serving', { certificate, key }: KeyPair): Promise<void> {
    // In one file, so that no crash can leave the one without the other.
    await this.#put(`${which}.pem`, `${certificate.trim()}\n${key.trim()}\n`);
  }

  /** JSON, which is YAML too. */
  async writeKubeconfig(user: string, { server, serverName, ca, insecure }: Way): Promise<void> {
    const name = 'netloom';
    const cluster = {
      server,
      ...(serverName === undefined ? {} : { 'tls-server-name': serverName }),
      ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
      ...(insecure ? { 'insecure-skip-tls-verify': true } : {}),
    };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name, cluster }],
      users: [{ name: user, user: { 'client-certificate': 'client.pem', 'client-key': 'client.pem' } }],
      contexts: [{ name, context: { cluster: name, user } }],
      'current-context': name,
    };
    await this.#put('kubeconfig', `${JSON.stringify(config, undefined, 2)}\n`);
  }

  /** Replaces a file as a whole, for its owner's eyes only: a crash leaves the old one or the new one. */
  async #put(name: string, text: string): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const file = join(this.#folder, name);
    const handle = await open(`${file}.new`, 'w', 0o600);
    try {
      await handle.chmod(0o600);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(`${file}.new`, file);
  }
}

async function readPair(file: string): Promise<KeyPair | undefined> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  });
  const at = text.indexOf('-----BEGIN PRIVATE KEY-----');
  return at <= 0 ? undefined : { certificate: text.slice(0, at), key: text.slice(at) };
}

export interface Holder {
  /** The user that the certificate makes of whoever shows it. */
  readonly user: string;
  readonly groups: readonly string[];
  readonly from: Date;
  readonly until: Date;
  /** Whether it is good for a server under this name or address. */
  serves(host: string): boolean;
  isIssuedBy(authority: string): boolean;
}

/** What a certificate says; undefined when it is none. */
export function holderOf(pem: string): Holder | undefined {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(pem);
  } catch {
    return undefined;
  }
  const of = (key: string) =>
    certificate.subject.split('\n').flatMap((part) => (part.startsWith(`${key}=`) ? [part.slice(key.length + 1)] : []));
  return {
    user: of('CN').at(-1) ?? '',
    groups: of('O'),
    from: certificate.validFromDate,
    until: certificate.validToDate,
    serves: (host) => certificate.checkIP(host) !== undefined || certificate.checkHost(host) !== undefined,
    isIssuedBy: (authority) => {
      try {
        return certificate.verify(new X509Certificate(authority).publicKey);
      } catch {
        return false;
      }
    },
  };
}
