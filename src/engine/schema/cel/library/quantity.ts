import type { Environment } from '@marcbachmann/cel-js';
import { NANOS_PER_ONE, parseQuantity, QUANTITY_FAULT } from '../../../../api/quantity.ts';
import { definer } from './define.ts';

/** `quantity("500Mi")` and what can be asked of it. */
export function registerQuantity(env: Environment): void {
  env.registerType('kubernetes.Quantity', Quantity);
  const define = definer(env);
  env.registerOperator('kubernetes.Quantity == kubernetes.Quantity', (a: Quantity, b: Quantity) => a.nanos === b.nanos);

  define('quantity(string): kubernetes.Quantity', quantity);
  define('isQuantity(string): bool', (text: string) => parseQuantity(text) !== undefined);
  define('kubernetes.Quantity.sign(): int', (q: Quantity) => compare(q.nanos, 0n));
  define('kubernetes.Quantity.isInteger(): bool', (q: Quantity) => q.isInteger);
  define('kubernetes.Quantity.asInteger(): int', (q: Quantity) => {
    if (!q.isInteger) throw new Error('cannot convert value to integer');
    return q.nanos / NANOS_PER_ONE;
  });
  define('kubernetes.Quantity.asApproximateFloat(): double', (q: Quantity) => Number(q.nanos) / 1e9);
  for (const [name, sign] of [
    ['add', 1n],
    ['sub', -1n],
  ] as const) {
    define(
      `kubernetes.Quantity.${name}(kubernetes.Quantity): kubernetes.Quantity`,
      (a: Quantity, b: Quantity) => new Quantity(a.nanos + sign * b.nanos),
    );
    define(
      `kubernetes.Quantity.${name}(int): kubernetes.Quantity`,
      (a: Quantity, b: bigint) => new Quantity(a.nanos + sign * b * NANOS_PER_ONE),
    );
  }
  define('kubernetes.Quantity.compareTo(kubernetes.Quantity): int', (a: Quantity, b: Quantity) =>
    compare(a.nanos, b.nanos),
  );
  define('kubernetes.Quantity.isLessThan(kubernetes.Quantity): bool', (a: Quantity, b: Quantity) => a.nanos < b.nanos);
  define(
    'kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool',
    (a: Quantity, b: Quantity) => a.nanos > b.nanos,
  );
}

class Quantity {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
  get isInteger(): boolean {
    const value = this.nanos / NANOS_PER_ONE;
    return this.nanos % NANOS_PER_ONE === 0n && BigInt.asIntN(64, value) === value;
  }
  toString(): string {
    return `${this.nanos}n`;
  }
}

function quantity(text: string): Quantity {
  const parsed = parseQuantity(text);
  if (parsed === undefined) throw new Error(QUANTITY_FAULT);
  return new Quantity(parsed.nanos);
}

const compare = (a: bigint, b: bigint): bigint => (a < b ? -1n : a > b ? 1n : 0n);
