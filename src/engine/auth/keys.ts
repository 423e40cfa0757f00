import { createPrivateKey, generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { KeyPair } from './authority.ts';
import { ADMINISTRATORS, ENGINE } from './identity.ts';

/** What the engine's data directory holds to know and be known: made at the first start, kept from then on. */
export interface Keys {
  readonly authority: KeyPair;
  readonly server: KeyPair;
  /** With what the engine shows agents that it is the engine, when it asks for logs of a pod or for a command in it. */
  readonly kubeletClient: KeyPair;
  /** The administrator's bearer token. */
  readonly adminToken: string;
  /** With what tokens of service accounts are signed: a private key, PEM. */
  readonly accountKey: string;
}

/** Reads the keys below `directory`, making what is missing, broken or about to expire. */
export async function loadKeys(directory: string, hosts: readonly string[], now: Date): Promise<Keys> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const kept = async (name: string, isGood: (pair: KeyPair) => boolean, make: () => Promise<KeyPair>) => {
    const file = join(directory, `${name}.pem`);
    const found = parsePair(await readIfThere(file));
    if (found !== undefined && isGood(found)) return found;
    const fresh = await make();
    const [certificate, key] = [`${fresh.certificate.trim()}\n`, `${fresh.key.trim()}\n`];
    await writePrivately(file, certificate + key);
    return { certificate, key };
  };
  // Loaded only where something must be made: parsing and signing certificates is most of a cold start.
  const issuing = () => import('./authority.ts');
  const authority = await kept('ca', isReadable, async () => (await issuing()).createAuthority('netloom', now));
  const server = await kept(
    'server',
    (pair) => isReadable(pair) && stillServes(pair, authority, hosts, now),
    async () => (await issuing()).issueServer(authority, hosts, now),
  );
  const client = (name: string, user: string, group: string) =>
    kept(
      name,
      (pair) => stillServes(pair, authority, [], now) && parse(pair)?.toLegacyObject().subject['O'] === group,
      async () => (await issuing()).issueClient(authority, { user, groups: [group] }, now),
    );
  await client('admin', 'netloom-admin', ADMINISTRATORS);
  const kubeletClient = await client('kubelet-client', 'kube-apiserver-kubelet-client', ENGINE);
  const tokenFile = join(directory, 'admin.token');
  let adminToken = (await readIfThere(tokenFile))?.trim();
  if (adminToken === undefined || adminToken.length < 32) {
    adminToken = randomBytes(32).toString('base64url');
    await writePrivately(tokenFile, `${adminToken}\n`);
  }
  return { authority, server, kubeletClient, adminToken, accountKey: await loadAccountKey(directory) };
}

async function loadAccountKey(directory: string): Promise<string> {
  const file = join(directory, 'service-accounts.key');
  const there = await readIfThere(file);
  if (there !== undefined && isPrivateKey(there)) return there;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const fresh = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  await writePrivately(file, fresh);
  return fresh;
}

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false;
  }
}

/** Replaces a file as a whole, readable by its owner alone: a crash leaves the old one or the new one. */
export async function writePrivately(file: string, text: string): Promise<void> {
  const fresh = `${file}.${process.pid}.new`;
  const handle = await open(fresh, 'w', 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, file);
}

/** Certificate and key stand in one file, so that no crash can leave the one without the other. */
function parsePair(text: string | undefined): KeyPair | undefined {
  const at = text?.indexOf('-----BEGIN PRIVATE KEY-----') ?? -1;
  return text === undefined || at <= 0 ? undefined : { certificate: text.slice(0, at), key: text.slice(at) };
}

const parse = (pair: KeyPair): X509Certificate | undefined => {
  try {
    return new X509Certificate(pair.certificate);
  } catch {
    return undefined;
  }
};

const isReadable = (pair: KeyPair): boolean => parse(pair) !== undefined;

/** Issued by this authority, for these hosts, with a month left. */
function stillServes(pair: KeyPair, authority: KeyPair, hosts: readonly string[], now: Date): boolean {
  const certificate = parse(pair);
  const issuer = parse(authority);
  if (certificate === undefined || issuer === undefined) return false;
  return (
    certificate.verify(issuer.publicKey) &&
    certificate.validToDate.getTime() - now.getTime() > 30 * 24 * 60 * 60 * 1000 &&
    hosts.every((host) => (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined)
  );
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
