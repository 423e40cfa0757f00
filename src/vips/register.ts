import { type Address, compareAddresses } from '../api/address.ts';
import { type AddressBlock, type AddressHolding, blockName, blockPrefix } from '../api/netloom.io/address-block.ts';
import { isNewer } from '../ledger/space.ts';
import { renewedTimestamp, timestamp } from '../runtime/timestamp.ts';
import { AddressIndex, NameCounts } from './address-index.ts';
import { nameOf, sameTerms, type User } from './terms.ts';
import { blockKey, holdingOf, isNews, isOnlyMore, sameVip, VIPS, type Vip, vipOf } from './vip.ts';

/**
 * Which Services use which address, as the blocks say that we have seen or written, and as we are about to write. It may be
 * behind; that nothing is given away twice is up to the version of the block that is written.
 */
export class Register {
  readonly #namespace: string;
  readonly #blocks = new Map<string, Block>();
  /** Blocks that must be written. */
  readonly #dirty = new Set<string>();
  /** By the text of the address. */
  readonly #vips = new Map<string, Vip>();
  /** UID of a Service → its addresses. */
  readonly #byUser = new AddressIndex();
  readonly #bySharingKey = new AddressIndex();
  /** Sharing key and port → the addresses at which somebody with the key has the port. */
  readonly #bySharedPort = new AddressIndex();
  readonly #byPool = new AddressIndex();
  readonly #names = new NameCounts();
  readonly #changed: (address: Address) => void;

  /** `changed` is told of every address that has other users than before. */
  constructor({ namespace, changed }: { namespace: string; changed: (address: Address) => void }) {
    this.#namespace = namespace;
    this.#changed = changed;
  }

  at(address: Address): Vip | undefined {
    return this.#vips.get(address.toString());
  }

  get vips(): Iterable<Vip> {
    return this.#vips.values();
  }

  of(uid: string): Vip[] {
    return this.#listed(this.#byUser.get(uid));
  }

