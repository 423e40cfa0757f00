import type { Address } from '../api/address.ts';
import type { AddressBlock } from '../api/netloom.io/address-block.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { blockOf, type Holding } from '../ledger/space.ts';
import type { Client } from '../runtime/client.ts';
import { Networks } from './networks.ts';
import { nameOf, type User } from './terms.ts';
import { isService, serviceAsHolder, UNDERLAY } from './vip.ts';

/** An address that Services use, or shall use. */
export interface Claim {
  readonly address: Address;
  readonly pool: string;
  /** The first one is on record as the holder. */
  readonly users: readonly Pick<User, 'namespace' | 'name' | 'uid'>[];
}

/** What is on record for a Service in the space of the hosts of a namespace. */
export interface Held {
  readonly namespace: string;
  readonly holding: Holding;
}

/**
 * Keeps the addresses of Services on record in the space of hosts of every namespace whose networks contain them, so
 * that no host is given one, and no Service is given that of a host.
 */
export class Claims {
  readonly #ledger: Ledger;
  readonly #client: Client;
  /** What those who ask in one go will be told. */
  #asked: Promise<Networks> | undefined;

  constructor({ ledger, client }: { ledger: Ledger; client: Client }) {
    this.#ledger = ledger;
    this.#client = client;
  }

  /** The networks that the server has by now, of which we may not have heard. */
  networksNow(): Promise<Networks> {
    this.#asked ??= Promise.resolve().then(async () => {
      this.#asked = undefined;
      return new Networks(await this.#client.list(NetConfig));
    });
    return this.#asked;
  }

  /**
   * Answers with who has the address instead, a sentence each; empty when it is ours everywhere. `promisedTo`: the UID of the
   * Service that is about to be told the address; what is held in its name is put on record anew. Where a record of an address that was
   * told is missing, the network may be gone, and others who know it take the record off each time that we make one.
   */
  async take({ address, pool, users }: Claim, networks: Networks, promisedTo?: string): Promise<string[]> {
    const [first] = users;
    if (first === undefined) return [];
    const faults = await Promise.all(
      networks.namespacesAround(address).map(async (namespace) => {
        const space = this.#ledger.space(namespace, UNDERLAY);
        const holder = space.holdingAt(address)?.holder;
        const isMissing = holder === undefined && promisedTo === undefined;
        if (isMissing && !(await this.networksNow()).haveIn(namespace, address)) return [];
        const user =
          holder !== undefined && isService(holder) ? users.find(({ uid }) => uid === holder.uid) : undefined;
        const afresh = user !== undefined && user.uid === promisedTo;
        if (user !== undefined && !afresh) return [];
        const request = { holder: serviceAsHolder(user ?? first), network: pool, subnet: '', from: address, afresh };
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

  /** What is held at the address in these namespaces in the name of one of these Services. */
  held(address: Address, namespaces: readonly string[], uids: ReadonlySet<string>): Held[] {
    return namespaces.flatMap((namespace) => {
      const holding = this.#ledger.space(namespace, UNDERLAY).holdingAt(address);
      return holding !== undefined && uids.has(holding.holder.uid) ? [{ namespace, holding }] : [];
    });
  }

  /** Gives back what is still held as it was then. */
  async release(held: readonly Held[]): Promise<void> {
    await Promise.all(
      held.map(({ namespace, holding }) =>
        this.#ledger.release(this.#ledger.space(namespace, UNDERLAY), [holding], { exactly: true }),
      ),
    );
  }

  /** The newest that is known of who has the address, from the server's own answers. */
  blocksAround(address: Address, networks: Networks): AddressBlock[] {
    return networks.namespacesAround(address).flatMap((namespace) => {
      const space = this.#ledger.space(namespace, UNDERLAY);
      return space.block(blockOf(space, address)) ?? [];
    });
  }
}
