import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { equalJson } from '../../../api/json.ts';
import { LazyObject } from './lazy-object.ts';
import { meter, textCost } from './meter.ts';

/** Whether two values of CEL are equal; numbers are by value, whatever their type. */
export function equalValues(a: unknown, b: unknown): boolean {
  meter.charge(1);
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return equalScalars(a, b);
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => equalValues(item, b[i]))
    );
  }
  if (a instanceof LazyObject || b instanceof LazyObject) {
    return a instanceof LazyObject && b instanceof LazyObject && equalObjects(a, b);
  }
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([key, value]) => b.has(key) && equalValues(value, b.get(key)));
  }
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (a instanceof Duration && b instanceof Duration) return a.seconds === b.seconds && a.nanos === b.nanos;
  if (a instanceof UnsignedInt && b instanceof UnsignedInt) return a.valueOf() === b.valueOf();
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return a.constructor === b.constructor && String(a) === String(b);
}

export function equalObjects(a: LazyObject, b: LazyObject): boolean {
  meter.charge(a.weight + b.weight);
  return equalJson(a.raw, b.raw);
}

function equalScalars(a: unknown, b: unknown): boolean {
  if (typeof a === 'string' && typeof b === 'string') meter.charge(textCost(a));
  const isMixed = (typeof a === 'bigint' && typeof b === 'number') || (typeof a === 'number' && typeof b === 'bigint');
  if (isMixed) return a <= b && a >= b;
  return false;
}

/** Which of two values of one type comes first: negative, zero or positive. */
export function compareValues(a: unknown, b: unknown): number {
  meter.charge(1);
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : Number(a > b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  const [left, right] = [orderOf(a), orderOf(b)];
  return left < right ? -1 : Number(left > right);
}

function orderOf(value: unknown): number | bigint {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  if (value instanceof Date) return value.getTime();
  if (value instanceof Duration) return nanosOf(value);
  if (value instanceof UnsignedInt) return value.valueOf();
  throw new Error('no such overload: values of this type have no order');
}

export const nanosOf = ({ seconds, nanos }: Duration): bigint => seconds * 1_000_000_000n + BigInt(nanos);
export const durationOf = (nanos: bigint): Duration =>
  new Duration(nanos / 1_000_000_000n, Number(nanos % 1_000_000_000n));
