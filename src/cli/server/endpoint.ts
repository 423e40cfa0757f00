import { UsageError } from '../command.ts';

/** Where something listens. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** @param option what the person is told to put right */
export function readEndpoint(text: string, option: string): Endpoint {
  const parts = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const host = parts?.[1] ?? parts?.[2];
  const port = Number(parts?.[3]);
  if (host === undefined || host === '' || port > 65_535) {
    throw new UsageError(`${option} takes HOST:PORT, such as 127.0.0.1:6443 or [::1]:6443, not "${text}"`);
  }
  return { host, port };
}
