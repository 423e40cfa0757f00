import { AddressBlock, blockPrefix } from '../api/netloom.io/address-block.ts';
import type { Prefix } from '../api/prefix.ts';
import { ApiError } from '../api/status.ts';
import type { Client } from '../runtime/client.ts';
import { Unreachable } from '../runtime/transport.ts';
import { blockOf, type Holding, mayTakeOver, type Space, saying } from './space.ts';

/** What shall become of an address. */
export interface Change {
  readonly action: 'hold' | 'release';
  readonly holding: Holding;
  /** Whose address may be taken over, as a UID. */
  readonly heirOf?: string | undefined;
  /** A record that the holder has already is written anew. */
  readonly afresh?: boolean;
  /** Of what is released: only this very record, not one that was written anew since. */
  readonly exactly?: boolean;
  /** Of what is released: until then nobody else gets the address. */
  readonly coolsUntil?: string | undefined;
}

/** `lost`: somebody else has the address. */
export type Written = 'written' | 'lost';

/**
 * Writes changes of holdings into the blocks that they belong to. A block is written by one call at a time; what comes
 * in meanwhile goes along with the next write. The version of the block decides between us and other writers.
 */
export class BlockWriter {
  readonly #client: Client;
  readonly #space: Space;
  /** Block → the changes that wait while it is being written. */
  readonly #waiting = new Map<string, Pending[]>();

  constructor({ client, space }: { client: Client; space: Space }) {
    this.#client = client;
    this.#space = space;
  }

  /** Rejects when it is not known what became of the change, or when the server refuses it. */
  write(change: Change): Promise<Written> {
    const name = blockOf(this.#space, change.holding.address);
    const { promise, resolve, reject } = Promise.withResolvers<Written>();
    const pending = { ...change, resolve, reject };
    const waiting = this.#waiting.get(name);
    if (waiting === undefined) {
      this.#waiting.set(name, [pending]);
      void this.#drain(name, blockPrefix(change.holding.address));
    } else {
      waiting.push(pending);
    }
    return promise;
  }

  async #drain(name: string, prefix: Prefix): Promise<void> {
    // Changes that are made in one go shall go into one write.
    await Promise.resolve();
    for (;;) {
      const batch = this.#waiting.get(name)?.splice(0) ?? [];
      if (batch.length === 0) break;
      try {
        await this.#writeAll(name, prefix, batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#waiting.delete(name);
  }

  async #writeAll(name: string, prefix: Prefix, batch: readonly Pending[]): Promise<void> {
    let left = batch;
    for (let attempt = 1; ; attempt += 1) {
      left = left.filter((change) => !this.#settled(change));
      if (left.length === 0) return;
      try {
        this.#space.observe(await this.#put(name, prefix, left));
      } catch (error) {
        if (attempt === ATTEMPTS || !(wasOvertaken(error) || isInDoubt(error))) throw error;
        await this.#lookAgain(name);
        left = left.filter((change) => !this.#settled(change));
        if (left.length > 0 && isInDoubt(error)) throw error;
      }
    }
  }

  /** What the newest block that we know already says needs no write. */
  #settled(change: Pending): boolean {
    const now = this.#space.holdingAt(change.holding.address);
    if (isDue(change, now)) return false;
    change.resolve(change.action === 'release' || isSame(change.holding, now) ? 'written' : 'lost');
    return true;
  }

  #put(name: string, prefix: Prefix, changes: readonly Change[]): Promise<AddressBlock> {
    const { namespace, name: space } = this.#space;
    const holdings = new Map([...this.#space.holdingsIn(name)].map((holding) => [holding.address.value, holding]));
    for (const change of changes) {
      const { action, holding, coolsUntil } = change;
      const { value } = holding.address;
      // Two may want to change the same: the first one does, and what came of it decides about the second.
      if (!isDue(change, holdings.get(value))) continue;
      if (action === 'hold') holdings.set(value, holding);
      else if (coolsUntil === undefined) holdings.delete(value);
      else holdings.set(value, { ...holding, coolsUntil });
    }
    const spec = { space, prefix: prefix.toString(), holdings: saying(holdings.values()) };
    // A block that says something must not vanish by accident: what it says would be free for others.
    const known = this.#space.block(name);
    const others = known?.metadata.finalizers?.filter((finalizer) => finalizer !== FINALIZER) ?? [];
    const finalizers = holdings.size > 0 ? [...others, FINALIZER] : others;
    if (known === undefined) {
      return this.#client.create(AddressBlock, { metadata: { namespace, name, finalizers }, spec });
    }
    return this.#client.update(AddressBlock, { ...known, metadata: { ...known.metadata, finalizers }, spec });
  }

  async #lookAgain(name: string): Promise<void> {
    const block = await this.#client.get(AddressBlock, name, this.#space.namespace);
    if (block === undefined) this.#space.forget(name);
    else this.#space.observe(block);
  }
}

export const FINALIZER = 'netloom.io/holdings';
const ATTEMPTS = 10;

interface Pending extends Change {
  readonly resolve: (written: Written) => void;
  readonly reject: (error: unknown) => void;
}

/** Whether a change has something to change where an address is held like this, or not at all. */
function isDue(change: Change, now: Holding | undefined): boolean {
  const { action, holding, heirOf, afresh = false, exactly = false } = change;
  if (now === undefined) return action === 'hold';
  if (action === 'release') return isSame(holding, now) && (!exactly || now.since === holding.since);
  if (isSame(holding, now)) return afresh && now.since !== holding.since;
  return mayTakeOver(now, { holder: holding.holder, heirOf });
}

const isSame = ({ holder, coolsUntil }: Holding, now: Holding | undefined): boolean =>
  now?.holder.uid === holder.uid && now.coolsUntil === coolsUntil;

/** Somebody else wrote, created or deleted the block since we saw it. */
const wasOvertaken = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 404 || error.code === 409);

/** Nobody knows whether our write was done. */
const isInDoubt = (error: unknown): boolean =>
  error instanceof Unreachable || (error instanceof ApiError && error.code >= 500);
