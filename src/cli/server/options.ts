import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ServiceRanges } from '../../engine/services/ranges.ts';
import { type Endpoint, readEndpoint } from './endpoint.ts';
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

export interface ServerOptions extends Endpoint {
  readonly directory: string;
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
    ...readEndpoint(options.listen, '--listen'),
    kubeconfig: resolve(options.kubeconfig ?? join(directory, 'kubeconfig')),
    services: readServiceOptions(options),
  };
}

/** Where Netloom keeps what it must not lose, when nobody says otherwise. */
export function defaultDirectory(): string {
  const state = process.env['XDG_STATE_HOME'];
  return join(state !== undefined && state !== '' ? state : join(homedir(), '.local', 'state'), 'netloom');
}
