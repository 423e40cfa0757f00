import type { Json } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { invalidFor } from '../field-errors.ts';

export const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

/** A port by number, or by the name it has in a container. */
export function validatePortOrName(port: Json | undefined, path: string): FieldError[] {
  if (typeof port === 'string') return invalidFor(path, port, portNameFaults(port));
  const number = typeof port === 'number' ? port : 0;
  return invalidFor(path, number, portFaults(number));
}

/** What is wrong with a port number. */
export const portFaults = (port: number): string[] =>
  Number.isInteger(port) && port >= 1 && port <= 65535 ? [] : ['must be between 1 and 65535, inclusive'];

/** What is wrong with the name of a port, by which services find it in containers. */
export function portNameFaults(name: string): string[] {
  const faults: string[] = [];
  if (Buffer.byteLength(name) > 15) faults.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(name)) {
    faults.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(name)) faults.push('must contain at least one letter (a-z)');
  if (name.includes('--')) faults.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) faults.push('must not begin or end with a hyphen');
  return faults;
}
