import { createHash } from 'node:crypto';

/** Names in the kernel, which are short, unique on the machine, and tell people what they stand for as far as they can. */
export const labNamespace = (lab: string): string => `netloom-lab-${lab}`;
export const hostNamespace = (lab: string, host: string): string => `netloom-lab-${lab}-${host}`;

export const managementBridge = (lab: string): string =>
  lab.length <= LONGEST - 3 ? `nl-${lab}` : `nl-${lab.slice(0, 5)}~${digest(lab).slice(0, 6)}`;

/** In the machine's own namespace, where nobody else may have this name. */
export const managementPort = (lab: string, host: string): string => `nlm${digest(lab, host).slice(0, 10)}`;

/** Among the switches: `edpm-0.enp6s0` where it is short enough and nobody has that name yet. */
export function portName(host: string, link: string, taken: ReadonlySet<string>): string {
  const plain = `${host}.${link}`;
  return plain.length <= LONGEST && !taken.has(plain) ? plain : `${host.slice(0, 6)}~${digest(host, link).slice(0, 8)}`;
}

/** The same each time, as that of a real card; of those that nobody sells. */
export function hardwareAddress(lab: string, host: string, link: string): string {
  const bytes = digest(lab, host, link).slice(0, 10).match(/../g) ?? [];
  return ['02', ...bytes].join(':');
}

const digest = (...parts: readonly string[]): string => createHash('sha256').update(parts.join('/')).digest('hex');

/** What the kernel takes for the name of a link. */
const LONGEST = 15;
