import { type Address, bitsOf } from '../api/address.ts';
import { type AddressBlock, BLOCK_BITS } from '../api/netloom.io/address-block.ts';
import { Prefix } from '../api/prefix.ts';
import type { Space } from '../ledger/space.ts';
import type { Networks, Subnet } from './networks.ts';

/** How full a subnet is. What is given to those who ask for any address is held, cools down, or is free. */
export interface Fullness {
  readonly subnet: Subnet;
  readonly total: bigint;
  /** Of the total, however it was asked for. */
  readonly held: number;
  /** Of the total: given back, and not given again yet. */
  readonly cooling: number;
  readonly free: bigint;
  /** Held as well, and not of the total: asked for by number. */
  readonly heldOutside: number;
  /** In the allocation ranges, and not of the total: given to nobody, or only to those who ask for it by number. */
  readonly excluded: bigint;
  /** What the next one who asks for any address gets; nothing when the subnet is full. */
  readonly next: Address | undefined;
}

/** Counts the addresses of networks that are held. What did not change since the last count is not looked at again. */
export class Census {
  readonly #space: Space;
  readonly #subnets: readonly Subnet[];
  readonly #index: SubnetIndex;
  readonly #sizes = new Map<Subnet, { total: bigint; excluded: bigint }>();
  /** Name of a block → what it said when it was counted, and what that came to. */
  readonly #blocks = new Map<string, { said: AddressBlock; counts: readonly Count[] }>();
  readonly #held = new Map<Subnet, Omit<Count, 'subnet'>>();

  /** Until `end`, the space tells the pools of the networks which addresses become free. */
  constructor({ space, networks }: { space: Space; networks: Networks }) {
    this.#space = space;
    this.#subnets = networks.subnets;
    this.#index = new SubnetIndex(this.#subnets);
    for (const subnet of this.#subnets) {
      space.addPool(subnet.pool);
      this.#sizes.set(subnet, sizesOf(subnet));
    }
  }

  end(): void {
    for (const subnet of this.#subnets) this.#space.removePool(subnet.pool);
  }

  /** In the order of the NetConfig. `blocks`: the names of all blocks of the space. */
  take(blocks: Iterable<string>): Fullness[] {
    const present = new Set(blocks);
    for (const name of this.#blocks.keys()) if (!present.has(name)) this.#replace(name, undefined);
    for (const name of present) this.#replace(name, this.#space.block(name));
    return this.#subnets.map((subnet) => {
      const { total, excluded } = this.#sizes.get(subnet) ?? NO_SIZE;
      const { held, cooling, heldOutside } = this.#held.get(subnet) ?? NOTHING_HELD;
      const next = this.#space.next(subnet.pool);
      const free = total - BigInt(held + cooling);
      return { subnet, total, held, cooling, free, heldOutside, excluded, next };
    });
  }

  #replace(name: string, said: AddressBlock | undefined): void {
    const before = this.#blocks.get(name);
    if (before?.said === said) return;
    for (const count of before?.counts ?? []) this.#add(count, -1);
    if (said === undefined) {
      this.#blocks.delete(name);
      return;
    }
    const counts = this.#counted(said);
    for (const count of counts) this.#add(count, 1);
    this.#blocks.set(name, { said, counts });
  }

  #counted({ metadata: { name }, spec }: AddressBlock): Count[] {
    const prefix = Prefix.parse(spec.prefix);
    const around = prefix === undefined ? [] : this.#index.meeting(prefix);
    return around.map((subnet) => {
      const count = { subnet, ...NOTHING_HELD };
      for (const { address, coolsUntil } of this.#space.holdingsIn(name)) {
        const isHeld = coolsUntil === undefined;
        if (subnet.pool.gives(address)) count[isHeld ? 'held' : 'cooling'] += 1;
        else if (isHeld && subnet.prefix.contains(address)) count.heldOutside += 1;
      }
      return count;
    });
  }

  #add({ subnet, held, cooling, heldOutside }: Count, sign: 1 | -1): void {
    const before = this.#held.get(subnet) ?? NOTHING_HELD;
    this.#held.set(subnet, {
      held: before.held + sign * held,
      cooling: before.cooling + sign * cooling,
      heldOutside: before.heldOutside + sign * heldOutside,
    });
  }
}

interface Count {
  readonly subnet: Subnet;
  readonly held: number;
  readonly cooling: number;
  readonly heldOutside: number;
}

const NOTHING_HELD = { held: 0, cooling: 0, heldOutside: 0 };
const NO_SIZE = { total: 0n, excluded: 0n };

function sizesOf({ pool }: Subnet): { total: bigint; excluded: bigint } {
  const total = pool.capacity;
  return { total, excluded: pool.span - total };
}

/** Finds the subnets that a block is about without looking at all of them. */
class SubnetIndex {
  /** The prefix of a subnet, or of the block that a smaller one lies in → the subnets. */
  readonly #subnets = new Map<string, Subnet[]>();
  readonly #lengths = new Set<number>();

  constructor(subnets: readonly Subnet[]) {
    for (const subnet of subnets) {
      const { first, length, family } = subnet.prefix;
      const shortened = Math.min(length, bitsOf(family) - BLOCK_BITS);
      this.#lengths.add(shortened);
      const key = `${new Prefix(first, shortened)}`;
      const known = this.#subnets.get(key);
      if (known === undefined) this.#subnets.set(key, [subnet]);
      else known.push(subnet);
    }
  }

  meeting({ first, length }: Prefix): Subnet[] {
    return [...this.#lengths]
      .filter((shortened) => shortened <= length)
      .flatMap((shortened) => this.#subnets.get(`${new Prefix(first, shortened)}`) ?? []);
  }
}
