import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { HttpTransport } from '../../runtime/http-transport.ts';
import { readKubeconfig } from '../../runtime/kubeconfig.ts';
import { system } from '../../runtime/system.ts';
import { CommandError } from '../command.ts';
import { defaultDirectory } from '../server/options.ts';

/** What every command has that speaks to an API server. */
export const connectionOptions = {
  kubeconfig: {
    type: 'string',
    placeholder: 'FILE',
    description: 'how to reach the API (default: $KUBECONFIG, then the one that netloom up wrote)',
  },
  namespace: { type: 'string', short: 'n', placeholder: 'NAME', description: 'the namespace meant' },
} as const;

export interface ConnectionOptions {
  readonly kubeconfig: string | undefined;
  readonly namespace: string | undefined;
}

export interface Api {
  readonly transport: HttpTransport;
  /** What is meant by objects that name no namespace. */
  readonly namespace: string;
}

export async function connect(options: ConnectionOptions): Promise<Api> {
  const file = kubeconfigFile(options.kubeconfig);
  const connection = await readKubeconfig(file).catch((error: unknown) => {
    throw new CommandError(error instanceof Error ? error.message : String(error));
  });
  return {
    transport: new HttpTransport({ connection, system, userAgent: 'netloom-cli' }),
    namespace: options.namespace ?? connection.namespace,
  };
}

/** Of a kubeconfig that is given, named in the environment, or where `netloom up` writes one. */
export function kubeconfigFile(given: string | undefined): string {
  if (given !== undefined) return given;
  const named = (process.env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  const [first] = named;
  if (first !== undefined) return named.find((file) => existsSync(file)) ?? first;
  const usual = join(defaultDirectory(), 'kubeconfig');
  if (existsSync(usual)) return usual;
  throw new CommandError(
    `there is no API to talk to: start one with "netloom up", or name a kubeconfig with --kubeconfig or $KUBECONFIG (looked for ${usual})`,
  );
}
