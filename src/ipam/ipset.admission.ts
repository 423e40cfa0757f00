import { isDeepStrictEqual } from 'node:util';
import { Address, type Family } from '../api/address.ts';
import type { Admission, LiveReader } from '../api/admission.ts';
import { requestsIn } from '../api/network.openstack.org/ipset.faults.ts';
import { IPSet, type NetworkRequest } from '../api/network.openstack.org/ipset.ts';
import { memberFaults } from '../api/network.openstack.org/netconfig.faults.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { folded } from '../api/network.openstack.org/shapes.ts';
import { type FieldError, forbidden, invalid } from '../api/status.ts';
import { asKind } from './admitted.ts';
import { Networks, type Subnet } from './networks.ts';
import { FINALIZER, isOurs } from './reservation.ts';
import { takenText, whoHas } from './taken.ts';

export const ipSetAdmission: Admission = {
  kind: IPSet,
  operations: ['CREATE', 'UPDATE'],

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
    if (ipSet.metadata.deletionTimestamp !== undefined) return;
    // Labels and finalizers may change whatever has become of the NetConfig.
    if (old !== undefined && isDeepStrictEqual(ipSet.spec, old.spec)) return;
    const faults = requestFaults(ipSet.spec.networks, await networksOf(ipSet, live));
    faults.push(...(await takenFaults(ipSet, old, live)));
    if (faults.length > 0) throw invalid(IPSet, ipSet.metadata.name, faults);
  },
};

/** What is asked for by number and held by somebody else. What was asked for before may go on waiting. */
async function takenFaults(ipSet: IPSet, old: IPSet | undefined, live: LiveReader): Promise<FieldError[]> {
  const { name, namespace = '' } = ipSet.metadata;
  const { networks } = ipSet.spec;
  const before = new Set(requestsIn(networks, old?.spec.networks ?? []).values());
  const faults = await Promise.all(
    networks.map(async (request, i): Promise<FieldError[]> => {
      const { fixedIP = '' } = request;
      const address = before.has(request) ? undefined : Address.parse(fixedIP);
      if (address === undefined) return [];
      const holder = await whoHas(address, { namespace, kind: IPSet.kind, name }, live);
      if (holder === undefined) return [];
      return [fault(`spec.networks[${i}].fixedIP`, fixedIP, takenText(holder))];
    }),
  );
  return faults.flat();
}

async function networksOf({ metadata: { name, namespace = '' } }: IPSet, live: LiveReader): Promise<Networks> {
  const [netConfig, ...others] = await live.list(NetConfig, namespace);
  if (netConfig === undefined) {
    throw forbidden(IPSet, name, `no NetConfig found in namespace ${namespace}, please create one`);
  }
  if (others.length > 0) {
    const names = [netConfig, ...others].map((one) => one.metadata.name).join(', ');
    throw forbidden(
      IPSet,
      name,
      `more than one NetConfig found in namespace ${namespace} (${names}), please delete all but one`,
    );
  }
  return new Networks(netConfig);
}

/** What is wrong with requests in the light of the NetConfig. */
function requestFaults(requests: readonly NetworkRequest[], networks: Networks): FieldError[] {
  const faults: FieldError[] = [];
  /** Network and family → where it was first asked for. */
  const asked = new Map<string, string>();
  const defaultRoutes = new Map<Family, string>();
  for (const [i, request] of requests.entries()) {
    const at = `spec.networks[${i}]`;
    const subnet = networks.find(request.name, request.subnetName);
    if (typeof subnet === 'string') {
      const unknown = networks.has(request.name) ? 'subnetName' : 'name';
      faults.push(fault(`${at}.${unknown}`, request[unknown], subnet));
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
    faults.push(...fixedAddressFaults(request, subnet, at), ...defaultRouteFaults(request, subnet, at, defaultRoutes));
  }
  return faults;
}

/** That it is an address at all was found out before. */
const fixedAddressFaults = ({ fixedIP }: NetworkRequest, { prefix }: Subnet, at: string): FieldError[] =>
  fixedIP === undefined ? [] : memberFaults(fixedIP, prefix, `${at}.fixedIP`);

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
