import type { ClaimList } from './claims.ts';
import { at, grown } from './columns.ts';
import type { VirtualNetwork } from './virtual-network.ts';

/**
 * `self`: the program this table lives in. `client`: a host. `server`: another route server; what one server says is not
 * passed on to another one, because they all hear it from its origin.
 */
export type Role = 'self' | 'client' | 'server';

/** Somebody who says that routes exist, is told about routes, or both. */
export class Participant {
  readonly index: number;
  readonly role: Role;
  /** Is told the routes of every virtual network, unasked. */
  readonly hearsAll: boolean;
  readonly stakes = new Map<number, Stake>();
  /** Where something has changed that this participant has not been told yet. */
  readonly pending = new Set<Stake>();
  /** The virtual networks that it must not be told about now. */
  readonly muted = new Set<number>();
  /** Somebody who is not attached cannot be told anything now. */
  attached = false;
  claimCount = 0;
  /** Counts sessions: a claim of an earlier one is stale until the peer repeats it. */
  generation = 0;
  staleCount = 0;
  /** One bit for each slot: the participant was told the route, and not that it is gone. */
  #told = new Uint32Array(0);
  toldCount = 0;

  constructor({ index, role, hearsAll }: { index: number; role: Role; hearsAll: boolean }) {
    this.index = index;
    this.role = role;
    this.hearsAll = hearsAll;
  }

  wasTold(slot: number): boolean {
    return (at(this.#told, slot >>> 5) & (1 << (slot & 31))) !== 0;
  }

  setTold(slot: number, told: boolean): void {
    const word = slot >>> 5;
    if (word >= this.#told.length) this.#told = grown(this.#told, Math.max(16, word * 2));
    const bit = 1 << (slot & 31);
    this.#told[word] = told ? at(this.#told, word) | bit : at(this.#told, word) & ~bit;
    this.toldCount += told ? 1 : -1;
  }

  /** Every route it was told. */
  *told(): Generator<number> {
    for (let word = 0; word < this.#told.length; word += 1) {
      for (let bits = at(this.#told, word); bits !== 0; bits &= bits - 1)
        yield word * 32 + 31 - Math.clz32(bits & -bits);
    }
  }
}

/** What a participant has to do with one virtual network. */
export class Stake implements ClaimList {
  readonly participant: Participant;
  readonly network: VirtualNetwork;
  firstClaim = -1;
  claimCount = 0;
  subscribed = false;
  /** How far in the network's list of changes it has been told. */
  cursor = 0;
  toldCount = 0;

  constructor(participant: Participant, network: VirtualNetwork) {
    this.participant = participant;
    this.network = network;
  }
}