  /** The addresses that are shared under this key, and at which nobody with the key has one of these ports. */
  sharedUnder(key: string, ports: readonly string[]): Vip[] {
    const shared = this.#bySharingKey.get(key);
    const taken = ports.map((port) => this.#bySharedPort.get(sharedPort(key, port)));
    if (taken.some(({ size }) => size === shared.size)) return [];
    return this.#listed([...shared].filter((text) => !taken.some((texts) => texts.has(text))));
  }

  from(pool: string): Vip[] {
    return this.#listed(this.#byPool.get(pool));
  }

  /** Services of this name, whichever they are, that use addresses. */
  uidsOf(name: string): Iterable<string> {
    return this.#names.uidsOf(name);
  }

  /** From now on the Service uses the address, on these terms. `afresh`: promised anew, though it may be on record already. */
  use(address: Address, user: User, { pool, now, afresh }: { pool: string; now: number; afresh: boolean }): void {
    const before = this.at(address);
    const known = before?.users.find(({ uid }) => uid === user.uid);
    if (!afresh && before?.pool === pool && known !== undefined && sameTerms(known.terms, user.terms)) return;
    const users = before?.users ?? [];
    const since = known !== undefined && !afresh ? known.since : renewedTimestamp(now, known?.since);
    const promised = since === undefined ? user : { ...user, since };
    const replaced = users.map((other) => (other.uid === user.uid ? promised : other));
    this.#change(address, {
      address,
      pool,
      since: before?.since ?? timestamp(now),
      users: known === undefined ? [...users, promised] : replaced,
    });
  }

  /** `promise`: since when the address has been promised; one that was promised anew stays. */
  leave(address: Address, uid: string, promise?: string): void {
    const before = this.at(address);
    const known = before?.users.find((user) => user.uid === uid);
    if (before === undefined || known === undefined || (promise !== undefined && known.since !== promise)) return;
    const users = before.users.filter((user) => user.uid !== uid);
    this.#change(address, users.length === 0 ? undefined : { ...before, users });
  }

  /**
   * Takes in a block as the server has it, or its end. Answers with the addresses that somebody may have now who could not before.
   */
  observe(key: string, object: AddressBlock | undefined, uid?: string): Address[] {
    const block = this.#block(key);
    // What we write is based on what we knew; the server will tell whether that was still so.
    if (block.isWriting) return this.#hear(block, object ?? { ended: uid });
    if (object === undefined ? isAnother(block.object, uid) : !isNews(object, block.object)) return [];
    return this.#load(key, block, object);
  }

  /** All blocks were listed at this version: those that are not there are gone. Answers as `observe`. */
  forgetMissing(version: string, isThere: (key: string) => boolean): Address[] {
    return [...this.#blocks].flatMap(([key, { object }]) =>
      object === undefined || isThere(key) || isNewer(object.metadata.resourceVersion, version)
        ? []
        : this.observe(key, undefined, object.metadata.uid),
    );
  }

  /** Whether what is told here is not yet on record everywhere, and may be taken back. */
  get isBeingWritten(): boolean {
    return this.#dirty.size > 0;
  }

  /** The blocks that must be written. */
  dirty(): string[] {
    return [...this.#dirty];
  }

  /** Until `written` or `revert`, what is heard of the block waits. */
  beginWrite(key: string): { object: AddressBlock | undefined; holdings: AddressHolding[] } {
    const block = this.#block(key);
    block.isWriting = true;
    const vips = this.#listed(block.addresses).sort((a, b) => compareAddresses(a.address, b.address));
    return { object: block.object, holdings: vips.flatMap((vip) => holdingOf(vip) ?? []) };
  }

  written(key: string, object: AddressBlock): void {
    const block = this.#block(key);
    block.isWriting = false;
    block.object = object;
    this.#dirty.delete(key);
    this.#takeHeard(key, block);
  }

  /** What we wanted to write is forgotten; `object` is what the server has instead. */
  revert(key: string, object: AddressBlock | undefined): void {
    const block = this.#block(key);
    block.isWriting = false;
    this.#load(key, block, object);
    this.#takeHeard(key, block);
  }

  objectOf(key: string): AddressBlock | undefined {
    return this.#blocks.get(key)?.object;
  }

  blockOf(address: Address): string {
    return blockKey(this.#namespace, blockName(VIPS, blockPrefix(address)));
  }

  /** Answers at once with what may be free: whoever is woken comes after the write. */
  #hear(block: Block, news: News): Address[] {
    const object = 'ended' in news ? undefined : news;
    const known = block.heard === undefined || 'ended' in block.heard ? block.object : block.heard;
    if (object !== undefined && !isNews(object, known)) return [];
    if ('ended' in news && known !== undefined && isAnother(known, news.ended)) return [];
    block.heard = news;
    return this.#freedBy(block, vipsIn(object));
  }

  #takeHeard(key: string, block: Block): void {
    const { heard } = block;
    block.heard = undefined;
    if (heard === undefined) return;
    if ('ended' in heard) {
      if (!isAnother(block.object, heard.ended)) this.#load(key, block, undefined);
    } else if (isNews(heard, block.object)) {
      this.#load(key, block, heard);
    }
  }

  #load(key: string, block: Block, object: AddressBlock | undefined): Address[] {
    block.object = object;
    this.#dirty.delete(key);
    const said = vipsIn(object);
    const freed = this.#freedBy(block, said);
    for (const text of new Set([...block.addresses, ...said.keys()])) {
      const [before, now] = [this.#vips.get(text), said.get(text)];
      if (before === undefined || now === undefined || !sameVip(before, now)) this.#put(text, now, block);
    }
    return freed;
  }

  /** The addresses of the block that not all of those have any more, on the same terms, who have them as far as we know. */
  #freedBy({ addresses }: Block, said: ReadonlyMap<string, Vip>): Address[] {
    return this.#listed(addresses).flatMap((vip) =>
      isOnlyMore(vip, said.get(vip.address.toString())) ? [] : vip.address,
    );
  }

  #change(address: Address, vip: Vip | undefined): void {
    const key = this.blockOf(address);
    this.#dirty.add(key);
    this.#put(address.toString(), vip, this.#block(key));
  }

  #put(text: string, vip: Vip | undefined, block: Block): void {
    const before = this.#vips.get(text);
    if (before !== undefined) this.#index(text, before, 'delete');
    if (vip === undefined) {
      this.#vips.delete(text);
      block.addresses.delete(text);
    } else {
      this.#vips.set(text, vip);
      block.addresses.add(text);
      this.#index(text, vip, 'add');
    }
    const address = vip?.address ?? before?.address;
    if (address !== undefined) this.#changed(address);
  }

  #index(text: string, { pool, users }: Vip, change: 'add' | 'delete'): void {
    this.#byPool[change](pool, text);
    for (const { uid, terms, ...name } of users) {
      this.#byUser[change](uid, text);
      if (terms.sharingKey !== '') {
        this.#bySharingKey[change](terms.sharingKey, text);
        for (const port of terms.ports) this.#bySharedPort[change](sharedPort(terms.sharingKey, port), text);
      }
      this.#names.count(nameOf(name), uid, change === 'add' ? 1 : -1);
    }
  }

  #listed(texts: Iterable<string>): Vip[] {
    return [...texts].flatMap((text) => this.#vips.get(text) ?? []);
  }

  #block(key: string): Block {
    let block = this.#blocks.get(key);
    if (block === undefined) {
      block = { object: undefined, addresses: new Set(), isWriting: false, heard: undefined };
      this.#blocks.set(key, block);
    }
    return block;
  }
}

const sharedPort = (key: string, port: string): string => JSON.stringify([key, port]);

interface Block {
  object: AddressBlock | undefined;
  /** Texts of the addresses that are on record in it, or will be. */
  readonly addresses: Set<string>;
  isWriting: boolean;
  /** What was heard while it was being written. */
  heard: News | undefined;
}

/** A block as it is, or the end of the one of this UID. */
type News = AddressBlock | { readonly ended: string | undefined };

/** Whether the end of the block of this UID says nothing about this one. */
const isAnother = (known: AddressBlock | undefined, uid: string | undefined): boolean =>
  known === undefined || (uid !== undefined && known.metadata.uid !== uid);

const vipsIn = (object: AddressBlock | undefined): Map<string, Vip> =>
  new Map(
    (object?.spec.holdings ?? [])
      .flatMap((holding) => vipOf(holding) ?? [])
      .map((vip) => [vip.address.toString(), vip]),
  );
