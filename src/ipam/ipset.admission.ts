import { isDeepStrictEqual } from 'node:util';
import { Address, type Family } from '../api/address.ts';
import type { Admission, LiveReader } from '../api/admission.ts';
import { ipSetFaults, requestsIn } from '../api/network.openstack.org/ipset.faults.ts';
import { IPSet, type NetworkRequest } from '../api/network.openstack.org/ipset.ts';
import { folded } from '../api/network.openstack.org/shapes.ts';
import { type FieldError, forbidden, invalid } from '../api/status.ts';
import { asKind } from './admitted.ts';
import type { Networks, Subnet } from './networks.ts';
import { fixedAddressFaults, heldAddressFaults, NETCONFIG_LINE, networksFor, subnetFor } from './request.admission.ts';
import { FINALIZER, isOurs } from './reservation.ts';

export const ipSetAdmission: Admission = {
  kind: IPSet,
  operations: ['CREATE', 'UPDATE'],
  turn: { line: NETCONFIG_LINE, alone: false },

  /** The controller needs its finalizer before it gives an address; here it comes without another write. */
  mutate({ operation, object }) {
    if (operation !== 'CREATE' || object === undefined) return;
    const { metadata } = object;
    const others = Array.isArray(metadata.finalizers) ? metadata.finalizers.filter((name) => !isOurs(name)) : [];
    metadata.finalizers = [...others, FINALIZER.name];
  },

  async validate(request, live) {
    const ipSet = asKind(IPSet, request.object);
    const old = asKind(IPSet, request.oldObject);
    if (ipSet === undefined) return;
    if (old?.spec.immutable === true && !isDeepStrictEqual(ipSet.spec.networks, old.spec.networks)) {
      throw forbidden(IPSet, ipSet.metadata.name, LOCKED);
    }
    // Finalizers must come off even when the rules were stricter than the object from the start.
    if (ipSet.metadata.deletionTimestamp !== undefined) return;
    // Labels and finalizers may change whatever has become of the NetConfig.
    if (old !== undefined && isDeepStrictEqual(ipSet.spec, old.spec)) return;
    const networks = await networksFor(IPSet, ipSet, live);
    const own = ipSetFaults(ipSet, old);
    const told = new Set(own.map(({ field }) => field));
    const others = [...requestFaults(ipSet.spec.networks, networks), ...(await takenFaults(ipSet, old, live))];
    const faults = [...own, ...others.filter(({ field }) => !told.has(field))];
    if (faults.length > 0) throw invalid(IPSet, ipSet.metadata.name, faults);
  },
};

/** What is asked for by number and held by somebody else. What was asked for before may go on waiting. */
async function takenFaults(ipSet: IPSet, old: IPSet | undefined, live: LiveReader): Promise<FieldError[]> {
  const { name, namespace = '' } = ipSet.metadata;
  const { networks } = ipSet.spec;
  const applicant = { namespace, kind: IPSet.kind, name };
  const before = new Set(requestsIn(networks, old?.spec.networks ?? []).values());
  const faults = await Promise.all(
    networks.map(async (request, i): Promise<FieldError[]> => {
      const { fixedIP } = request;
      if (fixedIP === undefined || before.has(request)) return [];
      const field = `spec.networks[${i}].fixedIP`;
      const own = old?.status?.reservations?.find(({ address }) => address === Address.parse(fixedIP)?.toString());
      if (own === undefined) return heldAddressFaults(fixedIP, applicant, field, live);
      const detail = `the IPSet has the address on network ${own.network} subnet ${own.subnet}: an address is given only once`;
      return [fault(field, fixedIP, detail)];
    }),
  );
  return faults.flat();
}

/** What is wrong with requests in the light of the NetConfig. */
function requestFaults(requests: readonly NetworkRequest[], networks: Networks): FieldError[] {
  const faults: FieldError[] = [];
  /** Network and family → where it was first asked for. */
  const asked = new Map<string, string>();
  const defaultRoutes = new Map<Family, string>();
  for (const [i, request] of requests.entries()) {
    const at = `spec.networks[${i}]`;
    const subnet = subnetFor(request, networks, { name: `${at}.name`, subnetName: `${at}.subnetName` });
    if (!('prefix' in subnet)) {
      faults.push(subnet);
      continue;
    }
    const { family } = subnet.prefix;
    const first = asked.get(`${family} ${folded(request.name)}`);
    if (first !== undefined) {
      faults.push(
        fault(`${at}.name`, request.name, `network ${request.name} is already in use at ${first} with IPv${family}`),
      );
    }
    asked.set(`${family} ${folded(request.name)}`, `${at}.name`);
    if (request.fixedIP !== undefined) {
      faults.push(...fixedAddressFaults(request.fixedIP, subnet, `${at}.fixedIP`));
    }
    faults.push(...defaultRouteFaults(request, subnet, at, defaultRoutes));
  }
  return faults;
}

function defaultRouteFaults(
  { defaultRoute }: NetworkRequest,
  { prefix, gateway, definition, network }: Subnet,
  at: string,
  before: Map<Family, string>,
): FieldError[] {
  if (defaultRoute !== true) return [];
  const faults: FieldError[] = [];
  const first = before.get(prefix.family);
  if (first === undefined) {
    before.set(prefix.family, `${at}.defaultRoute`);
  } else {
    const detail = `the default route can only be requested on a single network for IPv${prefix.family}; it is already at ${first}`;
    faults.push(fault(`${at}.defaultRoute`, true, detail));
  }
  if (gateway === undefined) {
    const detail = `the default route is requested, but no gateway is configured for subnet ${definition.name} of network ${network.name}`;
    faults.push(fault(`${at}.defaultRoute`, true, detail));
  }
  return faults;
}

const fault = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'Invalid',
  field,
  value,
  detail,
});

const LOCKED =
  'spec: Forbidden: Invalid value: "object": Spec.Networks is immutable; first set spec.immutable to false, in an update that changes nothing else';
