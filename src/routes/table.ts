import type { Words } from './address.ts';
import { Audience, type AudienceEvents, type Sink } from './audience.ts';
import { Claims } from './claims.ts';
import { at } from './columns.ts';
import { Participant, type Role, Stake } from './participant.ts';
import { routeWords, wordOf } from './route.ts';
import { RouteSet } from './route-set.ts';
import type { VirtualNetwork } from './virtual-network.ts';

export interface TableOptions {
  readonly seed: number;
  readonly uptime: () => number;
  readonly events: AudienceEvents;
}

/**
 * Which routes exist in which virtual network, who says so, and who has been told. Pure: it is given events and knows
 * nothing of connections.
 *
 * A participant is told a route if somebody else says that it exists; and what a server says is not told to servers.
 * It is told once, however many say so, and that it is gone when the last of them has withdrawn it.
 */
export class RouteTable {
  readonly routes: RouteSet;
  readonly #claims = new Claims();
  readonly #audience: Audience;
  readonly #participants: (Participant | undefined)[] = [];
  #routeCount = 0;

  constructor({ seed, uptime, events }: TableOptions) {
    this.routes = new RouteSet(seed);
    const knowledge = {
      reaches: (slot: number, participant: Participant) => this.#reaches(slot, participant),
      forgotten: (network: VirtualNetwork, slot: number) => this.#freeIfForgotten(network, slot),
    };
    this.#audience = new Audience({ uptime, events, knowledge });
  }

  get routeCount(): number {
    return this.#routeCount;
  }

  get networks(): ReadonlyMap<number, VirtualNetwork> {
    return this.#audience.networks;
  }

  /** Somebody who takes part from now on, but is told nothing before it is attached. */
  join(role: Role, { hearsAll = false } = {}): Participant {
    const free = this.#participants.indexOf(undefined);
    const index = free < 0 ? this.#participants.length : free;
    const participant = new Participant({ index, role, hearsAll });
    this.#participants[index] = participant;
    if (hearsAll)
      for (const network of this.networks.values()) this.#audience.listen(this.#stake(participant, network));
    return participant;
  }

  /** It can be told, and knows nothing yet. */
  attach(participant: Participant): void {
    participant.attached = true;
    for (const stake of participant.stakes.values()) if (stake.subscribed) this.#audience.startOver(stake);
  }

  /** It cannot be told anything now, and forgets what it was told. What it said becomes stale. */
  detach(participant: Participant): void {
    participant.attached = false;
    participant.muted.clear();
    for (const stake of participant.stakes.values()) this.#audience.park(stake);
    this.#audience.forgetAll(participant, (slot) => this.#networkOf(slot));
    participant.generation += 1;
    participant.staleCount = participant.claimCount;
    for (const stake of [...participant.stakes.values()]) this.#tidy(stake);
  }

  /** It is gone for good, with all that it said. */
  leave(participant: Participant): void {
    this.detach(participant);
    for (const stake of [...participant.stakes.values()]) {
      this.#withdrawAll(stake);
      if (stake.subscribed) this.#audience.stopListening(stake);
      this.#tidy(stake);
    }
    this.#participants[participant.index] = undefined;
  }

