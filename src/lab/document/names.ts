import { dnsLabelFaults } from '../../api/syntax.ts';

/** What is wrong with the name of an interface, to be read after "it". */
export function linkNameFault(name: string): string | undefined {
  if (name === '') return 'is empty';
  if (name.length > LONGEST_LINK) return `has ${name.length} characters, and the kernel takes ${LONGEST_LINK}`;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) {
    return 'must begin with a letter or digit, and have letters, digits, dots, dashes and underscores only';
  }
  if (['lo', 'all', 'default'].includes(name)) return 'means something else to the kernel';
  if (name === MANAGEMENT_LINK) return 'is the link to the API, which every host has';
  if (name.startsWith('nl')) return 'begins with "nl", as those do that Netloom makes for itself';
  return undefined;
}

/** What is wrong with the name of a lab or a host. */
export function nameFault(name: string, longest: number): string | undefined {
  if (dnsLabelFaults(name.slice(0, 63)).length > 0) {
    return 'must have small letters, digits and dashes only, and begin and end with a letter or digit';
  }
  return name.length > longest ? `has ${name.length} characters, and there is room for ${longest}` : undefined;
}

export const MANAGEMENT_LINK = 'management';
const LONGEST_LINK = 15;
/** Both are in the path of a unix socket, which has room for 107. */
export const LONGEST_LAB = 20;
export const LONGEST_HOST = 40;
