import { Address } from '../../api/address.ts';
import { Prefix } from '../../api/prefix.ts';
import type { WrittenAddress, WrittenSwitch } from '../document/lab-document.ts';
import { Addressing } from './addressing.ts';

/** Who is in one segment hears the others: an untagged switch, one VLAN of a switch, or a cable. */
export class Segment {
  /** For sentences. */
  readonly name: string;
  readonly networks: readonly Addressing[];

  constructor(name: string, subnets: readonly Prefix[]) {
    this.name = name;
    this.networks = subnets.map((subnet) => new Addressing(subnet));
  }

  /** An address that somebody has written, as interfaces take it; or what is wrong with it. */
  takeWritten({ text }: WrittenAddress, holder: string): { address: string } | { fault: string } {
    const [front = ''] = text.split('/', 1);
    const address = Address.parse(front);
    if (address === undefined) return { fault: `"${text}" is no address` };
    const network = this.networks.find(({ subnet }) => subnet.contains(address));
    if (network === undefined) return this.#foreign(address, text, holder);
    const length = Prefix.parse(text)?.length;
    if (length !== undefined && length !== network.subnet.length) {
      return {
        fault: `${text} is in ${network.subnet} of ${this.name}: leave its length out, or write ${network.text(address)}`,
      };
    }
    return taken(network.take(address, holder), address) ?? { address: network.text(address) };
  }

  /** Of every network of this segment, one for the host in this place of the document. */
  give(place: number, holder: string): { addresses: string[] } | { fault: string } {
    const addresses: string[] = [];
    for (const network of this.networks) {
      const address = network.give(place, holder);
      if (address === undefined)
        return { fault: `${network.subnet} of ${this.name} has no address left for ${holder}` };
      addresses.push(network.text(address));
    }
    return { addresses };
  }

  readonly #foreignHolders = new Map<string, string>();

  #foreign(address: Address, text: string, holder: string): { address: string } | { fault: string } {
    const same = this.networks.filter(({ subnet }) => subnet.family === address.family);
    if (same.length > 0)
      return {
        fault: `${address} is not in ${same.map(({ subnet }) => subnet).join(', ')}, the network of ${this.name}`,
      };
    if (!text.includes('/')) {
      const length = address.family === 4 ? 24 : 64;
      return {
        fault: `${this.name} has no network for ${address}: write its length too, such as ${address}/${length}`,
      };
    }
    const other = this.#foreignHolders.get(`${address}`);
    this.#foreignHolders.set(`${address}`, other ?? holder);
    return taken(other, address) ?? { address: text };
  }
}

const taken = (other: string | undefined, address: Address): { fault: string } | undefined =>
  other === undefined ? undefined : { fault: `${address} is taken by ${other} already` };

/** The segments of the switches of a lab. */
export class Segments {
  readonly #segments = new Map<string, Segment>();

  constructor(switches: readonly WrittenSwitch[]) {
    for (const { name, subnets, vlans = [] } of switches) {
      this.#segments.set(name, new Segment(name, subnets));
      for (const { id, subnets: own } of vlans) {
        this.#segments.set(`${name} ${id}`, new Segment(`VLAN ${id} of ${name}`, own));
      }
    }
  }

  of(name: string, vlan: number | undefined): Segment | undefined {
    return this.#segments.get(vlan === undefined ? name : `${name} ${vlan}`);
  }
}