  /** The participant says that the route exists. `known`: it had said so already in this session. */
  claim(participant: Participant, words: Words): 'new' | 'confirmed' | 'known' {
    const slot = this.routes.ensure(words);
    const claim = this.#claims.find(slot, participant.index);
    if (claim >= 0) return this.#confirm(participant, claim);
    const network = this.#network(at(words, wordOf.vni));
    this.#audience.makeRoom(slot);
    if (this.#claims.first(slot) < 0) this.#count(network, 1);
    this.#claims.add(slot, participant.index, this.#stake(participant, network), participant.generation);
    participant.claimCount += 1;
    this.#audience.changed(network, slot);
    return 'new';
  }

  /** The participant does not say so any more. False: it did not. */
  withdraw(participant: Participant, words: Words): boolean {
    const slot = this.routes.find(words);
    const claim = slot < 0 ? -1 : this.#claims.find(slot, participant.index);
    const stake = participant.stakes.get(at(words, wordOf.vni));
    if (claim < 0 || stake === undefined) return false;
    this.#removeClaim(stake, claim);
    this.#tidy(stake);
    return true;
  }

  /** Everything that the participant said about a virtual network. */
  withdrawNetwork(participant: Participant, vni: number): void {
    const stake = participant.stakes.get(vni);
    if (stake === undefined) return;
    this.#withdrawAll(stake);
    this.#tidy(stake);
  }

  /** What it said in an earlier session and has not repeated in this one. Returns how many routes that were. */
  withdrawStale(participant: Participant): number {
    const count = participant.staleCount;
    if (count === 0) return 0;
    for (const stake of [...participant.stakes.values()]) {
      this.#withdrawAll(stake, (claim) => this.#claims.generation(claim) !== participant.generation);
      this.#tidy(stake);
    }
    return count;
  }

  says(participant: Participant, words: Words): boolean {
    const slot = this.routes.find(words);
    return slot >= 0 && this.#claims.find(slot, participant.index) >= 0;
  }

  /** False if it is subscribed already. */
  subscribe(participant: Participant, vni: number): boolean {
    if (participant.hearsAll || participant.stakes.get(vni)?.subscribed === true) return false;
    this.#audience.listen(this.#stake(participant, this.#network(vni)));
    return true;
  }

  /** False if it was not subscribed. What it says about the virtual network stays. */
  unsubscribe(participant: Participant, vni: number): boolean {
    const stake = participant.stakes.get(vni);
    if (participant.hearsAll || stake?.subscribed !== true) return false;
    this.#audience.stopListening(stake);
    this.#tidy(stake);
    return true;
  }

  /** From now on the other side knows nothing about a virtual network and is told nothing, until it is unmuted. */
  mute(participant: Participant, vni: number): void {
    participant.muted.add(vni);
    const stake = participant.stakes.get(vni);
    if (stake === undefined) return;
    this.#audience.mute(stake);
    this.#tidy(stake);
  }

  unmute(participant: Participant, vni: number): void {
    const stake = participant.stakes.get(vni);
    if (participant.muted.delete(vni) && stake?.subscribed === true && participant.attached)
      this.#audience.startOver(stake);
  }

  /** See `Audience.drain`. */
  drain(participant: Participant, sink: Sink): boolean {
    return this.#audience.drain(participant, sink);
  }

  /** Who says that the route exists. */
  *claimants(slot: number): Generator<Participant> {
    for (let claim = this.#claims.first(slot); claim >= 0; claim = this.#claims.next(claim)) {
      const claimant = this.#participants[this.#claims.claimant(claim)];
      if (claimant !== undefined) yield claimant;
    }
  }

  /** The slots of the routes that somebody says exist. */
  *slotsOf(vni: number): Generator<number> {
    const network = this.networks.get(vni);
    for (let place = 0; place < (network?.length ?? 0); place += 1) {
      const slot = network?.slotAt(place) ?? -1;
      if (slot >= 0 && this.#claims.first(slot) >= 0) yield slot;
    }
  }

  #reaches(slot: number, participant: Participant): boolean {
    let reached = false;
    for (let claim = this.#claims.first(slot); claim >= 0; claim = this.#claims.next(claim)) {
      const claimant = this.#participants[this.#claims.claimant(claim)];
      // What is announced here is no news here, whoever else announces the same.
      if (claimant === participant && participant.role === 'self') return false;
      if (claimant === undefined || claimant === participant) continue;
      if (claimant.role !== 'server' || participant.role !== 'server') reached = true;
    }
    return reached;
  }

  #confirm(participant: Participant, claim: number): 'confirmed' | 'known' {
    if (this.#claims.generation(claim) === participant.generation) return 'known';
    this.#claims.confirm(claim, participant.generation);
    participant.staleCount -= 1;
    return 'confirmed';
  }

  #removeClaim(stake: Stake, claim: number): void {
    const { participant, network } = stake;
    const slot = this.#claims.route(claim);
    if (this.#claims.generation(claim) !== participant.generation) participant.staleCount -= 1;
    this.#claims.remove(claim, stake);
    participant.claimCount -= 1;
    if (this.#claims.first(slot) < 0) this.#count(network, -1);
    if (this.#audience.isKnown(slot) || !this.#freeIfForgotten(network, slot)) this.#audience.changed(network, slot);
  }

  #withdrawAll(stake: Stake, which: (claim: number) => boolean = () => true): void {
    for (let claim = stake.firstClaim; claim >= 0; ) {
      const next = this.#claims.nextInList(claim);
      if (which(claim)) this.#removeClaim(stake, claim);
      claim = next;
    }
  }

  /** The slot of a route that nobody was told of may be used again as soon as nobody says that the route exists. */
  #freeIfForgotten(network: VirtualNetwork, slot: number): boolean {
    if (this.#claims.first(slot) >= 0) return false;
    this.#audience.release(network, slot);
    this.routes.remove(slot);
    return true;
  }

  #count(network: VirtualNetwork, difference: 1 | -1): void {
    network.routeCount += difference;
    this.#routeCount += difference;
  }

  #network(vni: number): VirtualNetwork {
    const known = this.networks.get(vni);
    if (known !== undefined) return known;
    const network = this.#audience.network(vni);
    for (const participant of this.#participants) {
      if (participant?.hearsAll === true) this.#audience.listen(this.#stake(participant, network));
    }
    return network;
  }

  #networkOf(slot: number): VirtualNetwork {
    return this.#network(at(this.routes.words, slot * routeWords + wordOf.vni));
  }

  #stake(participant: Participant, network: VirtualNetwork): Stake {
    const known = participant.stakes.get(network.vni);
    if (known !== undefined) return known;
    const stake = new Stake(participant, network);
    participant.stakes.set(network.vni, stake);
    return stake;
  }

  #tidy({ participant, network, claimCount, subscribed }: Stake): void {
    if (claimCount === 0 && !subscribed) participant.stakes.delete(network.vni);
    this.#audience.dropIfUnused(network);
  }
}
