import { at, grown } from './columns.ts';
import type { Participant, Stake } from './participant.ts';
import { VirtualNetwork } from './virtual-network.ts';

export interface AudienceEvents {
  /** A participant has something to be told: `drain` it when it can take it. */
  pending(participant: Participant): void;
  /** The first of the hosts here wants a virtual network, or the last one does not any more. */
  interest(vni: number, wanted: boolean): void;
  /** Everybody has been told everything about a virtual network; the first change waited for `ms`. */
  settled(ms: number): void;
}

/** Takes one change; false: not now, ask again later. It must not change the table. */
export type Sink = (add: boolean, slot: number) => boolean;

interface Knowledge {
  /** Whether the participant should know the route now. */
  reaches(slot: number, participant: Participant): boolean;
  /** Nobody knows the route any more. If nobody says so either, `release` it and return true. */
  forgotten(network: VirtualNetwork, slot: number): boolean;
}

/** Who has been told what, and who is told next. What is true is decided by `Knowledge`. */
export class Audience {
  readonly networks = new Map<number, VirtualNetwork>();
  readonly #events: AudienceEvents;
  readonly #uptime: () => number;
  readonly #knowledge: Knowledge;
  /** slot -> place in the changes of its virtual network */
  #place = new Int32Array(64).fill(-1);
  /** slot -> how many participants were told the route. While that is not 0 the slot is not given to another route. */
  #toldBy = new Int32Array(64);

  constructor({ events, uptime, knowledge }: { events: AudienceEvents; uptime: () => number; knowledge: Knowledge }) {
    this.#events = events;
    this.#uptime = uptime;
    this.#knowledge = knowledge;
  }

  network(vni: number): VirtualNetwork {
    const known = this.networks.get(vni);
    if (known !== undefined) return known;
    const network = new VirtualNetwork(vni);
    this.networks.set(vni, network);
    return network;
  }

  /** A network without routes and without anybody who asked for it is dropped, with the stakes of those who hear all. */
  dropIfUnused(network: VirtualNetwork): void {
    if (network.listed > 0 || network.askedFor > 0 || this.networks.get(network.vni) !== network) return;
    for (const hearer of network.subscribers) {
      this.park(hearer);
      hearer.participant.stakes.delete(network.vni);
    }
    this.networks.delete(network.vni);
  }

