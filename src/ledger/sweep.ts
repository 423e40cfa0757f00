import { Namespace } from '../api/core/namespace.ts';
import type { Kind } from '../api/kind.ts';
import { AddressBlock, type AddressHolder } from '../api/netloom.io/address-block.ts';
import type { ApiObject } from '../api/object.ts';
import type { Caches } from '../runtime/cache.ts';
import { isConflict } from '../runtime/client.ts';
import { type Context, type Controller, controller } from '../runtime/controller.ts';
import { removeFinalizers } from '../runtime/finalizers.ts';
import { done, type Outcome, wait } from '../runtime/outcome.ts';
import { keyOf, keyOfObject, refOf } from '../runtime/ref.ts';
import { FINALIZER } from './block-writer.ts';
import { Ledger } from './ledger.ts';
import type { Holding } from './space.ts';

export interface SweepOptions {
  /** The kinds of object that hold addresses. What objects of other kinds hold is left alone. */
  readonly holders: readonly Kind[];
  /** For how long, in milliseconds, the address of a holder that is gone stays held: a host may still be using it. */
  readonly grace: number;
  /** For how long after that it cools down. */
  readonly coolDown: number;
}

/**
 * Holders release what they hold when they go. Sweeps up after those that could not, ends it when an address has cooled down, and
 * takes away empty blocks.
 */
export const sweep = ({ holders, ...times }: SweepOptions): Controller => {
  const name = 'address-sweep';
  return {
    name,
    start(host) {
      const ledger = Ledger.of(host);
      const sweeper = new Sweeper({ ledger, holders, ...times });
      return controller({
        name,
        for: AddressBlock,
        watches: holders.map((kind) => ({
          kind,
          wakes: (holder: ApiObject, caches: Caches) => {
            const { namespace = '', uid } = holder.metadata;
            if (caches.of(kind).get(refOf(holder))?.metadata.uid === uid) return [];
            return ledger.blocksOf(namespace, uid).map((block) => ({ namespace, name: block }));
          },
        })),
        reconcile: (block, context) => sweeper.look(block, context),
        gone: (ref) => sweeper.forget(keyOf(ref)),
      }).start(host);
    },
  };
};

class Sweeper {
  readonly #ledger: Ledger;
  readonly #holders: readonly Kind[];
  readonly #grace: number;
  readonly #coolDown: number;
  /** Block → what looked abandoned in it (a holder's uid, or `EMPTY`) → since when, as uptime. */
  readonly #abandoned = new Map<string, Map<string, number>>();

  constructor({ ledger, holders, grace, coolDown }: { ledger: Ledger } & SweepOptions) {
    this.#ledger = ledger;
    this.#holders = holders;
    this.#grace = grace;
    this.#coolDown = coolDown;
  }

  forget(block: string): void {
    this.#abandoned.delete(block);
  }

  async look(block: AddressBlock, context: Context): Promise<Outcome> {
    const { namespace = '', name, deletionTimestamp } = block.metadata;
    const space = this.#ledger.space(namespace, block.spec.space);
    const holdings = [...space.holdingsIn(name)];
    if (holdings.length === 0 && deletionTimestamp !== undefined) {
      await removeFinalizers(context.client, AddressBlock, block, [FINALIZER]);
      return done();
    }
    const { living, cooled, soonest } = byTemperature(holdings, context.system.now());
    if (living.length === 0 && deletionTimestamp !== undefined && (await isLeaving(namespace, context))) {
      await this.#ledger.release(space, holdings);
      return done();
    }
    const missing = living.filter(({ holder }) => this.#isMissing(holder, namespace, context.caches));
    const suspects = holdings.length === 0 ? [EMPTY] : missing.map(({ holder }) => holder.uid);
    const { ripe, after } = this.#ripeOf(keyOfObject(block), new Set(suspects), context.system.uptime());
    if (ripe.has(EMPTY)) await deleteIfUnchanged(block, context);
    const gone: Holding[] = [];
    for (const holding of missing) {
      if (
        ripe.has(holding.holder.uid) &&
        (await isGone(holding.holder, this.#kindOf(holding.holder), context, namespace))
      ) {
        gone.push(holding);
      }
    }
    await Promise.all([
      this.#ledger.release(space, gone, { coolDown: this.#coolDown }),
      this.#ledger.release(space, cooled),
    ]);
    const next = Math.min(after, soonest - context.system.now());
    return next === Number.POSITIVE_INFINITY ? done() : wait({ after: Math.max(next, 0) });
  }

  /** Which suspects have been so for long enough, and in how many milliseconds the next one will have been. */
  #ripeOf(block: string, suspects: ReadonlySet<string>, now: number): { ripe: Set<string>; after: number } {
    const before = this.#abandoned.get(block);
    const since = new Map([...suspects].map((suspect) => [suspect, before?.get(suspect) ?? now]));
    const ripe = new Set([...since].filter(([, began]) => now - began >= this.#grace).map(([suspect]) => suspect));
    // Who turns out to be there after all begins anew.
    for (const suspect of ripe) since.delete(suspect);
    if (since.size === 0) this.#abandoned.delete(block);
    else this.#abandoned.set(block, since);
    return { ripe, after: Math.min(...since.values()) + this.#grace - now };
  }

  #isMissing(holder: AddressHolder, namespace: string, caches: Caches): boolean {
    const kind = this.#kindOf(holder);
    return kind !== undefined && caches.of(kind).get({ namespace, name: holder.name })?.metadata.uid !== holder.uid;
  }

  #kindOf({ apiGroup = '', kind }: AddressHolder): Kind | undefined {
    return this.#holders.find((holder) => holder.group === apiGroup && holder.kind === kind);
  }
}

/** What is held, what has cooled down by now, and when the next one of the others will have, in milliseconds since 1970. */
function byTemperature(holdings: readonly Holding[], now: number) {
  const living: Holding[] = [];
  const cooled: Holding[] = [];
  let soonest = Number.POSITIVE_INFINITY;
  for (const holding of holdings) {
    if (holding.coolsUntil === undefined) {
      living.push(holding);
      continue;
    }
    const end = Date.parse(holding.coolsUntil);
    if (end <= now) cooled.push(holding);
    else soonest = Math.min(soonest, end);
  }
  return { living, cooled, soonest };
}

/** A block without holdings stands here in place of a holder's uid. */
const EMPTY = '';

/** Of a namespace that goes as a whole nobody is given an address any more: it must not wait until one has cooled down. */
async function isLeaving(namespace: string, { client }: Context): Promise<boolean> {
  return (await client.get(Namespace, namespace))?.metadata.deletionTimestamp !== undefined;
}

/** The server itself is asked: caches may not have heard yet of somebody who is new. */
async function isGone({ name, uid }: AddressHolder, kind: Kind | undefined, { client }: Context, namespace: string) {
  return kind !== undefined && (await client.get(kind, name, namespace))?.metadata.uid !== uid;
}

async function deleteIfUnchanged(block: AddressBlock, { client }: Context): Promise<void> {
  const { uid, resourceVersion } = block.metadata;
  try {
    await client.delete(AddressBlock, refOf(block), { uid, resourceVersion });
  } catch (error) {
    // Somebody began to use it.
    if (!isConflict(error)) throw error;
  }
}
