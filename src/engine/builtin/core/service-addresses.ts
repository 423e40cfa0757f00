import type { JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { duplicate, invalidValue, required, unsupported } from '../field-errors.ts';
import { ipFamily, isDualStack, validateIp } from '../ip-text.ts';
import { isAbsent, textAt, textsAt } from '../reading.ts';
import { isHeadless } from './service-changes.ts';

const ADDRESSES = 'spec.clusterIPs';
const FAMILIES = ['IPv4', 'IPv6'];
const FAMILY_POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

/** Cluster addresses, the families they are of, and how many of them there shall be. */
export function validateClusterIps(spec: JsonObject, before: JsonObject | undefined): FieldError[] {
  if (textAt(spec, 'type') === 'ExternalName') return [];
  const addresses = textsAt(spec, 'clusterIPs');
  const errors = [...validatePair(textAt(spec, 'clusterIP'), addresses), ...validateFamilies(spec)];
  const invalid = validateAddresses(addresses, new Set(textsAt(before, 'clusterIPs')));
  if (addresses.length > 2) errors.push(invalidValue(ADDRESSES, addresses, 'may only hold up to 2 values'));
  if (invalid.length > 0) return [...errors, ...invalid];
  if (addresses.length > 1 && !isDualStack(addresses)) {
    errors.push(invalidValue(ADDRESSES, addresses, 'may specify no more than one IP for each IP family'));
  }
  if (isHeadless(spec)) return errors;
  for (const [i, family] of textsAt(spec, 'ipFamilies').entries()) {
    const address = addresses[i];
    if (address === undefined || !FAMILIES.includes(family) || family === `IPv${ipFamily(address)}`) continue;
    const detail = `expected an ${family} value as indicated by \`ipFamilies[${i}]\``;
    errors.push(invalidValue(`${ADDRESSES}[${i}]`, address, detail));
  }
  return errors;
}

/** What was allocated stays: a second family may come and go, the first address is for life. */
export function validateClusterIpsUpdate(spec: JsonObject, before: JsonObject): FieldError[] {
  if (textAt(spec, 'type') === 'ExternalName' || textAt(before, 'type') === 'ExternalName') return [];
  const isNowHeadless = isHeadless(spec);
  const wasHeadless = isHeadless(before);
  return [
    ...(isNowHeadless && wasHeadless ? [] : validateKept(spec, before, 'clusterIPs', 'clusterIP')),
    ...(isNowHeadless || wasHeadless ? [] : validateKept(spec, before, 'ipFamilies', 'ipFamily')),
  ];
}

function validatePair(address: string, addresses: readonly string[]): FieldError[] {
  if (address === '') {
    if (addresses.length === 0) return [];
    return [invalidValue(ADDRESSES, addresses, 'must be empty when `clusterIP` is not specified')];
  }
  if (addresses.length === 0) return [required(ADDRESSES)];
  return addresses[0] === address ? [] : [invalidValue(ADDRESSES, addresses, 'first value must match `clusterIP`')];
}

function validateFamilies(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const families = textsAt(spec, 'ipFamilies');
  const seen = new Set<string>();
  for (const [i, family] of families.entries()) {
    const path = `spec.ipFamilies[${i}]`;
    if (!FAMILIES.includes(family)) errors.push(unsupported(path, family, FAMILIES));
    if (seen.has(family)) errors.push(duplicate(path, family));
    seen.add(family);
  }
  const policy = textAt(spec, 'ipFamilyPolicy');
  if (!isAbsent(spec, 'ipFamilyPolicy') && !FAMILY_POLICIES.includes(policy)) {
    errors.push(unsupported('spec.ipFamilyPolicy', policy, FAMILY_POLICIES));
  }
  return errors;
}

function validateAddresses(addresses: readonly string[], known: ReadonlySet<string>): FieldError[] {
  return addresses.flatMap((address, i) => {
    if (i === 0 && address === 'None') {
      if (addresses.length === 1) return [];
      return [invalidValue(ADDRESSES, addresses, "'None' must be the first and only value")];
    }
    return known.has(address) ? [] : validateIp(address, `${ADDRESSES}[${i}]`);
  });
}

function validateKept(
  spec: JsonObject,
  before: JsonObject,
  field: 'clusterIPs' | 'ipFamilies',
  singular: 'clusterIP' | 'ipFamily',
): FieldError[] {
  const now = textsAt(spec, field);
  const then = textsAt(before, field);
  const first = `spec.${field}[0]`;
  const errors: FieldError[] = [];
  if (now.length === then.length) {
    for (const [i, value] of then.entries()) {
      if (now[i] !== value) errors.push(invalidValue(`spec.${field}[${i}]`, now, 'may not change once set'));
    }
    return errors;
  }
  if (now.length === 0) errors.push(invalidValue(first, now, `primary ${singular} can not be unset`));
  else if (then.length > 0 && now[0] !== then[0]) errors.push(invalidValue(first, now, 'may not change once set'));
  if (then.length > now.length && now.length === 1 && textAt(spec, 'ipFamilyPolicy') !== 'SingleStack') {
    const detail = `must be set to 'SingleStack' when releasing the secondary ${singular}`;
    errors.push(invalidValue('spec.ipFamilyPolicy', spec['ipFamilyPolicy'], detail));
  }
  return errors;
}