  makeRoom(slot: number): void {
    if (slot < this.#place.length) return;
    this.#place = grown(this.#place, slot * 2, -1);
    this.#toldBy = grown(this.#toldBy, slot * 2);
  }

  isKnown(slot: number): boolean {
    return at(this.#toldBy, slot) > 0;
  }

  /** The route's state may be news for somebody. */
  changed(network: VirtualNetwork, slot: number): void {
    this.#place[slot] = network.changed(slot, at(this.#place, slot));
    for (const stake of network.idle) {
      network.idle.delete(stake);
      this.#await(stake);
    }
    this.#compactIfWorthIt(network);
  }

  /** The slot is going to be used for another route. */
  release(network: VirtualNetwork, slot: number): void {
    network.clear(at(this.#place, slot));
    this.#place[slot] = -1;
  }

  listen(stake: Stake): void {
    stake.subscribed = true;
    stake.network.subscribers.add(stake);
    if (!stake.participant.hearsAll) this.#countInterest(stake, 1);
    if (stake.participant.attached) this.startOver(stake);
  }

  stopListening(stake: Stake): void {
    this.park(stake);
    this.#forgetTold(stake);
    stake.subscribed = false;
    stake.network.subscribers.delete(stake);
    if (!stake.participant.hearsAll) this.#countInterest(stake, -1);
  }

  #countInterest({ network, participant }: Stake, difference: 1 | -1): void {
    network.askedFor += difference;
    if (participant.role === 'server') return;
    network.interested += difference;
    // Between none and one, whichever way it went.
    if (network.interested === (difference + 1) / 2) this.#events.interest(network.vni, difference === 1);
  }

  /** It is told from the first route on, unless it is muted. */
  startOver(stake: Stake): void {
    stake.cursor = 0;
    if (stake.participant.muted.has(stake.network.vni)) return;
    if (stake.network.length > 0) this.#await(stake);
    else stake.network.idle.add(stake);
  }

  /** It is told nothing more for the time being. */
  park(stake: Stake): void {
    stake.network.idle.delete(stake);
    if (stake.participant.pending.delete(stake)) this.#settle(stake.network);
  }

  /** The other side drops what it was told about a virtual network: it has to be told again, but not now. */
  mute(stake: Stake): void {
    this.park(stake);
    this.#forgetTold(stake);
  }

  /** The other side knows nothing any more. */
  forgetAll(participant: Participant, networkOf: (slot: number) => VirtualNetwork): void {
    for (const slot of participant.told()) this.#untell(participant, slot, networkOf(slot));
    for (const stake of participant.stakes.values()) stake.toldCount = 0;
  }

  /** Tells the participant what has changed, until the sink refuses or nothing is left. Returns whether something is left. */
  drain(participant: Participant, sink: Sink): boolean {
    for (const stake of participant.pending) {
      const end = this.#tell(stake, sink);
      if (end === 'refused') return true;
      participant.pending.delete(stake);
      // Others get their turn before a virtual network that never stops changing.
      if (end === 'turn over') participant.pending.add(stake);
      else this.#rest(stake);
    }
    return false;
  }

  #tell(stake: Stake, sink: Sink): 'done' | 'refused' | 'turn over' {
    const { network } = stake;
    for (const last = stake.cursor + turn; stake.cursor < network.length; stake.cursor += 1) {
      if (stake.cursor === last) return 'turn over';
      const slot = network.slotAt(stake.cursor);
      if (slot >= 0 && !this.#tellOne(stake, slot, sink)) return 'refused';
      network.passed(stake.cursor + 1);
    }
    return 'done';
  }

  #tellOne(stake: Stake, slot: number, sink: Sink): boolean {
    const { participant, network } = stake;
    const exists = this.#knowledge.reaches(slot, participant);
    if (exists === participant.wasTold(slot)) return true;
    if (!sink(exists, slot)) return false;
    participant.setTold(slot, exists);
    stake.toldCount += exists ? 1 : -1;
    this.#toldBy[slot] = at(this.#toldBy, slot) + (exists ? 1 : -1);
    if (!this.isKnown(slot)) this.#knowledge.forgotten(network, slot);
    return true;
  }

  #await(stake: Stake): void {
    const { participant, network } = stake;
    if (network.pendingCount === 0) network.changingSince = this.#uptime();
    network.pendingCount += 1;
    participant.pending.add(stake);
    this.#events.pending(participant);
  }

  #rest(stake: Stake): void {
    stake.network.idle.add(stake);
    this.#settle(stake.network);
    this.#compactIfWorthIt(stake.network);
    this.dropIfUnused(stake.network);
  }

  #settle(network: VirtualNetwork): void {
    network.pendingCount -= 1;
    if (network.pendingCount === 0) this.#events.settled(this.#uptime() - network.changingSince);
  }

  #forgetTold(stake: Stake): void {
    const { network, participant } = stake;
    for (let place = 0; place < network.length && stake.toldCount > 0; place += 1) {
      const slot = network.slotAt(place);
      if (slot < 0 || !participant.wasTold(slot)) continue;
      stake.toldCount -= 1;
      this.#untell(participant, slot, network);
    }
  }

  #untell(participant: Participant, slot: number, network: VirtualNetwork): void {
    participant.setTold(slot, false);
    this.#toldBy[slot] = at(this.#toldBy, slot) - 1;
    if (!this.isKnown(slot)) this.#knowledge.forgotten(network, slot);
  }

  #compactIfWorthIt(network: VirtualNetwork): void {
    if (!network.wantsCompaction) return;
    network.compact((slot, place) => {
      this.#place[slot] = place;
    });
  }
}

/** How many changes of one virtual network somebody is told before it is another one's turn. */
const turn = 4096;
