import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { nanosOf } from '../equality.ts';
import { LazyObject } from '../lazy-object.ts';
import { meter } from '../meter.ts';

/** `'%s has %d'.format([a, b])`: the verbs are %s %d %f %e %b %o %x %X and %%. */
export function formatText(template: string, args: readonly unknown[]): string {
  let next = 0;
  const text = template.replace(
    /%(?:\.(\d+))?(.?)/gs,
    (clause: string, precision: string | undefined, verb: string) => {
      if (verb === '%') return '%';
      if (next >= args.length) throw new Error(`index ${next} out of range`);
      const value = args[next++];
      const digits = precision === undefined ? 6 : Number(precision);
      if (digits > 100)
        throw new Error(`could not parse formatting clause: ${clause}: at most 100 digits can be asked for`);
      meter.charge(1);
      return formatted(verb, value, digits);
    },
  );
  meter.charge(text.length / 10);
  return text;
}

function formatted(verb: string, value: unknown, digits: number): string {
  switch (verb) {
    case 's':
      return shown(value);
    case 'd':
      if (isWhole(value)) return value.toString();
      throw mismatch('decimal clause can only be used on integers', value);
    case 'f':
      if (typeof value === 'number') return Number.isFinite(value) ? value.toFixed(digits) : shown(value);
      if (isWhole(value)) return Number(value.valueOf()).toFixed(digits);
      throw mismatch('fixed-point clause can only be used on doubles', value);
    case 'e':
      if (typeof value === 'number' || isWhole(value)) return scientific(Number(value.valueOf()), digits);
      throw mismatch('scientific clause can only be used on doubles', value);
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      if (isWhole(value)) return value.valueOf().toString(2);
      throw mismatch('only integers and bools can be formatted as binary', value);
    case 'o':
      if (isWhole(value)) return value.valueOf().toString(8);
      throw mismatch('octal clause can only be used on integers', value);
    case 'x':
      return hexadecimal(value);
    case 'X':
      return hexadecimal(value).toUpperCase();
    default:
      throw new Error(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

const isWhole = (value: unknown): value is bigint | UnsignedInt =>
  typeof value === 'bigint' || value instanceof UnsignedInt;

function scientific(value: number, digits: number): string {
  if (!Number.isFinite(value)) return shown(value);
  return value.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2');
}

function hexadecimal(value: unknown): string {
  if (isWhole(value)) return value.valueOf().toString(16);
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  throw mismatch('only integers, byte buffers, and strings can be formatted as hex', value);
}

function mismatch(rule: string, value: unknown): Error {
  return new Error(`error during formatting: ${rule}, was given ${typeName(value)}`);
}

/** A value as text, as `%s` and `string()` have it. */
export function shown(value: unknown): string {
  meter.charge(1);
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      if (Number.isFinite(value)) return String(value);
      return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
    case 'object':
      return shownObject(value);
    default:
      return String(value);
  }
}

function shownObject(value: object | null): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`;
  if (value instanceof LazyObject)
    throw mismatch(
      'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
      value,
    );
  if (value instanceof Map) return shownMembers([...value]);
  if (value instanceof Date) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  return Object.getPrototypeOf(value) === Object.prototype ? shownMembers(Object.entries(value)) : String(value);
}

const shownMembers = (members: [unknown, unknown][]): string =>
  `{${members
    .map(([key, item]) => `${shown(key)}: ${shown(item)}`)
    .sort()
    .join(', ')}}`;

const timestampText = (at: Date): string => at.toISOString().replace(/\.?0*Z$/, 'Z');
const durationText = (duration: Duration): string => `${secondsText(nanosOf(duration))}s`;

function secondsText(nanos: bigint): string {
  const sign = nanos < 0n ? '-' : '';
  const digits = (nanos < 0n ? -nanos : nanos).toString().padStart(10, '0');
  const fraction = digits.slice(-9).replace(/0+$/, '');
  return sign + digits.slice(0, -9) + (fraction === '' ? '' : `.${fraction}`);
}

function typeName(value: unknown): string {
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return 'double';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? 'list' : (value.constructor?.name ?? 'map');
  return value === null ? 'null_type' : typeof value;
}
