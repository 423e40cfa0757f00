import { at, grown } from './columns.ts';

/** The claims of one participant in one virtual network, chained through the columns of `Claims`. */
export interface ClaimList {
  firstClaim: number;
  claimCount: number;
}

/**
 * Who says that a route exists. A claim is in two chains: that of its route (all who say so) and that of its claimant
 * (all that it says), so that neither a look at a route nor the loss of a peer depends on how much others have said.
 */
export class Claims {
  #route = new Int32Array(firstCapacity);
  #claimant = new Int32Array(firstCapacity);
  #generation = new Int32Array(firstCapacity);
  /** In the chain of the route; or, for an unused place, the next unused one. */
  #nextOfRoute = new Int32Array(firstCapacity);
  #nextInList = new Int32Array(firstCapacity);
  #previousInList = new Int32Array(firstCapacity);
  /** slot -> its first claim */
  #firstOfRoute = new Int32Array(firstCapacity).fill(none);
  #unused = none;
  #bound = 0;

  /** The first claim on a route, or -1; go on with `next`. */
  first(slot: number): number {
    return slot < this.#firstOfRoute.length ? at(this.#firstOfRoute, slot) : none;
  }

  next(claim: number): number {
    return at(this.#nextOfRoute, claim);
  }

  nextInList(claim: number): number {
    return at(this.#nextInList, claim);
  }

  route(claim: number): number {
    return at(this.#route, claim);
  }

  claimant(claim: number): number {
    return at(this.#claimant, claim);
  }

  generation(claim: number): number {
    return at(this.#generation, claim);
  }

  confirm(claim: number, generation: number): void {
    this.#generation[claim] = generation;
  }

  find(slot: number, claimant: number): number {
    let claim = this.first(slot);
    while (claim >= 0 && this.claimant(claim) !== claimant) claim = this.next(claim);
    return claim;
  }

  add(slot: number, claimant: number, list: ClaimList, generation: number): void {
    const claim = this.#take();
    this.#route[claim] = slot;
    this.#claimant[claim] = claimant;
    this.#generation[claim] = generation;
    if (slot >= this.#firstOfRoute.length) this.#firstOfRoute = grown(this.#firstOfRoute, slot * 2, none);
    this.#nextOfRoute[claim] = at(this.#firstOfRoute, slot);
    this.#firstOfRoute[slot] = claim;
    this.#nextInList[claim] = list.firstClaim;
    this.#previousInList[claim] = none;
    if (list.firstClaim >= 0) this.#previousInList[list.firstClaim] = claim;
    list.firstClaim = claim;
    list.claimCount += 1;
  }

  remove(claim: number, list: ClaimList): void {
    this.#unlinkFromRoute(claim);
    const previous = at(this.#previousInList, claim);
    const next = at(this.#nextInList, claim);
    if (previous < 0) list.firstClaim = next;
    else this.#nextInList[previous] = next;
    if (next >= 0) this.#previousInList[next] = previous;
    list.claimCount -= 1;
    this.#nextOfRoute[claim] = this.#unused;
    this.#unused = claim;
  }

  #unlinkFromRoute(claim: number): void {
    const slot = this.route(claim);
    let before = none;
    for (let other = this.first(slot); other !== claim; other = this.next(other)) before = other;
    if (before < 0) this.#firstOfRoute[slot] = this.next(claim);
    else this.#nextOfRoute[before] = this.next(claim);
  }

  #take(): number {
    const claim = this.#unused;
    if (claim >= 0) {
      this.#unused = this.next(claim);
      return claim;
    }
    if (this.#bound === this.#route.length) this.#grow(this.#bound * 2);
    this.#bound += 1;
    return this.#bound - 1;
  }

  #grow(capacity: number): void {
    this.#route = grown(this.#route, capacity);
    this.#claimant = grown(this.#claimant, capacity);
    this.#generation = grown(this.#generation, capacity);
    this.#nextOfRoute = grown(this.#nextOfRoute, capacity);
    this.#nextInList = grown(this.#nextInList, capacity);
    this.#previousInList = grown(this.#previousInList, capacity);
  }
}

const none = -1;
const firstCapacity = 64;
