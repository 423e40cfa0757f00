import { attribute, nested, text, u8 } from './netlink/attributes.ts';
import type { Netlink } from './netlink/connection.ts';
import type { Request } from './netlink/message.ts';
import type { PortVlans } from './port-rules.ts';

/** Lets a bridge know VLANs. False where the kernel's bridges cannot: then there are the rules of ports. */
export function filterVlans(netlink: Netlink, bridge: number): boolean {
  const [refusal] = netlink.requestAll([
    {
      doing: 'let a bridge know VLANs',
      type: NEW,
      flags: 0,
      body: [
        header(bridge, 0),
        nested(LINK_INFO, attribute(KIND, text('bridge')), nested(KIND_DATA, attribute(VLAN_FILTERING, u8(1)))),
      ],
    },
  ]);
  if (refusal !== undefined && !['EOPNOTSUPP', 'EINVAL'].includes(refusal.code)) throw refusal;
  return refusal === undefined;
}

/** Sets the VLANs of a port where the kernel's bridges know VLANs. */
export function setBridgeVlans(netlink: Netlink, link: number, vlans: PortVlans): void {
  const requests = bridgeVlanRequests(link, vlans);
  const refusal = netlink
    .requestAll(requests)
    .find((answer, i) => answer !== undefined && !(requests[i]?.type === DELETE && answer.code === 'ENOENT'));
  if (refusal !== undefined) throw refusal;
}

/** As the kernel takes them. A new port is in VLAN 1, without tags: that is the native one. */
export function bridgeVlanRequests(link: number, { untagged, tagged }: PortVlans): Request[] {
  const change = (type: number, id: number, flags = 0): Request => ({
    doing: `${type === DELETE ? 'take VLAN' : 'let VLAN'} ${id} ${type === DELETE ? 'off' : 'pass at'} a port`,
    type,
    flags: 0,
    body: [header(link), attribute(AF_SPEC, attribute(VLAN_INFO, vlanInfo(id, flags)))],
  });
  return [
    ...(untagged === 'native' ? [] : [change(DELETE, NATIVE)]),
    ...(typeof untagged === 'number' ? [change(SET, untagged, WITHOUT_TAG)] : []),
    ...tagged.map((id) => change(SET, id)),
  ];
}

/** struct ifinfomsg */
function header(link: number, family = AF_BRIDGE): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt8(family, 0);
  bytes.writeInt32LE(link, 4);
  return bytes;
}

function vlanInfo(id: number, flags: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16LE(flags, 0);
  bytes.writeUInt16LE(id, 2);
  return bytes;
}

const NEW = 16;
const DELETE = 17;
const SET = 19;
const AF_BRIDGE = 7;
const AF_SPEC = 26;
const VLAN_INFO = 2;
const LINK_INFO = 18;
const KIND = 1;
const KIND_DATA = 2;
const VLAN_FILTERING = 7;
/** What comes in without a tag is in this VLAN (2), and what goes out in it has none (4). */
const WITHOUT_TAG = 6;
const NATIVE = 1;
