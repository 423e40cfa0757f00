import type { Json } from './json.ts';

/** An amount of a resource, exact to a billionth, and how it likes to be written. */
export interface Quantity {
  readonly nanos: bigint;
  readonly notation: 'decimal' | 'binary' | 'exponent';
}

export const QUANTITY_FAULT =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** `500m`, `1.5`, `2Gi`, `1e3`; undefined for what is none. More precision than billionths is rounded up. */
export function parseQuantity(value: Json | undefined): Quantity | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?(?:([a-zA-Z]+)([+-]?\d*))?$/.exec(String(value).trim());
  if (parts === null) return undefined;
  const [, sign = '', whole = '', fraction = '', letters = '', power = ''] = parts;
  if (whole === '' && fraction === '') return undefined;
  const unit = unitOf(letters, power);
  if (unit === undefined) return undefined;
  const magnitude = nanosOf(whole, fraction, unit);
  // Less than one of a binary unit is shown in decimals, so that nothing is rounded.
  const notation = unit.notation === 'binary' && magnitude < NANOS_PER_ONE ? 'decimal' : unit.notation;
  return { nanos: sign === '-' ? -magnitude : magnitude, notation };
}

/** The one spelling of a quantity that the API shows: `1000m` becomes `1`, `1024Mi` becomes `1Gi`. */
export function formatQuantity({ nanos, notation }: Quantity): string {
  if (nanos === 0n) return '0';
  const magnitude = nanos < 0n ? -nanos : nanos;
  const sign = nanos < 0n ? '-' : '';
  if (notation === 'binary' && magnitude >= 1024n * NANOS_PER_ONE && magnitude % NANOS_PER_ONE === 0n) {
    return sign + withUnit(magnitude / NANOS_PER_ONE, 1024n, BINARY_UNITS);
  }
  return sign + withUnit(magnitude, 1000n, notation === 'exponent' ? EXPONENTS : DECIMAL_UNITS);
}

/** Rounded up to thousandths, the finest that containers may ask for. */
export function roundedUpToMilli({ nanos, notation }: Quantity): Quantity {
  const excess = nanos % NANOS_PER_MILLI;
  if (excess === 0n) return { nanos, notation };
  return { nanos: nanos - excess + (nanos > 0n ? NANOS_PER_MILLI : -NANOS_PER_MILLI), notation };
}

export const NANOS_PER_ONE = 1_000_000_000n;
const NANOS_PER_MILLI = 1_000_000n;

const DECIMAL_UNITS = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const EXPONENTS = ['e-9', 'e-6', 'e-3', '', 'e3', 'e6', 'e9', 'e12', 'e15', 'e18'];
const BINARY_UNITS = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

interface Unit {
  notation: Quantity['notation'];
  tens: number;
  twos: number;
}

function unitOf(letters: string, power: string): Unit | undefined {
  if (/^[eE]$/.test(letters) && /\d/.test(power)) return { notation: 'exponent', tens: Number(power), twos: 0 };
  if (power !== '') return undefined;
  const decimal = DECIMAL_UNITS.indexOf(letters);
  if (decimal >= 0) return { notation: 'decimal', tens: (decimal - 3) * 3, twos: 0 };
  const binary = BINARY_UNITS.indexOf(letters);
  return binary > 0 ? { notation: 'binary', tens: 0, twos: binary * 10 } : undefined;
}

/** More digits than these are not worth the time; what is larger is cut off here, what is smaller is rounded up. */
const SIGNIFICANT = 80;
const LARGEST = 10n ** 80n;

function nanosOf(whole: string, fraction: string, unit: Unit): bigint {
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return 0n;
  const size = digits.length - fraction.length + unit.tens;
  if (size > SIGNIFICANT) return LARGEST;
  if (size < -SIGNIFICANT) return 1n;
  const kept = digits.slice(0, SIGNIFICANT);
  const isCut = /[1-9]/.test(digits.slice(SIGNIFICANT));
  const shift = size - kept.length + 9;
  const scaled = BigInt(kept) << BigInt(unit.twos);
  if (shift >= 0) return scaled * 10n ** BigInt(shift) + (isCut ? 1n : 0n);
  const divisor = 10n ** BigInt(-shift);
  return scaled / divisor + (isCut || scaled % divisor !== 0n ? 1n : 0n);
}

function withUnit(amount: bigint, step: bigint, units: readonly string[]): string {
  let unit = 0;
  while (unit < units.length - 1 && amount % step === 0n) {
    amount /= step;
    unit++;
  }
  return `${amount}${units[unit]}`;
}
