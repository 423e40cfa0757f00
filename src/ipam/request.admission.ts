import { Address } from '../api/address.ts';
import type { LiveReader } from '../api/admission.ts';
import type { Kind } from '../api/kind.ts';
import type { NetworkRequest } from '../api/network.openstack.org/ipset.ts';
import { memberFaults } from '../api/network.openstack.org/netconfig.faults.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import type { ApiObject } from '../api/object.ts';
import { type FieldError, forbidden } from '../api/status.ts';
import { Networks, type Subnet } from './networks.ts';
import { type Applicant, takenText, whoHas } from './taken.ts';

/** What is refused of a request for an address, whichever kind of object makes it. */

/** In which a NetConfig changes alone: nobody asks for addresses of one that is just going, and no second one comes beside it. */
export const NETCONFIG_LINE = 'netconfig';

/** @throws ApiError unless there is exactly one NetConfig to ask for addresses of */
export async function networksFor(
  kind: Kind,
  { metadata: { name, namespace = '' } }: ApiObject,
  live: LiveReader,
): Promise<Networks> {
  const [netConfig, ...others] = await live.list(NetConfig, namespace);
  if (netConfig === undefined) {
    throw forbidden(kind, name, `no NetConfig found in namespace ${namespace}, please create one`);
  }
  if (others.length > 0) {
    const names = [netConfig, ...others].map((one) => one.metadata.name).join(', ');
    throw forbidden(
      kind,
      name,
      `more than one NetConfig found in namespace ${namespace} (${names}), please delete all but one`,
    );
  }
  return new Networks(netConfig);
}

/** The subnet that is asked for, or what is wrong with asking for it. `fields`: where the request says so. */
export function subnetFor(
  request: NetworkRequest,
  networks: Networks,
  fields: Readonly<Record<'name' | 'subnetName', string>>,
): Subnet | FieldError {
  const subnet = networks.find(request.name, request.subnetName);
  if (typeof subnet !== 'string') return subnet;
  const unknown = networks.has(request.name) ? 'subnetName' : 'name';
  return fault(fields[unknown], request[unknown], subnet);
}

/** That it is an address at all was found out before. */
export const fixedAddressFaults = (text: string, { prefix }: Subnet, field: string): FieldError[] =>
  memberFaults(text, prefix, field);

/** That somebody else holds what is asked for. */
export async function heldAddressFaults(
  text: string,
  applicant: Applicant,
  field: string,
  live: LiveReader,
): Promise<FieldError[]> {
  const address = Address.parse(text);
  const holder = address === undefined ? undefined : await whoHas(address, applicant, live);
  return holder === undefined ? [] : [fault(field, text, takenText(holder))];
}

const fault = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'Invalid',
  field,
  value,
  detail,
});
