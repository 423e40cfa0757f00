import type { Environment } from '@marcbachmann/cel-js';
import { type Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { compareValues, durationOf, equalValues, nanosOf } from '../equality.ts';
import { meter } from '../meter.ts';
import { definer, namespace } from './define.ts';

const MAX_INT = 2n ** 63n - 1n;
const COMPARABLE = [
  'int',
  'uint',
  'double',
  'bool',
  'google.protobuf.Duration',
  'google.protobuf.Timestamp',
  'string',
  'bytes',
];

/** What Kubernetes adds to lists, and the sets of the CEL extensions. */
export function registerLists(env: Environment): void {
  const define = definer(env);
  for (const type of COMPARABLE) {
    define(`list<${type}>.isSorted(): bool`, isSorted);
    define(`list<${type}>.min(): ${type}`, (list: unknown[]) => extreme('min', list, 1));
    define(`list<${type}>.max(): ${type}`, (list: unknown[]) => extreme('max', list, -1));
  }
  define('list<int>.sum(): int', (list: bigint[]) => sumOfInts(list));
  define('list<uint>.sum(): uint', (list: UnsignedInt[]) =>
    list.reduce((sum, each) => new UnsignedInt(sum.valueOf() + each.valueOf()), new UnsignedInt(0n)),
  );
  define('list<double>.sum(): double', (list: number[]) => list.reduce((sum, each) => sum + each, 0));
  define('list<google.protobuf.Duration>.sum(): google.protobuf.Duration', (list: Duration[]) =>
    durationOf(list.reduce((sum, each) => sum + nanosOf(each), 0n)),
  );
  define('list<A>.indexOf(A): int', (list: unknown[], item: unknown) =>
    BigInt(list.findIndex((each) => equalValues(each, item))),
  );
  define('list<A>.lastIndexOf(A): int', (list: unknown[], item: unknown) =>
    BigInt(list.findLastIndex((each) => equalValues(each, item))),
  );

  const sets = namespace(env, 'sets');
  define(`${sets}.contains(list<T>, list<T>): bool`, (_: unknown, list: unknown[], part: unknown[]) =>
    contains(list, part),
  );
  define(
    `${sets}.equivalent(list<T>, list<T>): bool`,
    (_: unknown, a: unknown[], b: unknown[]) => contains(a, b) && contains(b, a),
  );
  define(`${sets}.intersects(list<T>, list<T>): bool`, (_: unknown, a: unknown[], b: unknown[]) =>
    a.some((item) => includes(b, item)),
  );
}

const includes = (list: readonly unknown[], item: unknown): boolean => list.some((each) => equalValues(each, item));
const contains = (list: readonly unknown[], part: readonly unknown[]): boolean =>
  part.every((item) => includes(list, item));

const isSorted = (list: readonly unknown[]): boolean =>
  list.every((item, i) => i === 0 || compareValues(list[i - 1], item) <= 0);

function extreme(name: string, list: readonly unknown[], worse: number): unknown {
  if (list.length === 0) throw new Error(`${name} called on empty list`);
  return list.reduce((best, item) => (Math.sign(compareValues(best, item)) === worse ? item : best));
}

function sumOfInts(list: readonly bigint[]): bigint {
  meter.charge(list.length);
  const sum = list.reduce((total, each) => total + each, 0n);
  if (sum > MAX_INT || sum < -MAX_INT - 1n) throw new Error('integer overflow');
  return sum;
}
