import type { Words } from './address.ts';
import { UpdateDecoder } from './codec.ts';
import { at } from './columns.ts';
import type { Traffic } from './counters.ts';
import type { Participant } from './participant.ts';
import { wordOf } from './route.ts';
import type { PeerRules } from './rules.ts';
import type { RouteTable } from './table.ts';

export interface ReceptionOptions {
  readonly table: RouteTable;
  readonly rules: PeerRules;
  readonly traffic: Traffic;
  /** Whether routes of a virtual network have to be ignored for the time being. */
  readonly ignores: (vni: number) => boolean;
}

/** Takes over into the table what a peer says, as far as the rules allow; counts what it leaves out, and why. */
export class Reception {
  readonly #options: ReceptionOptions;
  readonly #decoder = new UpdateDecoder();
  #subscriptions = 0;

  constructor(options: ReceptionOptions) {
    this.#options = options;
  }

  /** False: this was no protobuf. Everything else that is wrong with an UPDATE harms nobody. */
  update(from: Participant, bytes: Uint8Array, start: number, end: number): boolean {
    const decoder = this.#decoder;
    const action = decoder.decode(bytes, start, end);
    if (action === 'add') this.#add(from, decoder.words);
    else if (action === 'remove') this.#remove(from, decoder.words);
    else if (action !== 'garbled') this.#options.traffic.ignored.add(action);
    return action !== 'garbled';
  }

  subscribe(from: Participant, vni: number): void {
    const { table, rules, traffic } = this.#options;
    if (!rules.allowsVni(vni)) traffic.ignored.add('VNI not allowed');
    else if (this.#subscriptions >= rules.maxSubscriptions) traffic.ignored.add('too many subscriptions');
    else if (table.subscribe(from, vni)) this.#subscriptions += 1;
    else traffic.ignored.add('subscribed already');
  }

  /** With its subscription a peer gives up what it has announced in that virtual network. */
  unsubscribe(from: Participant, vni: number): void {
    const { table, traffic } = this.#options;
    if (table.unsubscribe(from, vni)) {
      this.#subscriptions -= 1;
      table.withdrawNetwork(from, vni);
    } else traffic.ignored.add('not subscribed');
  }

  #add(from: Participant, words: Words): void {
    const { table, rules, traffic, ignores } = this.#options;
    traffic.addsReceived += 1;
    const refusal = rules.refuses(words);
    if (refusal !== undefined) traffic.ignored.add(refusal);
    else if (ignores(at(words, wordOf.vni))) traffic.ignored.add('VNI being left');
    else if (from.claimCount >= rules.maxRoutes && !table.says(from, words)) traffic.ignored.add('too many routes');
    else if (table.claim(from, words) === 'known') traffic.ignored.add('route known already');
  }

  #remove(from: Participant, words: Words): void {
    const { table, traffic } = this.#options;
    traffic.removesReceived += 1;
    if (!table.withdraw(from, words)) traffic.ignored.add('unknown route withdrawn');
  }
}
