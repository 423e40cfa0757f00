import type { Backend } from './backends.ts';
import {
  begin,
  choiceType,
  digit,
  doorOf,
  doorRules,
  drawing,
  keyOf,
  mapOf,
  openingOf,
  type ProxyHost,
  TABLE,
} from './proxy-words.ts';
import { type Choice, type Entry, NO_RULES, type ServiceRules } from './service-rules.ts';
import { Slots } from './slots.ts';

/** What the kernel must be told, and what of old connections is stale then. */
export interface ProxyChange {
  readonly script: string;
  /** Of UDP, whose clients would not notice by themselves. */
  readonly gone: readonly Backend[];
  /** Entries that lead somewhere else than before. */
  readonly opened: readonly Entry[];
}

/**
 * Knows what the kernel has been told of all Services, and says what to tell it next. A choice is a map from numbers to
 * backends; a packet draws a number below their count. So a change of one endpoint is the same few operations, however many
 * endpoints and Services there are.
 */
export class ProxyTable {
  readonly #host: ProxyHost;
  /** Service → what the kernel has of it. */
  readonly #services = new Map<string, ServiceRules>();
  readonly #choices = new Map<string, KnownChoice>();
  /** Entry → the Service that has it: the first one, when two claim the same. */
  readonly #holders = new Map<string, string>();
  /** Entries that lead nowhere: answered with a refusal instead of silence. */
  readonly #refused = new Set<string>();
  /** Address of a backend on this host → how many choices have it. */
  readonly #hairpins = new Map<string, number>();

  constructor(host: ProxyHost) {
    this.#host = host;
  }

