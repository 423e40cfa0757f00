import type { DNSData, DNSHost } from '../api/network.openstack.org/dnsdata.ts';
import { fingerprint } from './fingerprint.ts';
import { hostsFile, textOfLine } from './hosts-file.ts';
import { shards } from './shards.ts';
import { spread } from './spread.ts';

/** What a DNSData becomes. */
export interface Made {
  /** For one ConfigMap each; at least one. */
  readonly parts: readonly Part[];
  /** What is left out for not being an address or a name. */
  readonly faults: readonly string[];
}

export interface Part {
  readonly text: string;
  readonly hash: string;
}

/** Makes text for ConfigMaps out of hosts, and of what has not changed since the last time nothing anew. */
export class DNSDataParts {
  readonly #made = new Map<string, { entries: readonly Entry[]; made: Made }>();

  of({ metadata, spec }: DNSData): Made {
    const known = this.#made.get(metadata.uid);
    const hosts = spec.hosts ?? [];
    const entries = hosts.map((host, i) => {
      const before = known?.entries[i];
      return before !== undefined && isSame(before.host, host) ? before : entryOf(host, i);
    });
    const isUnchanged =
      entries.length === known?.entries.length && entries.every((each, i) => each === known.entries[i]);
    const made = known !== undefined && isUnchanged ? known.made : make(entries, known?.made);
    this.#made.set(metadata.uid, { entries, made });
    return made;
  }

  forget({ metadata }: DNSData): void {
    this.#made.delete(metadata.uid);
  }
}

interface Entry {
  readonly host: DNSHost;
  readonly text: string;
  /** Decides in which part it is. A host that gets another address stays in its own. */
  readonly place: number;
  readonly faults: readonly string[];
}

function entryOf(host: DNSHost, index: number): Entry {
  const { lines, faults } = hostsFile([host], index);
  const [line] = lines;
  if (line === undefined) return { host, text: '', place: 0, faults };
  return { host, text: textOfLine(line), place: spread(line.names[0] ?? '', 2 ** 32), faults };
}

function make(entries: readonly Entry[], before: Made | undefined): Made {
  const served = entries.filter(({ text }) => text !== '');
  const limit = LARGEST_CONFIG_MAP;
  const cut = shards(served, { placeOf: ({ place }) => place, sizeOf: ({ text }) => text.length, limit });
  const parts = cut.map((part, i) => {
    const text = part.map((each) => each.text).join('');
    const known = before?.parts[i];
    return known?.text === text ? known : { text, hash: fingerprint(text) };
  });
  return { parts, faults: entries.flatMap(({ faults }) => faults) };
}

/** A ConfigMap may have 1 MiB. But who changes one record sends, stores and reads the whole of the one that it is in. */
const LARGEST_CONFIG_MAP = 64 * 1024;

const isSame = (a: DNSHost, b: DNSHost): boolean =>
  a.ip === b.ip && a.hostnames.length === b.hostnames.length && a.hostnames.every((name, i) => name === b.hostnames[i]);
