import { Address, addressFault } from '../address.ts';
import type { FieldError } from '../status.ts';
import type { IPSet, NetworkRequest } from './ipset.ts';
import { folded, sameName } from './shapes.ts';

/** Everything that is wrong with an IPSet that it and its predecessor alone can tell. */
export function ipSetFaults(ipSet: IPSet, old: IPSet | undefined): FieldError[] {
  const faults = [...repetitionFaults(ipSet.spec.networks), ...fixedAddressFaults(ipSet.spec.networks)];
  // A locked IPSet is refused as a whole by admission, in words that say how to unlock it.
  if (old === undefined || old.spec.immutable) return faults;
  return [...faults, ...changeFaults(ipSet.spec.networks, old.spec.networks)];
}

/** Each request of `old` with what became of it: requests are the same when network and subnet are. */
export function requestsIn(
  requests: readonly NetworkRequest[],
  old: readonly NetworkRequest[],
): Map<NetworkRequest, NetworkRequest> {
  const left = new Map(requests.map((request) => [identity(request), request]));
  const found = new Map<NetworkRequest, NetworkRequest>();
  for (const before of old) {
    const after = left.get(identity(before));
    if (after !== undefined) found.set(before, after);
    left.delete(identity(before));
  }
  return found;
}

/** A network may occur twice, for IPv4 and for IPv6; that the families differ only the NetConfig can tell. */
function repetitionFaults(requests: readonly NetworkRequest[]): FieldError[] {
  const faults: FieldError[] = [];
  /** Network → paths of the requests for it. */
  const networks = new Map<string, string[]>();
  const subnets = new Map<string, string>();
  for (const [i, request] of requests.entries()) {
    const at = `spec.networks[${i}]`;
    const paths = networks.get(folded(request.name)) ?? [];
    networks.set(folded(request.name), paths);
    const sameSubnet = subnets.get(identity(request));
    if (sameSubnet !== undefined) {
      const detail = `network "${request.name}" with subnet "${request.subnetName}" is already in use at ${sameSubnet}`;
      faults.push(invalid(`${at}.name`, request.name, detail));
    } else if (paths.length === 2) {
      const detail = `network "${request.name}" is already in use at ${paths.join(' and ')}: once for IPv4 and once for IPv6 is the most`;
      faults.push(invalid(`${at}.name`, request.name, detail));
    } else {
      paths.push(`${at}.name`);
      subnets.set(identity(request), `${at}.name`);
    }
  }
  return faults;
}

/** Networks may overlap, but an address is given once. */
function fixedAddressFaults(requests: readonly NetworkRequest[]): FieldError[] {
  /** Address → where it was first asked for. */
  const asked = new Map<string, string>();
  return requests.flatMap(({ fixedIP }, i) => {
    if (fixedIP === undefined) return [];
    const at = `spec.networks[${i}].fixedIP`;
    const address = Address.parse(fixedIP)?.toString();
    if (address === undefined) return [invalid(at, fixedIP, `"${fixedIP}" ${addressFault(fixedIP)}`)];
    const first = asked.get(address);
    if (first !== undefined) {
      return [
        invalid(at, fixedIP, `address ${address} is already asked for at ${first}: an address is given only once`),
      ];
    }
    asked.set(address, at);
    return [];
  });
}

/** Networks may only be added: an address that somebody uses must not change under them. */
function changeFaults(requests: readonly NetworkRequest[], old: readonly NetworkRequest[]): FieldError[] {
  const kept = requestsIn(requests, old);
  const taken = new Set(kept.values());
  const faults: FieldError[] = [];
  for (const [i, before] of old.entries()) {
    const at = `spec.networks[${i}]`;
    const after = kept.get(before);
    if (after === undefined) {
      const moved = requests.find((request) => sameName(request.name, before.name) && !taken.has(request));
      if (moved === undefined) {
        faults.push(
          invalid(`${at}.name`, before.name, `network "${before.name}" was removed: networks may only be added`),
        );
      } else {
        taken.add(moved);
        faults.push(invalid(`${at}.subnetName`, moved.subnetName, mustNotChange('subnetName', before.subnetName)));
      }
      continue;
    }
    if (!sameAddress(before.fixedIP, after.fixedIP)) {
      faults.push(invalid(`${at}.fixedIP`, after.fixedIP ?? '', mustNotChange('fixedIP', before.fixedIP)));
    }
    if ((before.defaultRoute ?? false) !== (after.defaultRoute ?? false)) {
      const value = after.defaultRoute ?? false;
      faults.push(invalid(`${at}.defaultRoute`, value, mustNotChange('defaultRoute', before.defaultRoute)));
    }
  }
  return faults;
}

const identity = ({ name, subnetName }: NetworkRequest): string => `${folded(name)}/${folded(subnetName)}`;

function sameAddress(a: string | undefined, b: string | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  const first = Address.parse(a);
  const second = Address.parse(b);
  return first !== undefined && second !== undefined && first.equals(second);
}

const mustNotChange = (parameter: string, old: string | boolean | undefined): string =>
  `parameter ${parameter} must not change, it ${old === undefined ? 'was not set' : `was ${old}`}`;

const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'Invalid',
  field,
  value,
  detail,
});
