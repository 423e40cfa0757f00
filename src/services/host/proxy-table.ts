import type { Backend } from './backends.ts';
import {
  backendKey,
  backendsOf,
  begin,
  digit,
  drawOf,
  keyOf,
  type ProxyHost,
  TABLE,
  verdictKey,
  verdictsOf,
} from './proxy-words.ts';
import { type Choice, type Entry, type Family, NO_RULES, type ServiceRules } from './service-rules.ts';
import { Slots } from './slots.ts';

/** What the kernel must be told, and what follows from it. */
export interface ProxyChange {
  readonly script: string;
  /** Of UDP, whose clients would not notice by themselves. */
  readonly gone: readonly Gone[];
  /** Entries that lead somewhere else than before. */
  readonly opened: readonly Entry[];
  /** Services that have claimed what is free now: they are to be changed once more. */
  readonly freed: readonly string[];
}

/** Where an entry led, and leads no more. */
export interface Gone {
  readonly entry: Entry;
  readonly backend: Backend;
}

/**
 * Knows what the kernel has been told of all Services, and says what to tell it next. An entry has its backends under the numbers
 * from 0 up, all entries in the same few maps; a packet draws a number below their count, in a chain that all entries with
 * as many backends share. So a change of one endpoint is the same few operations, however many endpoints and Services there
 * are, and so is one more Service: nft has to know all maps and chains before it changes anything, and these stay few.
 */
