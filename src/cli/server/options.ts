import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { UsageError } from '../command.ts';

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
} as const;

export interface ServerOptions {
  readonly directory: string;
  readonly host: string;
  readonly port: number;
  readonly kubeconfig: string;
}

export function readServerOptions(options: {
  readonly 'data-dir': string | undefined;
  readonly listen: string;
  readonly kubeconfig: string | undefined;
}): ServerOptions {
  const directory = resolve(options['data-dir'] ?? defaultDirectory());
  return {
    directory,
    ...parseListen(options.listen),
    kubeconfig: resolve(options.kubeconfig ?? join(directory, 'kubeconfig')),
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
