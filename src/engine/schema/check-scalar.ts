import type { Json } from '../../api/json.ts';
import { equalJson } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import type { FieldError } from '../../api/status.ts';
import { formatCheck } from './formats.ts';
import type { Regexp } from './regexp/regexp.ts';
import { compileRegexp } from './regexp/regexp.ts';

/** What is wrong with a value at a place, if anything. Worded as kube-apiserver words it. */
export type Check<T extends Json> = (value: T, place: () => string) => FieldError | undefined;

export function stringChecks(schema: JsonSchema): Check<string>[] {
  const { minLength, maxLength, pattern, format } = schema;
  const checks: Check<string>[] = [];
  // Of these three, kube-apiserver names the first that fails.
  const sized: Check<string>[] = [];
  if (maxLength !== undefined) sized.push(notLonger(maxLength));
  if (minLength !== undefined) sized.push(notShorter(minLength));
  if (pattern !== undefined && pattern !== '') sized.push(matching(pattern));
  if (sized.length > 0) checks.push((value, place) => firstOf(sized, value, place));
  const isFormat = format === undefined ? undefined : formatCheck(format);
  if (isFormat !== undefined) {
    checks.push((value, place) =>
      isFormat(value)
        ? undefined
        : {
            type: 'TypeInvalid',
            field: place(),
            value,
            detail: `${place()} in body must be of type ${format}: ${JSON.stringify(value)}`,
          },
    );
  }
  return checks;
}

function firstOf(checks: readonly Check<string>[], value: string, place: () => string): FieldError | undefined {
  for (const check of checks) {
    const fault = check(value, place);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function notLonger(max: number): Check<string> {
  return (value, place) =>
    value.length > max && lengthInCodePoints(value) > max
      ? { type: 'TooLong', field: place(), detail: `may not be more than ${max} bytes` }
      : undefined;
}

function notShorter(min: number): Check<string> {
  return (value, place) =>
    lengthInCodePoints(value) < min ? invalid(place(), value, `should be at least ${min} chars long`) : undefined;
}

function matching(pattern: string): Check<string> {
  let regexp: Regexp | undefined;
  return (value, place) => {
    regexp ??= compileRegexp(pattern);
    const matches = regexp.test(value);
    if (matches === true) return undefined;
    const gaveUp = matches === undefined ? ', but finding out takes too long for a text of this length' : '';
    return invalid(place(), value, `should match '${pattern}'${gaveUp}`);
  };
}

function lengthInCodePoints(text: string): number {
  let length = text.length;
  for (let i = 1; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xdc00 && unit <= 0xdfff && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) length--;
  }
  return length;
}

export function numberChecks(schema: JsonSchema): Check<number>[] {
  const { minimum, maximum, multipleOf } = schema;
  const checks: Check<number>[] = [];
  if (multipleOf !== undefined) {
    checks.push((value, place) =>
      isMultiple(value, multipleOf) ? undefined : invalid(place(), value, `should be a multiple of ${multipleOf}`),
    );
  }
  if (maximum !== undefined) {
    const excluded = schema.exclusiveMaximum === true;
    checks.push((value, place) =>
      value < maximum || (value === maximum && !excluded)
        ? undefined
        : invalid(place(), value, `should be less than ${excluded ? '' : 'or equal to '}${maximum}`),
    );
  }
  if (minimum !== undefined) {
    const excluded = schema.exclusiveMinimum === true;
    checks.push((value, place) =>
      value > minimum || (value === minimum && !excluded)
        ? undefined
        : invalid(place(), value, `should be greater than ${excluded ? '' : 'or equal to '}${minimum}`),
    );
  }
  return checks;
}

/** 0.3 is a multiple of 0.1, whatever binary fractions make of it. */
function isMultiple(value: number, factor: number): boolean {
  if (factor <= 0) return false;
  const quotient = factor < 1 ? (1 / factor) * value : value / factor;
  const distance = Math.abs(quotient - Math.round(quotient));
  return distance === 0 || distance / (2 * Math.abs(quotient)) < 1e-9;
}

export function enumCheck({ enum: values }: JsonSchema): Check<Json> | undefined {
  if (values === undefined || values.length === 0) return undefined;
  const scalars = new Set(values.filter((each) => typeof each !== 'object'));
  const others = values.filter((each) => typeof each === 'object' && each !== null);
  const supported = values
    .map((each) => JSON.stringify(typeof each === 'string' ? each : JSON.stringify(each)))
    .join(', ');
  return (value, place) => {
    // A null is never among the values, even where the list has it: kube-apiserver compares nothing with null.
    if (typeof value === 'object' ? others.some((each) => equalJson(each, value)) : scalars.has(value))
      return undefined;
    return { type: 'NotSupported', field: place(), value, detail: `supported values: ${supported}` };
  };
}

export function invalid(place: string, value: Json, rule: string): FieldError {
  return { type: 'Invalid', field: place, value, detail: `${place} in body ${rule}` };
}
