/**
 * What the heart of address allocation costs, beside the usual way of walking the range from its start until a free address is
 * found, on the same addresses in the same run. Run by `node --expose-gc bench/ledger.ts`.
 */
import { Address, type Family } from '../src/api/address.ts';
import { Prefix } from '../src/api/prefix.ts';
import { FreeSpace } from '../src/ledger/free-space.ts';
import { Pool } from '../src/ledger/pool.ts';

const HELD = 1_000_000;

console.log(`allocations per second with ${HELD.toLocaleString('en')} addresses held`);
for (const text of ['10.0.0.0/8', 'fd00::/64']) {
  inOrder(text);
  intoHoles(text);
}
walking();

/** The range fills up from its start, as it does in life. */
function inOrder(text: string): void {
  const { pool, space, family } = fresh(text);
  const before = heap();
  const took = seconds(() => {
    for (let i = 0; i < HELD; i += 1) take(pool, space);
  });
  const bytes = (heap() - before) / HELD;
  report(text, 'in order', HELD / took, `${bytes.toFixed(1)} bytes of structure for each, IPv${family}`);
}

/** Addresses anywhere in the held part come free, one at a time or many, and are found again. */
function intoHoles(text: string): void {
  const { pool, space, prefix } = fresh(text);
  const held: Address[] = [];
  for (let i = 0; i < HELD; i += 1) held.push(take(pool, space));
  const random = randomBelow(HELD);
  const one = seconds(() => {
    for (let i = 0; i < HELD; i += 1) {
      const address = held[random()] ?? prefix.first;
      space.giveBack(address);
      pool.becameFree(address);
      take(pool, space);
    }
  });
  report(text, 'one random hole at a time', HELD / one, 'giving back included');
  const holes = new Set(Array.from({ length: HELD / 2 }, random));
  for (const i of holes) {
    const address = held[i] ?? prefix.first;
    space.giveBack(address);
    pool.becameFree(address);
  }
  const many = seconds(() => {
    for (let i = 0; i < holes.size; i += 1) take(pool, space);
  });
  report(text, 'among random holes', holes.size / many, `${holes.size.toLocaleString('en')} holes`);
}

/** What a walk costs when so many are held; each allocation looks at every held address before it finds a free one. */
function walking(): void {
  const held = 20_000;
  const taken = new Set<bigint>();
  const start = new Prefix(parsed('10.0.0.0'), 8).first.value;
  const walk = (): bigint => {
    let value = start;
    while ((value & 255n) === 0n || taken.has(value)) value += 1n;
    return value;
  };
  for (let value = start; taken.size < held; value += 1n) taken.add(value);
  const rounds = 50;
  const took = seconds(() => {
    for (let i = 0; i < rounds; i += 1) taken.add(walk());
  });
  report('10.0.0.0/8', `walking past ${held.toLocaleString('en')}`, rounds / took, 'for comparison');
}

function take(pool: Pool, space: FreeSpace): Address {
  const address = pool.lowestFree(space);
  if (address === undefined) throw new Error('the pool is full');
  space.take(address);
  return address;
}

function fresh(text: string): { pool: Pool; space: FreeSpace; prefix: Prefix; family: Family } {
  const prefix = Prefix.parse(text);
  if (prefix === undefined) throw new Error(`${text} is no prefix`);
  const { family, first, last } = prefix;
  return {
    prefix,
    family,
    space: new FreeSpace(family),
    pool: new Pool({ family, ranges: [{ first, last }], excluded: [] }),
  };
}

function parsed(text: string): Address {
  const address = Address.parse(text);
  if (address === undefined) throw new Error(`${text} is no address`);
  return address;
}

/** The same numbers in every run. */
function randomBelow(limit: number): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function seconds(work: () => void): number {
  const began = performance.now();
  work();
  return (performance.now() - began) / 1000;
}

function heap(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function report(range: string, what: string, rate: number, note: string): void {
  console.log(
    `${range.padEnd(11)} ${what.padEnd(26)} ${Math.round(rate).toLocaleString('en').padStart(12)}/s  ${note}`,
  );
}
