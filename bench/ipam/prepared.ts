import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Address } from '../../src/api/address.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/api/json.ts';
import { AddressBlock, blockName, blockPrefix } from '../../src/api/netloom.io/address-block.ts';
import { IPSet } from '../../src/api/network.openstack.org/ipset.ts';
import { Reservation } from '../../src/api/network.openstack.org/reservation.ts';
import { Store } from '../../src/engine/store/store.ts';
import { Load } from '../shared/load.ts';
import { Netloom } from '../shared/netloom.ts';
import { Sightings } from '../shared/watch.ts';
import { createIPSet, createNetConfig, IPSETS, isReady, NETWORKS } from './world.ts';

/**
 * Fills the data directory of a Netloom that does not run with `count` IPSets that are Ready. The first is made the real way; the
 * others are copies of what that left behind, with names, UIDs and addresses of their own.
 */
export async function prepare(directory: string, count: number): Promise<void> {
  await makeOne(directory);
  const store = await Store.open({ directory: join(directory, 'store'), holder: 'bench', log: console.error });
  try {
    const models = new Models(store);
    const blocks = new Map<string, { prefix: string; holdings: JsonObject[] }>();
    for (let from = 1; from < count; from += 1000) {
      const numbers = Array.from({ length: Math.min(1000, count - from) }, (_, i) => from + i);
      await Promise.all(numbers.flatMap((number) => models.copy(number, blocks)));
    }
    await Promise.all([...blocks].map(([name, block]) => models.fill(name, block)));
  } finally {
    await store.close();
  }
}

async function makeOne(directory: string): Promise<void> {
  const netloom = await Netloom.serve('up', directory);
  const load = await Load.open(netloom.kubeconfig, 1);
  await createNetConfig(load);
  const ready = await Sightings.open(netloom.kubeconfig, IPSETS, isReady);
  await createIPSet(load, nameOf(0));
  await ready.of(nameOf(0));
  ready.close();
  load.close();
  await netloom.stop();
}

const nameOf = (number: number): string => `host-${number}`;

/** The nth address that is given on a network: none that ends in 0. */
function addressOf(network: number, number: number): Address {
  const start = ((10 << 24) | (network << 18)) >>> 0;
  return new Address(4, 0n, start + Math.floor(number / 255) * 256 + 1 + (number % 255));
}

class Models {
  readonly #store: Store;
  readonly #ipSet: string;
  readonly #reservation: string;
  readonly #blocks: readonly JsonObject[];
  readonly #uid: string;
  readonly #reservationUid: string;

  constructor(store: Store) {
    this.#store = store;
    this.#ipSet = this.#text(idOf(IPSet), nameOf(0));
    this.#reservation = this.#text(idOf(Reservation), nameOf(0));
    this.#blocks = NETWORKS.map((_, i) =>
      JSON.parse(this.#text(idOf(AddressBlock), blockName('underlay', blockPrefix(addressOf(i, 0))))),
    );
    this.#uid = uidOf(this.#ipSet);
    this.#reservationUid = uidOf(this.#reservation);
  }

  copy(number: number, blocks: Map<string, { prefix: string; holdings: JsonObject[] }>): Promise<unknown>[] {
    const uid = randomUUID();
    const own = (text: string): JsonObject => {
      let copied = text.replaceAll(this.#uid, uid).replaceAll(this.#reservationUid, randomUUID());
      copied = copied.replaceAll(`"${nameOf(0)}"`, `"${nameOf(number)}"`);
      for (const i of NETWORKS.keys()) {
        const before = new RegExp(`\\b${addressOf(i, 0)}\\b`.replaceAll('.', '\\.'), 'g');
        copied = copied.replaceAll(before, `${addressOf(i, number)}`);
      }
      return JSON.parse(copied);
    };
    for (const [i, model] of this.#blocks.entries()) {
      const address = addressOf(i, number);
      const prefix = blockPrefix(address);
      const name = blockName('underlay', prefix);
      const block = blocks.get(name) ?? { prefix: `${prefix}`, holdings: [] };
      blocks.set(name, block);
      const [first] = holdingsOf(model);
      const holder = { ...(first?.['holder'] as JsonObject), name: nameOf(number), uid };
      block.holdings.push({ ...first, address: `${address}`, holder });
    }
    return [
      this.#put(idOf(IPSet), nameOf(number), own(this.#ipSet)),
      this.#put(idOf(Reservation), nameOf(number), own(this.#reservation)),
    ];
  }

  async fill(name: string, { prefix, holdings }: { prefix: string; holdings: JsonObject[] }): Promise<void> {
    const id = idOf(AddressBlock);
    const known = this.#blocks.find((block) => metadataOf(block)['name'] === name);
    const [model] = this.#blocks;
    const metadata = known === undefined ? { ...metadataOf(model), name, uid: randomUUID() } : metadataOf(known);
    const there = known === undefined ? [] : holdingsOf(known);
    const spec = { space: 'underlay', prefix, holdings: [...there, ...holdings] };
    await this.#put(id, name, { ...model, metadata, spec });
  }

  #text(resource: string, name: string): string {
    const version = this.#store.get(resource, 'default', name);
    if (version === undefined) throw new Error(`${resource}/${name} is not in the store`);
    return version.bytes.toString();
  }

  #put(resource: string, name: string, object: JsonObject): Promise<unknown> {
    const expected = this.#store.newest(resource, 'default', name)?.revision ?? 0;
    const encode = (revision: number) => {
      const metadata = { ...metadataOf(object), resourceVersion: String(revision) };
      return Buffer.from(JSON.stringify({ ...object, metadata }));
    };
    return this.#store.put({ resource, namespace: 'default', name, expected, encode });
  }
}

const idOf = ({ plural, group }: { plural: string; group: string }): string => `${plural}.${group}`;

const uidOf = (text: string): string => String(metadataOf(JSON.parse(text))['uid']);

const partOf = (object: Json | undefined, field: string): JsonObject => {
  const part = isJsonObject(object) ? object[field] : undefined;
  if (!isJsonObject(part)) throw new Error(`there is no ${field}`);
  return part;
};
const metadataOf = (object: Json | undefined): JsonObject => partOf(object, 'metadata');

function holdingsOf(block: JsonObject): JsonObject[] {
  const { holdings } = partOf(block, 'spec');
  return Array.isArray(holdings) ? holdings.filter(isJsonObject) : [];
}
