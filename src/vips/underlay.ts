import { Address } from '../api/address.ts';
import {
  type AddressBlock,
  type AddressHolder,
  type AddressHolding,
  blockPrefix,
} from '../api/netloom.io/address-block.ts';
import { isNewer } from '../ledger/space.ts';
import { AddressIndex, NameCounts } from './address-index.ts';
import { nameOf } from './terms.ts';
import { isNews, isService } from './vip.ts';

/** An address on record in the space of hosts: of somebody else, or on behalf of a Service. */
export interface Elsewhere {
  readonly namespace: string;
  readonly holder: AddressHolder;
  /** The holder has given it back, and nobody else gets it before. */
  readonly coolsUntil?: string;
}

/** What is on record in the spaces of hosts. The blocks are those of the caches: there may be a great many addresses in them. */
export class Underlay {
  readonly #blocks = new Map<string, AddressBlock>();
  /** Prefix → keys of the blocks that are about it, one for each namespace. */
  readonly #byPrefix = new Map<string, Set<string>>();
  /** UID of a Service → the addresses that are held for it. */
  readonly #byClaimant = new AddressIndex();
  readonly #names = new NameCounts();

  at(address: Address): Elsewhere[] {
    const keys = this.#byPrefix.get(blockPrefix(address).toString());
    if (keys === undefined) return [];
    const text = address.toString();
    return [...keys].flatMap((key) => {
      const block = this.#blocks.get(key);
      const found = block?.spec.holdings.find((holding) => holding.address === text);
      if (found === undefined) return [];
      const { holder, coolsUntil } = found;
      return [
        { namespace: block?.metadata.namespace ?? '', holder, ...(coolsUntil === undefined ? {} : { coolsUntil }) },
      ];
    });
  }

  /** Who has the address and is no Service. */
  stranger(address: Address): Elsewhere | undefined {
    return this.at(address).find(({ holder }) => !isService(holder));
  }

  claimedFor(uid: string): Address[] {
    return [...this.#byClaimant.get(uid)].flatMap((text) => Address.parse(text) ?? []);
  }

  /** Services of this name for which something is held. */
  uidsOf(name: string): Iterable<string> {
    return this.#names.uidsOf(name);
  }

  /** The addresses of those who are no Services, in blocks that `meets` says are of interest. */
  *strangers(meets: (prefix: string) => boolean): Generator<Address> {
    for (const { spec } of this.#blocks.values()) {
      if (!meets(spec.prefix)) continue;
      for (const { address: text, holder } of spec.holdings) {
        const address = isService(holder) ? undefined : Address.parse(text);
        if (address !== undefined) yield address;
      }
    }
  }

  /** Takes in a block as it is, or its end. Answers with the addresses whose holder is another one now. */
  observe(key: string, object: AddressBlock | undefined, uid?: string): Address[] {
    const known = this.#blocks.get(key);
    if (object === undefined ? known === undefined || known.metadata.uid !== uid : !isNews(object, known)) return [];
    const parts = differing(known?.spec.holdings ?? [], object?.spec.holdings ?? []);
    const [before, now] = [holdersIn(parts.before), holdersIn(parts.now)];
    this.#keep(key, known, object);
    const changed: Address[] = [];
    for (const text of new Set([...before.keys(), ...now.keys()])) {
      const [was, is] = [before.get(text), now.get(text)];
      if (was?.uid === is?.uid) continue;
      const address = Address.parse(text);
      if (address === undefined) continue;
      if (was !== undefined && isService(was)) this.#claim(address, was, -1);
      if (is !== undefined && isService(is)) this.#claim(address, is, 1);
      changed.push(address);
    }
    return changed;
  }

  /** All blocks were listed at this version: those that are not there are gone. Answers as `observe`. */
  forgetMissing(version: string, isThere: (key: string) => boolean): Address[] {
    return [...this.#blocks].flatMap(([key, { metadata }]) =>
      isThere(key) || isNewer(metadata.resourceVersion, version) ? [] : this.observe(key, undefined, metadata.uid),
    );
  }

  #keep(key: string, known: AddressBlock | undefined, object: AddressBlock | undefined): void {
    const prefix = (object ?? known)?.spec.prefix ?? '';
    const keys = this.#byPrefix.get(prefix) ?? new Set();
    if (object === undefined) {
      this.#blocks.delete(key);
      keys.delete(key);
    } else {
      this.#blocks.set(key, object);
      keys.add(key);
    }
    if (keys.size === 0) this.#byPrefix.delete(prefix);
    else this.#byPrefix.set(prefix, keys);
  }

  #claim(address: Address, { namespace = '', name, uid }: AddressHolder, difference: 1 | -1): void {
    // The same address may be held for it in several namespaces.
    const isHeld = this.at(address).some(({ holder }) => holder.uid === uid);
    this.#byClaimant[isHeld ? 'add' : 'delete'](uid, address.toString());
    this.#names.count(nameOf({ namespace, name }), uid, difference);
  }
}

const holdersIn = (holdings: readonly AddressHolding[]): Map<string, AddressHolder> =>
  new Map(holdings.map(({ address, holder }) => [address, holder]));

/** Both without what they begin and end with alike, which is nearly all that a block says. */
function differing(before: readonly AddressHolding[], now: readonly AddressHolding[]) {
  const shorter = Math.min(before.length, now.length);
  let begin = 0;
  while (begin < shorter && isAlike(before[begin], now[begin])) begin += 1;
  let end = 0;
  while (end < shorter - begin && isAlike(before.at(-1 - end), now.at(-1 - end))) end += 1;
  return { before: before.slice(begin, before.length - end), now: now.slice(begin, now.length - end) };
}

const isAlike = (a: AddressHolding | undefined, b: AddressHolding | undefined): boolean =>
  a?.address === b?.address && a?.holder.uid === b?.holder.uid;
