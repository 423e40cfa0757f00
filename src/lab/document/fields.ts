import type { WrittenValue } from './written.ts';

/** The fields of a mapping, by name. Those that nobody knows are faults, and so is whatever is no mapping. */
export function fieldsOf(value: WrittenValue, what: string, known: readonly string[]): Map<string, WrittenValue> {
  const found = new Map<string, WrittenValue>();
  if (value.fields === undefined) {
    value.fault(`${value.shown} is not ${what}: write a mapping with some of ${known.join(', ')}`);
    return found;
  }
  for (const { name, value: written } of value.fields) {
    if (known.includes(name)) found.set(name, written);
    else written.fault(`there is no field "${name}" here; ${what} has ${known.join(', ')}`);
  }
  return found;
}

/** What is listed, or the one thing that is written instead of a list. */
export const oneOrMore = (value: WrittenValue | undefined): readonly WrittenValue[] =>
  value === undefined || value.isNothing ? [] : (value.items ?? [value]);

/** A whole number within bounds. */
export function wholeNumber(value: WrittenValue, what: string, from: number, to: number): number | undefined {
  const number = Number(value.text ?? Number.NaN);
  if (/^\d+$/.test(value.text ?? '') && number >= from && number <= to) return number;
  value.fault(`${value.shown} is no ${what}: it is a whole number from ${from} to ${to}`);
  return undefined;
}

/** VLAN 1 is where bridges put frames without a tag. */
export const vlanNumber = (value: WrittenValue): number | undefined => wholeNumber(value, 'VLAN', 2, 4094);
