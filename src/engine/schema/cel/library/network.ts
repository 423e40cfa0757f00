import type { Environment } from '@marcbachmann/cel-js';
import { Address, addressFault, bitsOf } from '../../../../api/address.ts';
import { Prefix } from '../../../../api/prefix.ts';
import { definer, namespace } from './define.ts';

/** `ip()`, `cidr()` and what can be asked of them. */
export function registerNetwork(env: Environment): void {
  env.registerType('net.IP', Address).registerType('net.CIDR', Cidr);
  const define = definer(env);
  env.registerOperator('net.IP == net.IP', (a: Address, b: Address) => a.equals(b));
  env.registerOperator('net.CIDR == net.CIDR', (a: Cidr, b: Cidr) => a.toString() === b.toString());

  define('ip(string): net.IP', address);
  define('isIP(string): bool', (text: string) => Address.parse(text) !== undefined);
  define(
    `${namespace(env, 'ip')}.isCanonical(string): bool`,
    (_: unknown, text: string) => address(text).toString() === text,
  );
  define('string(net.IP): string', String);
  define('net.IP.family(): int', (ip: Address) => BigInt(ip.family));
  define('net.IP.isUnspecified(): bool', (ip: Address) => ip.value === 0n);
  define('net.IP.isLoopback(): bool', isLoopback);
  define('net.IP.isLinkLocalMulticast(): bool', isLinkLocalMulticast);
  define('net.IP.isLinkLocalUnicast(): bool', isLinkLocalUnicast);
  define('net.IP.isGlobalUnicast(): bool', (ip: Address) => {
    const isBroadcast = ip.family === 4 && ip.value === 0xffff_ffffn;
    return ip.value !== 0n && !isBroadcast && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocalUnicast(ip);
  });

  define('cidr(string): net.CIDR', cidr);
  define('isCIDR(string): bool', (text: string) => Cidr.parse(text) !== undefined);
  define('string(net.CIDR): string', String);
  define('net.CIDR.containsIP(net.IP): bool', (range: Cidr, ip: Address) => range.prefix.contains(ip));
  define('net.CIDR.containsIP(string): bool', (range: Cidr, ip: string) => range.prefix.contains(address(ip)));
  define('net.CIDR.containsCIDR(net.CIDR): bool', (range: Cidr, other: Cidr) => range.contains(other));
  define('net.CIDR.containsCIDR(string): bool', (range: Cidr, other: string) => range.contains(cidr(other)));
  define('net.CIDR.ip(): net.IP', (range: Cidr) => range.address);
  define('net.CIDR.masked(): net.CIDR', (range: Cidr) => new Cidr(range.prefix.first, range.prefix.length));
  define('net.CIDR.prefixLength(): int', (range: Cidr) => BigInt(range.prefix.length));
}

/** A prefix that remembers the address it was written with. */
class Cidr {
  readonly address: Address;
  readonly prefix: Prefix;

  constructor(address: Address, length: number) {
    this.address = address;
    this.prefix = new Prefix(address, length);
  }

  static parse(text: string): Cidr | undefined {
    const prefix = Prefix.parse(text);
    const own = Address.parse(text.slice(0, text.indexOf('/')));
    return prefix === undefined || own === undefined ? undefined : new Cidr(own, prefix.length);
  }

  contains(other: Cidr): boolean {
    return this.prefix.length <= other.prefix.length && this.prefix.contains(other.address);
  }

  toString(): string {
    return `${this.address}/${this.prefix.length}`;
  }
}

function address(text: string): Address {
  const parsed = Address.parse(text);
  if (parsed === undefined) {
    throw new Error(
      `IP Address ${JSON.stringify(text)} parse error during conversion from string: it ${addressFault(text)}`,
    );
  }
  return parsed;
}

function cidr(text: string): Cidr {
  const parsed = Cidr.parse(text);
  if (parsed === undefined) {
    throw new Error(
      `network address parse error during conversion from string: ${JSON.stringify(text)} is not an address, a slash and a prefix length`,
    );
  }
  return parsed;
}

const startsWith = (ip: Address, bits: bigint, length: number): boolean =>
  ip.value >> BigInt(bitsOf(ip.family) - length) === bits;

const isLoopback = (ip: Address): boolean => (ip.family === 4 ? startsWith(ip, 127n, 8) : ip.value === 1n);
const isMulticast = (ip: Address): boolean => (ip.family === 4 ? startsWith(ip, 14n, 4) : startsWith(ip, 0xffn, 8));
const isLinkLocalUnicast = (ip: Address): boolean =>
  ip.family === 4 ? startsWith(ip, 0xa9fen, 16) : startsWith(ip, 0x3fan, 10);
const isLinkLocalMulticast = (ip: Address): boolean =>
  ip.family === 4 ? startsWith(ip, 0xe00000n, 24) : startsWith(ip, 0xffn, 8) && (ip.value >> 112n) % 16n === 2n;
