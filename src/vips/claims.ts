import type { Address } from '../api/address.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Networks } from './networks.ts';
import { nameOf, type User } from './terms.ts';
import { isService, serviceAsHolder, UNDERLAY } from './vip.ts';

/** An address that Services use, or shall use. */
export interface Claim {
  readonly address: Address;
  readonly pool: string;
  /** The first one is on record as the holder. */
  readonly users: readonly Pick<User, 'namespace' | 'name' | 'uid'>[];
}

/**
 * Keeps the addresses of Services on record in the space of hosts of every namespace whose networks contain them, so
 * that no host is given one, and no Service is given that of a host.
 */
export class Claims {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Answers with who has the address instead, a sentence each; empty when it is ours everywhere. */
  async take({ address, pool, users }: Claim, networks: Networks): Promise<string[]> {
    const [first] = users;
    if (first === undefined) return [];
    const faults = await Promise.all(
      networks.namespacesAround(address).map(async (namespace) => {
        const space = this.#ledger.space(namespace, UNDERLAY);
        const holder = space.holdingAt(address)?.holder;
        if (holder !== undefined && isService(holder)) {
          if (users.some(({ uid }) => uid === holder.uid)) return [];
        }
        const request = { holder: serviceAsHolder(first), network: pool, subnet: '', from: address };
        // The Service in whose name it was held is gone, or uses another address now.
        const heir = holder !== undefined && isService(holder) ? { heirOf: holder.uid } : {};
        const [outcome] = await this.#ledger.hold(space, [{ ...request, ...heir }]);
        if (outcome?.is === 'unknown') throw outcome.error;
        if (outcome?.is !== 'taken') return [];
        const { coolsUntil, holder: other } = outcome.by;
        const state = coolsUntil === undefined ? 'is held by' : `cools down until ${coolsUntil} after`;
        return [`"${address}" of ${nameOf(first)} ${state} ${other.kind} ${other.name} in namespace ${namespace}`];
      }),
    );
    return faults.flat();
  }

  /** Gives the address back in these namespaces, where it is held in the name of one of these Services. */
  async release(address: Address, namespaces: readonly string[], uids: ReadonlySet<string>): Promise<void> {
    await Promise.all(
      namespaces.map(async (namespace) => {
        const space = this.#ledger.space(namespace, UNDERLAY);
        const holding = space.holdingAt(address);
        if (holding !== undefined && uids.has(holding.holder.uid)) await this.#ledger.release(space, [holding]);
      }),
    );
  }
}
