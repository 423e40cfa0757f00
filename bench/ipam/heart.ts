/**
 * The heart of address allocation alone, in a process of its own that can collect its garbage: run by `fork`, with `--expose-gc`. Beside
 * it, on the same addresses, the usual way of walking a range from its start until a free address is found.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Address } from '../../src/api/address.ts';
import { Prefix } from '../../src/api/prefix.ts';
import { FreeSpace } from '../../src/ledger/free-space.ts';
import { Pool } from '../../src/ledger/pool.ts';
import type { Row } from '../shared/row.ts';

interface Measured {
  readonly range: string;
  readonly work: string;
  /** Allocations a second. */
  readonly rate: number;
  /** Of structure for each address that is held. */
  readonly bytes?: number;
}

/** `held`: how many addresses of each range are held. */
export async function heart(held: number): Promise<Row> {
  const child = fork(import.meta.filename, [String(held)], { execArgv: ['--expose-gc'] });
  const [measured]: Measured[][] = await once(child, 'message');
  const all = measured ?? [];
  const ours = all.filter(({ work }) => work !== WALK);
  const slowest = Math.min(...ours.map(({ rate }) => rate));
  const most = Math.max(...ours.map(({ bytes = 0 }) => bytes));
  const walk = all.find(({ work }) => work === WALK)?.rate ?? Number.NaN;
  return {
    work: `the heart alone, /8 and /64 with ${held} addresses held and random holes`,
    goal: 'above 1 million allocations a second, memory by what is held',
    measured: `${millions(slowest)} at least, ${(slowest / walk).toFixed(0)} times a walk past ${WALKED} addresses; ${most.toFixed(1)} bytes for each that is held`,
    holds: slowest > 1_000_000 && most < 64,
    notes: ours.map(({ range, work, rate }) => `${range.padEnd(11)} ${work.padEnd(27)} ${millions(rate)}`),
  };
}

const millions = (rate: number): string => `${(rate / 1e6).toFixed(2)} million/s`;
const WALK = 'walking';
const WALKED = 20_000;

if (process.argv[1] === import.meta.filename) {
  const held = Number(process.argv[2]);
  const measured = ['10.0.0.0/8', 'fd00::/64'].flatMap((range) => [inOrder(range, held), ...intoHoles(range, held)]);
  process.send?.([...measured, walking()]);
}

/** The range fills up from its start, as it does in life. */
function inOrder(range: string, held: number): Measured {
  const { pool, space } = fresh(range);
  const before = heap();
  const took = seconds(() => {
    for (let i = 0; i < held; i += 1) take(pool, space);
  });
  return { range, work: 'in order', rate: held / took, bytes: (heap() - before) / held };
}

/** Addresses anywhere in the held part come free, one at a time or many, and are found again. */
function* intoHoles(range: string, held: number): Generator<Measured> {
  const { pool, space, prefix } = fresh(range);
  const taken = Array.from({ length: held }, () => take(pool, space));
  const random = randomBelow(held);
  const free = (i: number): void => {
    const address = taken[i] ?? prefix.first;
    space.giveBack(address);
    pool.becameFree(address);
  };
  const one = seconds(() => {
    for (let i = 0; i < held; i += 1) {
      free(random());
      take(pool, space);
    }
  });
  yield { range, work: 'one hole, giving back and all', rate: held / one };
  const holes = new Set(Array.from({ length: held / 2 }, random));
  for (const i of holes) free(i);
  const many = seconds(() => {
    for (let i = 0; i < holes.size; i += 1) take(pool, space);
  });
  yield { range, work: 'among random holes', rate: holes.size / many };
}

/** What a walk costs when so many are held; each allocation looks at every held address before it finds a free one. */
function walking(): Measured {
  const taken = new Set<bigint>();
  const start = new Prefix(new Address(4, 0n, 10 * 2 ** 24), 8).first.value;
  const walk = (): bigint => {
    let value = start;
    while ((value & 255n) === 0n || taken.has(value)) value += 1n;
    return value;
  };
  for (let value = start; taken.size < WALKED; value += 1n) taken.add(value);
  const rounds = 50;
  const took = seconds(() => {
    for (let i = 0; i < rounds; i += 1) taken.add(walk());
  });
  return { range: '10.0.0.0/8', work: WALK, rate: rounds / took };
}

function take(pool: Pool, space: FreeSpace): Address {
  const address = pool.lowestFree(space);
  if (address === undefined) throw new Error('the pool is full');
  space.take(address);
  return address;
}

function fresh(text: string): { pool: Pool; space: FreeSpace; prefix: Prefix } {
  const prefix = Prefix.parse(text);
  if (prefix === undefined) throw new Error(`${text} is no prefix`);
  const { family, first, last } = prefix;
  return {
    prefix,
    space: new FreeSpace(family),
    pool: new Pool({ family, ranges: [{ first, last }], excluded: [] }),
  };
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
