import { equalJson, type JsonObject } from '../../api/json.ts';
import type { FieldError } from '../../api/status.ts';
import { validateClusterIps } from '../builtin/core/service-addresses.ts';
import { isHeadless } from '../builtin/core/service-changes.ts';
import { invalidValue } from '../builtin/field-errors.ts';
import { ipFamily } from '../builtin/ip-text.ts';
import { entriesAt, isAbsent, textAt, textsAt } from '../builtin/reading.ts';

export type Family = 'IPv4' | 'IPv6';

const POLICY = 'spec.ipFamilyPolicy';

/**
 * Settles of which families a Service is, by the rules of kube-apiserver: policy, families and addresses that were
 * given must fit each other and the families that Services can have here; what was left out follows from the rest.
 */
export function settleFamilies(
  spec: JsonObject,
  before: JsonObject | undefined,
  served: readonly Family[],
): FieldError[] {
  if (textAt(spec, 'type') === 'ExternalName' || isLeftAsPreferred(spec, before)) return [];
  if (isAbsent(spec, 'ipFamilyPolicy')) spec['ipFamilyPolicy'] = policyFor(spec, before);
  const faults = validateClusterIps(spec, before);
  if (faults.length > 0) return faults;
  const errors = [
    ...(before === undefined ? [] : giveUpSecond(spec, before)),
    ...validatePolicy(spec),
    ...inferFamilies(spec, served),
  ];
  if (errors.length > 0) return errors;
  return isForeign(spec) ? settleForeign(spec, served) : settleServed(spec, served);
}

/** Who only prefers two families keeps what the Service came to, also when the cluster has learnt another one since. */
function isLeftAsPreferred(spec: JsonObject, before: JsonObject | undefined): boolean {
  return (
    before !== undefined &&
    textAt(spec, 'ipFamilyPolicy') === 'PreferDualStack' &&
    ['', 'PreferDualStack'].includes(textAt(before, 'ipFamilyPolicy')) &&
    textAt(before, 'type') === textAt(spec, 'type') &&
    isSame(spec, before, 'clusterIPs') &&
    isSame(spec, before, 'ipFamilies')
  );
}

function policyFor(spec: JsonObject, before: JsonObject | undefined): string {
  const former = textAt(before, 'ipFamilyPolicy');
  if (former !== '') return former;
  return isForeign(spec) ? 'RequireDualStack' : 'SingleStack';
}

/** Headless, and somebody else writes its endpoints: these may be of any family. */
const isForeign = (spec: JsonObject): boolean => isHeadless(spec) && entriesAt(spec, 'selector').length === 0;

function giveUpSecond(spec: JsonObject, before: JsonObject): FieldError[] {
  if (textAt(spec, 'ipFamilyPolicy') === 'SingleStack') {
    for (const key of ['clusterIPs', 'ipFamilies']) {
      const values = textsAt(spec, key);
      if (isSame(spec, before, key) && values.length > 1) spec[key] = values.slice(0, 1);
    }
    return [];
  }
  const isReduced = (key: string): boolean => {
    const now = textsAt(spec, key).length;
    return now > 0 && now < textsAt(before, key).length;
  };
  const refused = (what: string) =>
    invalidValue(POLICY, spec['ipFamilyPolicy'], `must be 'SingleStack' to release the secondary ${what}`);
  return [
    ...(isReduced('clusterIPs') ? [refused('cluster IP')] : []),
    ...(isReduced('ipFamilies') ? [refused('IP family')] : []),
  ];
}

function validatePolicy(spec: JsonObject): FieldError[] {
  if (textAt(spec, 'ipFamilyPolicy') !== 'SingleStack') return [];
  const refused = (what: string) =>
    invalidValue(
      POLICY,
      spec['ipFamilyPolicy'],
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
    );
  return [
    ...(textsAt(spec, 'clusterIPs').length === 2 ? [refused('cluster IPs')] : []),
    ...(textsAt(spec, 'ipFamilies').length === 2 ? [refused('IP families')] : []),
  ];
}

/** Addresses say of which family they are. */
function inferFamilies(spec: JsonObject, served: readonly Family[]): FieldError[] {
  if (isHeadless(spec)) return [];
  const errors: FieldError[] = [];
  const families = textsAt(spec, 'ipFamilies');
  for (const [i, address] of textsAt(spec, 'clusterIPs').entries()) {
    if (i < families.length) continue;
    const family = ipFamily(address) === 4 ? 'IPv4' : 'IPv6';
    if (served.includes(family)) families.push(family);
    else {
      const detail = `${family} is not configured on this cluster`;
      errors.push(invalidValue(`spec.clusterIPs[${i}]`, textsAt(spec, 'clusterIPs'), detail));
    }
  }
  if (families.length > 0) spec['ipFamilies'] = families;
  return errors;
}

function settleForeign(spec: JsonObject, served: readonly Family[]): FieldError[] {
  const [first = served[0] ?? 'IPv4', ...rest] = textsAt(spec, 'ipFamilies');
  const isSingle = textAt(spec, 'ipFamilyPolicy') === 'SingleStack';
  spec['ipFamilies'] = rest.length > 0 || isSingle ? [first, ...rest] : [first, otherThan(first)];
  return [];
}

function settleServed(spec: JsonObject, served: readonly Family[]): FieldError[] {
  const families = textsAt(spec, 'ipFamilies');
  const policy = textAt(spec, 'ipFamilyPolicy');
  const errors: FieldError[] = [];
  if (policy === 'RequireDualStack' && served.length < 2) {
    errors.push(invalidValue(POLICY, policy, 'this cluster is not configured for dual-stack services'));
  }
  for (const [i, family] of families.entries()) {
    if (served.some((each) => each === family)) continue;
    errors.push(invalidValue(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster'));
  }
  if (errors.length > 0) return errors;
  const [first = served[0] ?? 'IPv4', ...rest] = families;
  const isSecondWanted = policy !== 'SingleStack' && rest.length === 0 && served.length === 2;
  spec['ipFamilies'] = isSecondWanted ? [first, otherThan(first)] : [first, ...rest];
  return [];
}

const otherThan = (family: string): Family => (family === 'IPv4' ? 'IPv6' : 'IPv4');

const isSame = (spec: JsonObject, before: JsonObject, key: string): boolean =>
  equalJson(textsAt(spec, key), textsAt(before, key));
