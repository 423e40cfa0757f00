import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { isJsonObject, type JsonObject } from '../api/json.ts';

/** Where an API server is and who we are to it. Certificates and keys are PEM texts. */
export interface Connection {
  server: string;
  /** The name that the server's certificate must carry, where it is not that of `server`. */
  serverName?: string;
  ca?: string;
  /** Believe any certificate. */
  insecure: boolean;
  clientCert?: string;
  clientKey?: string;
  token?: string;
  /** Read again from time to time: whoever issues short-lived tokens rewrites the file. */
  tokenFile?: string;
  /** What is meant when a person names none. */
  namespace: string;
}

/** The connection that a kubeconfig describes: of its current context, or of the one named. */
export async function readKubeconfig(path: string, context?: string): Promise<Connection> {
  const config: unknown = parse(await textOf(path));
  if (!isJsonObject(config)) throw new Error(`${path} is not a kubeconfig: expected a YAML mapping at the top`);
  const file = new Kubeconfig(path, config);
  const chosen = context ?? file.text(config, 'current-context');
  if (chosen === undefined) throw new Error(`${path} has no current-context: name the context to use`);
  const { cluster, user, namespace } = file.context(chosen);

  const server = file.text(cluster, 'server');
  if (server === undefined) throw new Error(`${path}: the cluster of context "${chosen}" has no server`);
  if (file.text(cluster, 'proxy-url') !== undefined) {
    throw new Error(`${path}: the cluster of context "${chosen}" sets proxy-url, which is not supported`);
  }
  for (const way of ['exec', 'auth-provider', 'username']) {
    if (user[way] !== undefined) {
      throw new Error(
        `${path}: the user of context "${chosen}" logs in by "${way}", which is not supported: use a token, a tokenFile or a client certificate`,
      );
    }
  }
  const serverName = file.text(cluster, 'tls-server-name');
  const ca = await file.pem(cluster, 'certificate-authority');
  const clientCert = await file.pem(user, 'client-certificate');
  const clientKey = await file.pem(user, 'client-key');
  if ((clientCert === undefined) !== (clientKey === undefined)) {
    throw new Error(`${path}: the user of context "${chosen}" needs client-certificate and client-key, not one alone`);
  }
  const token = file.text(user, 'token');
  const tokenFile = file.text(user, 'tokenFile');
  return {
    server,
    ...(serverName === undefined ? {} : { serverName }),
    ...(ca === undefined ? {} : { ca }),
    insecure: cluster['insecure-skip-tls-verify'] === true,
    ...(clientCert === undefined ? {} : { clientCert }),
    ...(clientKey === undefined ? {} : { clientKey }),
    ...(token === undefined ? {} : { token }),
    ...(tokenFile === undefined ? {} : { tokenFile: file.beside(tokenFile) }),
    namespace: namespace ?? 'default',
  };
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The connection of a pod through its service account, or undefined when we are not in a pod. */
export async function inClusterConnection(
  env: Readonly<Record<string, string | undefined>>,
  folder: string = SERVICE_ACCOUNT,
): Promise<Connection | undefined> {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (host === undefined || host === '' || port === undefined || port === '') return undefined;
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca: await readFile(resolve(folder, 'ca.crt'), 'utf8'),
    insecure: false,
    tokenFile: resolve(folder, 'token'),
    namespace: (await readFile(resolve(folder, 'namespace'), 'utf8')).trim(),
  };
}

class Kubeconfig {
  readonly #path: string;
  readonly #config: JsonObject;

  constructor(path: string, config: JsonObject) {
    this.#path = path;
    this.#config = config;
  }

  context(name: string): { cluster: JsonObject; user: JsonObject; namespace: string | undefined } {
    const context = this.#named('contexts', 'context', name, 'it is the context to use');
    const cluster = this.text(context, 'cluster') ?? '';
    const user = this.text(context, 'user') ?? '';
    return {
      cluster: this.#named('clusters', 'cluster', cluster, `context "${name}" names it`),
      user: user === '' ? {} : this.#named('users', 'user', user, `context "${name}" names it`),
      namespace: this.text(context, 'namespace'),
    };
  }

  text(from: JsonObject, key: string): string | undefined {
    const value = from[key];
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value !== 'string') throw new Error(`${this.#path}: ${key} must be a text`);
    return value;
  }

  beside(file: string): string {
    return resolve(dirname(this.#path), file);
  }

  /** `<key>-data` in base64 wins over the file that `<key>` names. */
  async pem(from: JsonObject, key: string): Promise<string | undefined> {
    const data = this.text(from, `${key}-data`);
    if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
    const file = this.text(from, key);
    return file === undefined ? undefined : textOf(this.beside(file));
  }

  #named(list: string, of: string, name: string, why: string): JsonObject {
    const entries = this.#config[list];
    for (const entry of Array.isArray(entries) ? entries : []) {
      if (!isJsonObject(entry) || entry['name'] !== name) continue;
      const value = entry[of];
      if (isJsonObject(value)) return value;
    }
    throw new Error(`${this.#path}: ${list} has no entry "${name}" with a ${of}, but ${why}`);
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`${path} cannot be read: ${code === 'ENOENT' ? 'there is no such file' : message}`);
  }
}
