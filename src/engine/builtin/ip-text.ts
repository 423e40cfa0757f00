import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { FieldError } from '../../api/status.ts';
import { invalidValue } from './field-errors.ts';

/** IP addresses and CIDRs as the old fields of the API take them: zeros may lead the parts of an IPv4 address. */
export function validateIp(value: string, path: string): FieldError[] {
  if (ipFamily(value) !== 0) return [];
  return [invalidValue(path, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
}

export function validateCidr(value: string, path: string): FieldError[] {
  const [address = '', length = '', ...rest] = value.split('/', 3);
  const family = ipFamily(address);
  const isLength = /^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128);
  if (family !== 0 && isLength && rest.length === 0) return [];
  return [invalidValue(path, value, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
}

/** 4, 6, or 0 for what is no address. */
export function ipFamily(value: string): 0 | 4 | 6 {
  if (value.includes('%')) return 0;
  if (isIPv6(value)) return 6;
  // An IPv4 address has up to 15 characters without leading zeros; far more cannot be one that anybody meant.
  return value.length <= 64 && isIPv4(withoutLeadingZeros(value)) ? 4 : 0;
}

/** Whether the addresses are of both families, none twice. */
export const isDualStack = (addresses: readonly string[]): boolean => {
  const families = addresses.map(ipFamily);
  return families.length === 2 && families.includes(4) && families.includes(6);
};

/** Addresses that no endpoint can have: unspecified, loopback, link-local, link-local multicast. */
export function validateEndpointIp(value: string, path: string): FieldError[] {
  const family = ipFamily(value) === 6 ? 'ipv6' : 'ipv4';
  const address = withoutLeadingZeros(value);
  if (UNSPECIFIED.check(address, family)) return [invalidValue(path, value, `may not be unspecified (${value})`)];
  const range = SPECIAL.find(([list]) => list.check(address, family));
  return range === undefined ? [] : [invalidValue(path, value, `may not be in the ${range[1]}`)];
}

const withoutLeadingZeros = (value: string): string => (isIPv6(value) ? value : value.replace(/\b0+(?=\d)/g, ''));

function subnets(v4: readonly [string, number], v6: readonly [string, number]): BlockList {
  const list = new BlockList();
  list.addSubnet(...v4, 'ipv4');
  list.addSubnet(...v6, 'ipv6');
  return list;
}

const UNSPECIFIED = subnets(['0.0.0.0', 32], ['::', 128]);
const SPECIAL: readonly [BlockList, string][] = [
  [subnets(['127.0.0.0', 8], ['::1', 128]), 'loopback range (127.0.0.0/8, ::1/128)'],
  [subnets(['169.254.0.0', 16], ['fe80::', 10]), 'link-local range (169.254.0.0/16, fe80::/10)'],
  [subnets(['224.0.0.0', 24], ['ff02::', 16]), 'link-local multicast range (224.0.0.0/24, ff02::/10)'],
];
