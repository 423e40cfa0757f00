import { AddressBlock } from '../api/netloom.io/address-block.ts';
import type { Cache } from '../runtime/cache.ts';
import type { Client } from '../runtime/client.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Change } from '../runtime/informer.ts';
import type { Informers } from '../runtime/informers.ts';
import { asError } from '../runtime/log.ts';
import { renewedTimestamp, timestamp } from '../runtime/timestamp.ts';
import { BlockWriter } from './block-writer.ts';
import { blockOf, type Holding, type Placement, type Request, Space } from './space.ts';

/** How a request ended. Only `held` says that the server has it on record. */
export type Outcome =
  | Exclude<Placement, { is: 'kept' }>
  /** It may or may not be on record by now; asking again finds out. */
  | { readonly is: 'unknown'; readonly error: Error };

/** What must have been done before the first address of a space is given. `hold` does not wait for that. */
export type Preparation = (space: Space, hold: (requests: readonly Request[]) => Promise<Outcome[]>) => Promise<void>;

export interface LedgerOptions {
  readonly client: Client;
  readonly clock: Clock;
}

/**
 * Who holds which address, in every space. All allocators of a process share one, so that they do not get into each
 * other's way; those of different processes meet in the AddressBlocks, and the version of a block lets only one of them win.
 */
export class Ledger {
  readonly #client: Client;
  readonly #clock: Clock;
  /** Namespace → name of the space → the space. */
  readonly #spaces = new Map<string, Map<string, Entry>>();
  /** Name of a space → what comes first there. */
  readonly #preparations = new Map<string, Preparation>();

  constructor({ client, clock }: LedgerOptions) {
    this.#client = client;
    this.#clock = clock;
  }

  /** The one that belongs to these informers; it knows whatever they have heard of AddressBlocks. */
  static of({ client, informers, system }: { client: Client; informers: Informers; system: Clock }): Ledger {
    let ledger = ledgers.get(informers);
    if (ledger === undefined) {
      const created = new Ledger({ client, clock: system });
      const blocks = informers.of(AddressBlock);
      blocks.onChange((change) => created.observe(change));
      blocks.onListed((version) => created.#forgetMissing(version, blocks.cache));
      ledgers.set(informers, created);
      ledger = created;
    }
    return ledger;
  }

  /** For spaces of this name in every namespace, whoever asks for the first address there. */
  prepareWith(name: string, preparation: Preparation): void {
    this.#preparations.set(name, preparation);
  }

  space(namespace: string, name: string): Space {
    return this.#entry(namespace, name).space;
  }

  /** The blocks of a namespace that say that somebody holds an address. */
  blocksOf(namespace: string, uid: string): string[] {
    const spaces = [...(this.#spaces.get(namespace)?.values() ?? [])];
    return spaces.flatMap(({ space }) => space.heldBy(uid).map(({ address }) => blockOf(space, address)));
  }

  /** Addresses are looked for in the order of the requests, and recorded together. One outcome for each. */
  async hold(space: Space, requests: readonly Request[]): Promise<Outcome[]> {
    try {
      await this.prepare(space);
    } catch (error) {
      return requests.map(() => ({ is: 'unknown', error: asError(error) }));
    }
    return this.#holdAll(space, requests);
  }

  /** What comes before the first address of a space, also where nobody asks for one. What failed is tried again when somebody asks again. */
  async prepare(space: Space): Promise<void> {
    const entry = this.#entry(space.namespace, space.name);
    if (!entry.isPrepared) await this.#prepare(entry);
  }

  /**
   * Resolves when it is on record that nobody holds these any more. `coolDown`: for how many milliseconds they are not given to anybody
   * else; `sweep` ends that. `exactly`: only these very records, not those that were written anew since.
   */
  async release(
    space: Space,
    holdings: readonly Holding[],
    { coolDown = 0, exactly = false }: { coolDown?: number; exactly?: boolean } = {},
  ): Promise<void> {
    const { writer } = this.#entry(space.namespace, space.name);
    const coolsUntil = coolDown === 0 ? undefined : endOf(this.#clock.now() + coolDown);
    await Promise.all(holdings.map((holding) => writer.write({ action: 'release', holding, coolsUntil, exactly })));
  }

  observe({ before, now }: Change<AddressBlock>): void {
    const block = now ?? before;
    const { namespace = '', name, uid } = block.metadata;
    const { space } = this.#entry(namespace, block.spec.space);
    if (now !== undefined) space.observe(now);
    else space.forget(name, uid);
  }

  #forgetMissing(version: string, there: Cache<AddressBlock>): void {
    for (const [namespace, spaces] of this.#spaces) {
      for (const { space } of spaces.values()) {
        space.forgetMissing(version, (name) => there.get({ namespace, name }) !== undefined);
      }
    }
  }

  /** Once, however many ask meanwhile. */
  async #prepare(entry: Entry): Promise<void> {
    const { space } = entry;
    const preparation = this.#preparations.get(space.name);
    entry.preparing ??= preparation?.(space, (requests) => this.#holdAll(space, requests)) ?? Promise.resolve();
    try {
      await entry.preparing;
      entry.isPrepared = true;
    } finally {
      entry.preparing = undefined;
    }
  }

  #holdAll(space: Space, requests: readonly Request[]): Promise<Outcome[]> {
    return Promise.all(requests.map((request) => this.#hold(space, request)));
  }

  async #hold(space: Space, request: Request): Promise<Outcome> {
    const { writer } = this.#entry(space.namespace, space.name);
    const { holder, network, subnet, heirOf, afresh = false } = request;
    for (;;) {
      const placement = space.place(request);
      if (placement.is !== 'kept') return placement;
      const { address } = placement;
      const now = this.#clock.now();
      const since = afresh ? renewedTimestamp(now, space.holdingAt(address)?.since) : timestamp(now);
      const holding = { address, holder, network, subnet, since };
      try {
        // Lost: somebody else was faster, and the next look knows it.
        if ((await writer.write({ action: 'hold', holding, heirOf, afresh })) === 'written')
          return { is: 'held', holding };
      } catch (error) {
        return { is: 'unknown', error: asError(error) };
      } finally {
        space.settle(address);
      }
    }
  }

  #entry(namespace: string, name: string): Entry {
    let spaces = this.#spaces.get(namespace);
    if (spaces === undefined) {
      spaces = new Map();
      this.#spaces.set(namespace, spaces);
    }
    let entry = spaces.get(name);
    if (entry === undefined) {
      const space = new Space({ namespace, name });
      const writer = new BlockWriter({ client: this.#client, space });
      entry = { space, writer, isPrepared: false, preparing: undefined };
      spaces.set(name, entry);
    }
    return entry;
  }
}

/** Times are written in whole seconds: rather one too late than one too early. */
const endOf = (ms: number): string => timestamp(Math.ceil(ms / 1000) * 1000);

interface Entry {
  readonly space: Space;
  readonly writer: BlockWriter;
  isPrepared: boolean;
  preparing: Promise<void> | undefined;
}

const ledgers = new WeakMap<Informers, Ledger>();
