import { Address } from '../../api/address.ts';
import type { Prefix } from '../../api/prefix.ts';
import { draw, reservedOf } from './draw.ts';
import type { Holdings } from './holdings.ts';

/** As many addresses as anybody has Services; of a larger network the first ones are used. */
const MOST = 2 ** 20;

/** The addresses of one family that Services can have: not the first one of the network, nor the broadcast address. */
export class ServiceAddresses {
  readonly family: 'IPv4' | 'IPv6';
  readonly network: Prefix;
  /** The one that the API itself has. */
  readonly first: Address;
  readonly #last: Address;
  readonly #size: number;
  readonly #reserved: number;

  constructor(network: Prefix) {
    this.family = network.family === 4 ? 'IPv4' : 'IPv6';
    this.network = network;
    const base = network.first.value;
    const all = network.last.value - base + 1n;
    const usable = all - (network.family === 4 ? 2n : 1n);
    this.#size = Number(usable < MOST ? usable : BigInt(MOST));
    this.first = Address.of(network.family, base + 1n);
    this.#last = Address.of(network.family, base + BigInt(this.#size));
    this.#reserved = reservedOf(this.#size, { part: 16, most: 256 });
  }

  contains(address: Address): boolean {
    return (
      address.family === this.network.family && address.value >= this.first.value && address.value <= this.#last.value
    );
  }

  /** Undefined when all are taken. */
  draw(holdings: Holdings<string>, uid: string): string | undefined {
    const found = draw(this.#size, this.#reserved, (i) => holdings.isFree(this.#at(i), uid));
    return found === undefined ? undefined : this.#at(found);
  }

  #at(i: number): string {
    return Address.of(this.network.family, this.first.value + BigInt(i)).toString();
  }
}