  /** Replaces whatever is there with an empty table, in one step: `change` goes on from there. */
  begin(): string {
    return begin(this.#host);
  }

  get services(): string[] {
    return [...this.#services.keys()];
  }

  change(service: string, rules: ServiceRules): ProxyChange {
    const before = this.#services.get(service) ?? NO_RULES;
    const lines: string[] = [];
    const gone: Backend[] = [];
    const opened: Entry[] = [];
    // Entries lead to choices: these come before them, and go after them.
    for (const [name, choice] of rules.choices) {
      const going = this.#choose(name, choice, lines);
      if (choice.protocol === 'udp') gone.push(...going);
    }
    const wanted = new Map(rules.entries.map((entry) => [keyOf(entry), entry]));
    for (const entry of before.entries) {
      const now = wanted.get(keyOf(entry));
      if (now === undefined || openingOf(now) !== openingOf(entry)) this.#close(service, entry, lines);
    }
    for (const entry of wanted.values()) if (this.#open(service, entry, lines)) opened.push(entry);
    for (const entry of wanted.values()) {
      if (this.#holders.get(keyOf(entry)) === service) this.#refuse(entry, leadsNowhere(entry, rules), lines);
    }
    for (const [name, choice] of before.choices) {
      if (rules.choices.has(name)) continue;
      const going = this.#drop(name, choice, lines);
      if (choice.protocol === 'udp') gone.push(...going);
    }
    if (rules.entries.length === 0) this.#services.delete(service);
    else this.#services.set(service, rules);
    return { script: lines.map((line) => `${line}\n`).join(''), gone, opened };
  }

  #choose(name: string, choice: Choice, lines: string[]): readonly Backend[] {
    const known = this.#choices.get(name) ?? { slots: new Slots<Backend>(nameOf), drawing: '' };
    if (!this.#choices.has(name)) {
      this.#choices.set(name, known);
      lines.push(`add map inet ${TABLE} ${name} { ${choiceType(choice)}; }`);
      lines.push(`add chain inet ${TABLE} ${name}`);
    }
    const { coming, going, cleared, filled } = known.slots.become(choice.backends);
    if (cleared.length > 0) lines.push(`delete element inet ${TABLE} ${name} { ${cleared.join(', ')} }`);
    if (filled.length > 0) {
      const elements = filled.map(([slot, { address, port }]) => `${slot} : ${address} . ${port}`);
      lines.push(`add element inet ${TABLE} ${name} { ${elements.join(', ')} }`);
    }
    const rule = drawing(name, choice);
    if (rule !== known.drawing) {
      lines.push(`flush chain inet ${TABLE} ${name}`);
      if (rule !== '') lines.push(`add rule inet ${TABLE} ${name} ${rule}`);
      known.drawing = rule;
    }
    for (const backend of going) this.#unpin(choice, backend, lines);
    for (const backend of coming) this.#pin(choice, backend, lines);
    return going;
  }

  #drop(name: string, choice: Choice, lines: string[]): readonly Backend[] {
    const backends = this.#choices.get(name)?.slots.items ?? [];
    this.#choices.delete(name);
    lines.push(`flush chain inet ${TABLE} ${name}`, `delete chain inet ${TABLE} ${name}`);
    lines.push(`delete map inet ${TABLE} ${name}`);
    for (const backend of backends) this.#unpin(choice, backend, lines);
    return backends;
  }

  /** A pod that reaches itself through a Service must see somebody else's address. */
  #pin({ family }: Choice, { address, isLocal }: Backend, lines: string[]): void {
    if (!isLocal) return;
    const count = this.#hairpins.get(address) ?? 0;
    this.#hairpins.set(address, count + 1);
    if (count === 0) lines.push(`add element inet ${TABLE} hairpin${digit(family)} { ${address} . ${address} }`);
  }

  #unpin({ family }: Choice, { address, isLocal }: Backend, lines: string[]): void {
    if (!isLocal) return;
    const count = (this.#hairpins.get(address) ?? 1) - 1;
    if (count > 0) {
      this.#hairpins.set(address, count);
      return;
    }
    this.#hairpins.delete(address);
    lines.push(`delete element inet ${TABLE} hairpin${digit(family)} { ${address} . ${address} }`);
  }

  #open(service: string, entry: Entry, lines: string[]): boolean {
    const key = keyOf(entry);
    if (this.#holders.has(key)) return false;
    this.#holders.set(key, service);
    const door = doorOf(entry);
    if (door !== undefined) {
      lines.push(`add chain inet ${TABLE} ${door}`);
      for (const rule of doorRules(entry)) lines.push(`add rule inet ${TABLE} ${door} ${rule}`);
    }
    lines.push(`add element inet ${TABLE} ${mapOf(entry)} { ${entry.key} : goto ${door ?? entry.choice} }`);
    return true;
  }

  #close(service: string, entry: Entry, lines: string[]): void {
    const key = keyOf(entry);
    if (this.#holders.get(key) !== service) return;
    this.#holders.delete(key);
    this.#refuse(entry, false, lines);
    lines.push(`delete element inet ${TABLE} ${mapOf(entry)} { ${entry.key} }`);
    const door = doorOf(entry);
    if (door !== undefined) lines.push(`flush chain inet ${TABLE} ${door}`, `delete chain inet ${TABLE} ${door}`);
  }

  #refuse(entry: Entry, isRefused: boolean, lines: string[]): void {
    const key = keyOf(entry);
    if (this.#refused.has(key) === isRefused) return;
    const set = `refused${entry.kind === 'node-port' ? 'ports' : ''}${digit(entry.family)}`;
    lines.push(`${isRefused ? 'add' : 'delete'} element inet ${TABLE} ${set} { ${entry.key} }`);
    if (isRefused) this.#refused.add(key);
    else this.#refused.delete(key);
  }
}

interface KnownChoice {
  readonly slots: Slots<Backend>;
  /** The rule that draws one of them. */
  drawing: string;
}

const nameOf = ({ address, port, isLocal }: Backend): string => `${address} ${port} ${isLocal}`;

const leadsNowhere = ({ choice }: Entry, { choices }: ServiceRules): boolean =>
  (choices.get(choice)?.backends.length ?? 0) === 0;
