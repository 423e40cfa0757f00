import { readFile } from 'node:fs/promises';
import type { RouteView } from '../../routes/http.ts';
import { parseEndpoint, type TlsFiles } from '../../routes/sockets.ts';
import type { Speaker } from '../../routes/speaker.ts';
import { type Log, lineLog } from '../../runtime/log.ts';
import { system } from '../../runtime/system.ts';
import { CommandError, UsageError } from '../command.ts';
import { listening } from '../listening.ts';

/** Resolves at the first SIGINT or SIGTERM. */
export function signalled(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  return promise;
}

export const log: Log = lineLog({ clock: system, write: (line) => process.stderr.write(line) });

export interface TlsOptions {
  readonly 'tls-cert': string | undefined;
  readonly 'tls-key': string | undefined;
  readonly 'tls-ca': string | undefined;
}

export async function readTls({
  'tls-cert': certificate,
  'tls-key': key,
  'tls-ca': authority,
}: TlsOptions): Promise<TlsFiles | undefined> {
  if (certificate === undefined && key === undefined && authority === undefined) return undefined;
  if (certificate === undefined || key === undefined || authority === undefined) {
    throw new UsageError('TLS needs all of --tls-cert, --tls-key and --tls-ca');
  }
  return { certificate: await readText(certificate), key: await readText(key), authority: await readText(authority) };
}

export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** What a person wrote, read by `parse`: what is wrong with it is the person's to put right. */
export function written<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error;
  }
}

/** The page, if it is wanted. */
export async function openView(speaker: Speaker, http: string | undefined): Promise<RouteView | undefined> {
  if (http === undefined) return undefined;
  const endpoint = written(() => parseEndpoint(http));
  const { RouteView } = await import('../../routes/http.ts');
  return listening('http', http, () => RouteView.start(speaker, endpoint));
}