export class ProxyTable {
  readonly #host: ProxyHost;
  /** Service → what the kernel has of it. */
  readonly #services = new Map<string, ServiceRules>();
  /** Only the elder Service has an entry, when two claim the same. */
  readonly #entries = new Map<string, KnownEntry>();
  /** Entry → Services that claim it beside the one that has it. */
  readonly #claims = new Map<string, Set<string>>();
  /** Chain → how many entries lead to it. */
  readonly #chains = new Map<string, number>();
  /** Address of a backend on this host → how many entries have it. */
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
    const work: Work = { lines: [], gone: [], opened: [], freed: [], left: new Set() };
    const before = this.#services.get(service) ?? NO_RULES;
    const wanted = new Map(rules.entries.map((entry) => [keyOf(entry), entry]));
    for (const entry of before.entries) if (!wanted.has(keyOf(entry))) this.#close(service, entry, work);
    for (const entry of wanted.values()) this.#set(service, entry, rules, work);
    for (const chain of work.left) work.lines.push(`delete chain inet ${TABLE} ${chain}`);
    if (rules.entries.length === 0) this.#services.delete(service);
    else this.#services.set(service, rules);
    const { lines, gone, opened, freed } = work;
    return { script: lines.map((line) => `${line}\n`).join(''), gone, opened, freed };
  }

  #set(service: string, entry: Entry, { since, choices }: ServiceRules, work: Work): void {
    const key = keyOf(entry);
    const holder = this.#entries.get(key);
    if (holder !== undefined && isElder({ service, since }, holder)) {
      this.#empty(entry, holder, work);
      this.#claim(key, holder.service);
      this.#claims.get(key)?.delete(service);
    }
    const known = this.#entries.get(key) ?? {
      ...{ service, since, isLocal: false, isRefused: false, chain: undefined, sources: [] },
      all: new Slots<Backend>(nameOf),
      local: new Slots<Backend>(nameOf),
    };
    if (known.service !== service) {
      this.#claim(key, service);
      return;
    }
    const all = choices.get(entry.choice) ?? NOBODY;
    const local = entry.localChoice === undefined ? undefined : choices.get(entry.localChoice);
    const isLocal = local !== undefined;
    if (!this.#entries.has(key) || known.isLocal !== isLocal) work.opened.push(entry);
    this.#entries.set(key, known);
    known.isLocal = isLocal;
    // Another one may have got its name meanwhile.
    known.since = since;
    this.#fill(entry, 'all', known.all, all.backends, work);
    this.#fill(entry, 'local', known.local, local?.backends ?? [], work);
    const draw = drawOf(this.#host, entry, all, local);
    if (draw?.chain !== known.chain) {
      this.#leave(entry, known, work);
      if (draw !== undefined) {
        this.#enter(draw.chain, draw.rules, work);
        const element = `${verdictKey(entry)} : goto ${draw.chain}`;
        work.lines.push(`add element inet ${TABLE} ${verdictsOf(entry)} { ${element} }`);
        known.chain = draw.chain;
      }
    }
    this.#refuse(entry, known, draw === undefined, work);
    this.#guard(entry, known, entry.sources ?? [], work);
  }

  #close(service: string, entry: Entry, work: Work): void {
    const key = keyOf(entry);
    const known = this.#entries.get(key);
    if (known === undefined || known.service !== service) {
      this.#claims.get(key)?.delete(service);
      return;
    }
    this.#empty(entry, known, work);
    work.freed.push(...(this.#claims.get(key) ?? []));
    this.#claims.delete(key);
  }

  /** Of the entry the kernel has nothing any more. */
  #empty(entry: Entry, known: KnownEntry, work: Work): void {
    this.#entries.delete(keyOf(entry));
    this.#leave(entry, known, work);
    this.#fill(entry, 'all', known.all, [], work);
    this.#fill(entry, 'local', known.local, [], work);
    this.#refuse(entry, known, false, work);
    this.#guard(entry, known, [], work);
  }

  #claim(key: string, service: string): void {
    this.#claims.set(key, (this.#claims.get(key) ?? new Set()).add(service));
  }

  #fill(entry: Entry, whose: 'all' | 'local', slots: Slots<Backend>, wanted: readonly Backend[], work: Work): void {
    const map = backendsOf(entry, whose);
    const place = backendKey(entry);
    const { coming, going, cleared, filled } = slots.become(wanted);
    if (cleared.length > 0) {
      const keys = cleared.map((slot) => `${place} . ${slot}`);
      work.lines.push(`delete element inet ${TABLE} ${map} { ${keys.join(', ')} }`);
    }
    if (filled.length > 0) {
      const elements = filled.map(([slot, { address, port }]) => `${place} . ${slot} : ${address} . ${port}`);
      work.lines.push(`add element inet ${TABLE} ${map} { ${elements.join(', ')} }`);
    }
    for (const backend of going) this.#unpin(entry.family, backend, work);
    for (const backend of coming) this.#pin(entry.family, backend, work);
    if (entry.protocol === 'udp') work.gone.push(...going.map((backend) => ({ entry, backend })));
  }

  #enter(chain: string, rules: readonly string[], { lines, left }: Work): void {
    const count = this.#chains.get(chain) ?? 0;
    this.#chains.set(chain, count + 1);
    // Left a moment ago, it is still there.
    if (left.delete(chain) || count > 0) return;
    lines.push(`add chain inet ${TABLE} ${chain}`);
    for (const rule of rules) lines.push(`add rule inet ${TABLE} ${chain} ${rule}`);
  }

  #leave(entry: Entry, known: KnownEntry, { lines, left }: Work): void {
    const { chain } = known;
    if (chain === undefined) return;
    lines.push(`delete element inet ${TABLE} ${verdictsOf(entry)} { ${verdictKey(entry)} }`);
    known.chain = undefined;
    const count = (this.#chains.get(chain) ?? 1) - 1;
    if (count > 0) this.#chains.set(chain, count);
    else {
      this.#chains.delete(chain);
      left.add(chain);
    }
  }

  /** A pod that reaches itself through a Service must see somebody else's address. */
  #pin(family: Family, { address, isLocal }: Backend, { lines }: Work): void {
    if (!isLocal) return;
    const count = this.#hairpins.get(address) ?? 0;
    this.#hairpins.set(address, count + 1);
    if (count === 0) lines.push(`add element inet ${TABLE} hairpin${digit(family)} { ${address} . ${address} }`);
  }

  #unpin(family: Family, { address, isLocal }: Backend, { lines }: Work): void {
    if (!isLocal) return;
    const count = (this.#hairpins.get(address) ?? 1) - 1;
    if (count > 0) {
      this.#hairpins.set(address, count);
      return;
    }
    this.#hairpins.delete(address);
    lines.push(`delete element inet ${TABLE} hairpin${digit(family)} { ${address} . ${address} }`);
  }

  /** What leads nowhere is answered with a refusal instead of silence. */
  #refuse(entry: Entry, known: KnownEntry, isRefused: boolean, { lines }: Work): void {
    if (known.isRefused === isRefused) return;
    known.isRefused = isRefused;
    const set = `refused${entry.kind === 'node-port' ? 'ports' : ''}${digit(entry.family)}`;
    lines.push(`${isRefused ? 'add' : 'delete'} element inet ${TABLE} ${set} { ${verdictKey(entry)} }`);
  }

  /** An entry that is for some is closed to all before anybody is let in. */
  #guard(entry: Entry, known: KnownEntry, sources: readonly string[], { lines }: Work): void {
    const change = (verb: 'add' | 'delete', set: string, keys: readonly string[]): void => {
      if (keys.length === 0) return;
      lines.push(`${verb} element inet ${TABLE} ${set}${digit(entry.family)} { ${keys.join(', ')} }`);
    };
    const key = verdictKey(entry);
    const from = (networks: readonly string[]): string[] => networks.map((network) => `${key} . ${network}`);
    const before = known.sources;
    known.sources = sources;
    if (before.length === 0 && sources.length > 0) change('add', 'guarded', [key]);
    change('delete', 'admitted', from(before.filter((network) => !sources.includes(network))));
    change('add', 'admitted', from(sources.filter((network) => !before.includes(network))));
    if (before.length > 0 && sources.length === 0) change('delete', 'guarded', [key]);
  }
}

/** Who wants an entry, and since when. */
interface Claim {
  readonly service: string;
  since: string;
}

const isElder = (a: Claim, b: Claim): boolean => a.since < b.since || (a.since === b.since && a.service < b.service);

/** What the kernel has of an entry. */
interface KnownEntry extends Claim {
  readonly all: Slots<Backend>;
  readonly local: Slots<Backend>;
  isLocal: boolean;
  isRefused: boolean;
  chain: string | undefined;
  sources: readonly string[];
}

/** What comes of a change while it is being made. */
interface Work {
  readonly lines: string[];
  readonly gone: Gone[];
  readonly opened: Entry[];
  readonly freed: string[];
  /** Chains that the last entry has left: they go at the end. */
  readonly left: Set<string>;
}

const NOBODY: Choice = { family: 'IPv4', protocol: 'tcp', backends: [], byClient: false };

const nameOf = ({ address, port, isLocal }: Backend): string => `${address} ${port} ${isLocal}`;
