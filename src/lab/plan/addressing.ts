import { Address, bitsOf } from '../../api/address.ts';
import type { Prefix } from '../../api/prefix.ts';
import type { PlannedHost } from './lab-plan.ts';

/** The addresses of one network, and who has them. */
export class Addressing {
  readonly subnet: Prefix;
  /** address → holder */
  readonly #holders = new Map<string, string>();

  constructor(subnet: Prefix) {
    this.subnet = subnet;
  }

  /** Answers with whoever has it already. */
  take(address: Address, holder: string): string | undefined {
    const other = this.#holders.get(`${address}`);
    if (other === undefined) this.#holders.set(`${address}`, holder);
    return other;
  }

  /** One of its own for the host in this place of the document: the usual one, or the next that is free. */
  give(place: number, holder: string): Address | undefined {
    const { first, last } = this.#usable();
    const usual = first + BigInt(this.#room >= ROOM_FOR_ROUTERS ? FIRST_HOST - 1 + place : place);
    for (let step = 0n, count = last - first + 1n; step < count && step <= MOST_STEPS; step += 1n) {
      const address = Address.of(this.subnet.family, first + ((usual - first + step) % count));
      if (this.take(address, holder) === undefined) return address;
    }
    return undefined;
  }

  /** As interfaces take it. */
  text(address: Address): string {
    return `${address}/${this.subnet.length}`;
  }

  /** All but those that mean the network and everybody in it; in a network of one or two nobody does. */
  #usable(): { first: bigint; last: bigint } {
    const { first, last, family } = this.subnet;
    if (this.#room <= 1) return { first: first.value, last: last.value };
    return { first: first.value + 1n, last: last.value - (family === 4 ? 1n : 0n) };
  }

  /** In bits. */
  get #room(): number {
    return bitsOf(this.subnet.family) - this.subnet.length;
  }
}

/** Hosts begin at .10 where there is enough room to leave the first addresses to routers. */
const FIRST_HOST = 10;
const ROOM_FOR_ROUTERS = 5;
/** No lab has so many hosts that all of these are taken. */
const MOST_STEPS = 100_000n;

/**
 * What goes beside an IPv4 address of the management network where pods have IPv6 addresses: a local one that has the same in its last
 * bits, so that no two labs of a machine have the same.
 */
export function besideInIpv6(text: string): string {
  const { address, length } = addressOf(text);
  return `${Address.of(6, MANAGEMENT_NET | address.value)}/${bitsOf(6) - bitsOf(4) + length}`;
}

/** fd4e:4c00:4d67:: */
const MANAGEMENT_NET = 0xfd4e_4c00_4d67n << 80n;

/** Under which the machine reaches a host. */
export const managementAddresses = ({ management }: PlannedHost, { ipv6 }: { ipv6: boolean }): string[] =>
  [management.address, ...(ipv6 ? [besideInIpv6(management.address)] : [])].map((text) => `${addressOf(text).address}`);

/** That other hosts route to: the first that it has in the networks of its lab, of each family where pods have addresses of both. */
export function underlaysOf({ underlay, links }: PlannedHost, { ipv6 }: { ipv6: boolean }): string[] {
  if (underlay === undefined || !ipv6) return underlay === undefined ? [] : [underlay];
  const all = links.flatMap(({ addresses }) => addresses).map((text) => addressOf(text).address);
  return ([4, 6] as const).flatMap((family) => all.find((address) => address.family === family)?.toString() ?? []);
}

/** Of an address as it is written in a plan, with the length of its network. */
export function addressOf(text: string): { address: Address; length: number } {
  const [front = '', length] = text.split('/', 2);
  const address = Address.parse(front);
  if (address === undefined || length === undefined) throw new Error(`"${text}" is no address of an interface`);
  return { address, length: Number(length) };
}
