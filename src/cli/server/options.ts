import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ServiceRanges } from '../../engine/services/ranges.ts';
import { UsageError } from '../command.ts';
import { readServiceOptions, serviceOptions } from './service-options.ts';

/** What `engine` and `up` have in common. */
export const serverOptions = {
  'data-dir': {
    type: 'string',
    placeholder: 'DIR',
    description: 'where objects, keys and certificates are kept (default: netloom in your state directory)',
  },
  listen: {
    type: 'string',
    placeholder: 'HOST:PORT',
    description: 'where to serve the API; port 0 takes a free one',
    default: '127.0.0.1:6443',
  },
  kubeconfig: {
    type: 'string',
    placeholder: 'FILE',
    description: 'where to write the kubeconfig (default: kubeconfig in the data directory)',
  },
  ...serviceOptions,
} as const;

export interface ServerOptions {
  readonly directory: string;
  readonly host: string;
  readonly port: number;
  readonly kubeconfig: string;
  readonly services: ServiceRanges;
}

export function readServerOptions(options: {
  readonly 'data-dir': string | undefined;
  readonly listen: string;
  readonly kubeconfig: string | undefined;
  readonly 'service-cidr': string;
  readonly 'service-node-port-range': string;
}): ServerOptions {
  const directory = resolve(options['data-dir'] ?? defaultDirectory());
  return {
    directory,
    ...parseListen(options.listen),
    kubeconfig: resolve(options.kubeconfig ?? join(directory, 'kubeconfig')),
    services: readServiceOptions(options),
  };
}

/** Where Netloom keeps what it must not lose, when nobody says otherwise. */
export function defaultDirectory(): string {
  const state = process.env['XDG_STATE_HOME'];
  return join(state !== undefined && state !== '' ? state : join(homedir(), '.local', 'state'), 'netloom');
}

function parseListen(text: string): { host: string; port: number } {
  const parts = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const host = parts?.[1] ?? parts?.[2];
  const port = Number(parts?.[3]);
  if (host === undefined || host === '' || port > 65_535) {
    throw new UsageError(`--listen takes HOST:PORT, such as 127.0.0.1:6443 or [::1]:6443, not "${text}"`);
  }
  return { host, port };
}
