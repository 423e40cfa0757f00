import { Address, bitsOf } from '../../api/address.ts';
import type { Prefix } from '../../api/prefix.ts';

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

/** Of an address as it is written in a plan, with the length of its network. */
export function addressOf(text: string): { address: Address; length: number } {
  const [front = '', length] = text.split('/', 2);
  const address = Address.parse(front);
  if (address === undefined || length === undefined) throw new Error(`"${text}" is no address of an interface`);
  return { address, length: Number(length) };
}
