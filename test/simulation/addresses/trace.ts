import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import { AddressBlock } from '../../../src/api/netloom.io/address-block.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import { at } from '../selectors.ts';
import type { StoredChange } from '../store.ts';
import { metadataOf, resourceOf } from '../writes.ts';

/** What happened, in order: what people and trouble did, and every object that was written. Made into words only when asked for. */
export class Trace {
  readonly #clock: Clock;
  readonly #entries: Entry[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(who: string, text: string): void {
    this.#entries.push({ at: this.#clock.uptime(), who, what: text });
  }

  wrote(change: StoredChange): void {
    this.#entries.push({ at: this.#clock.uptime(), who: change.by, what: change });
  }

  get lines(): string[] {
    return this.#entries.map(({ at, who, what }) => {
      const text = typeof what === 'string' ? what : `writes ${textOf(what)}`;
      return `${(at / 1000).toFixed(3).padStart(9)} ${who.padEnd(9)} ${text}`;
    });
  }

  /** The same for runs that were the same to the last byte written. */
  get fingerprint(): string {
    const hash = createHash('sha256');
    for (const { at, who, what } of this.#entries) {
      hash.update(`${at} ${who} `).update(typeof what === 'string' ? what : JSON.stringify(what.after));
    }
    return hash.digest('hex');
  }
}

interface Entry {
  readonly at: number;
  readonly who: string;
  readonly what: string | StoredChange;
}

function textOf({ resource, key, before, after, deleted, version }: StoredChange): string {
  const [plural] = resource.split('.');
  const name = `${plural} ${key} @${version}`;
  if (deleted) return `${name}: gone`;
  const parts = before === undefined ? [`created ${metadataOf(after)['uid']}`] : [];
  if (resource === resourceOf(AddressBlock)) parts.push(...holdingsText(before, after));
  for (const path of TOLD) {
    const [was, is] = [compact(at(before ?? {}, path)), compact(at(after, path))];
    if (was !== is) parts.push(`${path.at(-1)} ${is}`);
  }
  return `${name}: ${parts.join('; ')}`;
}

function holdingsText(before: JsonObject | undefined, after: JsonObject): string[] {
  const [was, is] = [holdingsOf(before), holdingsOf(after)];
  const gone = [...was].filter(([address, text]) => is.get(address) !== text).map(([, text]) => `-${text}`);
  const come = [...is].filter(([address, text]) => was.get(address) !== text).map(([, text]) => `+${text}`);
  return [...gone, ...come];
}

function holdingsOf(block: JsonObject | undefined): Map<string, string> {
  const holdings = at(block ?? {}, ['spec', 'holdings']);
  if (!Array.isArray(holdings)) return new Map();
  return new Map(
    holdings.filter(isJsonObject).map(({ address, holder, since, sharers, coolsUntil }) => {
      const users = Array.isArray(sharers) ? sharers : [holder ?? null];
      const names = users
        .filter(isJsonObject)
        .map(({ kind, name, uid }) => `${kind} ${name} ${String(uid).slice(0, 8)}`);
      const cools = coolsUntil === undefined ? '' : ` cools until ${coolsUntil}`;
      return [String(address), `${address} ${names.join(' and ')} since ${since}${cools}`];
    }),
  );
}

/** What is worth telling of any object. */
const TOLD = [
  ['metadata', 'deletionTimestamp'],
  ['metadata', 'finalizers'],
  ['metadata', 'annotations'],
  ['spec', 'networks'],
  ['spec', 'reservation'],
  ['spec', 'addresses'],
  ['spec', 'ports'],
  ['spec', 'address'],
  ['status', 'observedGeneration'],
  ['status', 'reservation'],
  ['status', 'address'],
  ['status', 'loadBalancer'],
  ['status', 'usage'],
  ['status', 'conditions'],
  ['status', 'subnets'],
  ['message'],
];

const compact = (value: Json | undefined): string | undefined =>
  value === undefined ? undefined : JSON.stringify(value).replaceAll('"', '');
