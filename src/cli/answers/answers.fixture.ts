import { Address } from '../../api/address.ts';
import type { Node, NodeCondition } from '../../api/core/node.ts';
import type { ContainerStatus, Pod, PodStatus } from '../../api/core/pod.ts';
import type { Service } from '../../api/core/service.ts';
import type { IPAddressPool } from '../../api/metallb.io/ip-address-pool.ts';
import { type AddressBlock, blockName, blockPrefix } from '../../api/netloom.io/address-block.ts';
import type { IPSet, NetworkRequest } from '../../api/network.openstack.org/ipset.ts';
import type { NetConfig, NetConfigSubnet } from '../../api/network.openstack.org/netconfig.ts';
import type { Reservation } from '../../api/network.openstack.org/reservation.ts';
import type { ObjectMeta } from '../../api/object.ts';
import type { Finding } from './finding.ts';

export const NOW = Date.parse('2026-01-01T01:00:00Z');
/** Seconds before now. */
export const before = (seconds: number): string => `${new Date(NOW - seconds * 1000).toISOString().slice(0, 19)}Z`;

const GROUP = 'network.openstack.org/v1beta1';

export const metadata = (name: string, more: Partial<ObjectMeta> = {}): ObjectMeta => ({
  name,
  namespace: 'openstack',
  uid: `uid-${name}`,
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: before(600),
  ...more,
});

export const subnet = (change: Partial<NetConfigSubnet> = {}): NetConfigSubnet => ({
  name: 'subnet1',
  cidr: '172.17.0.0/24',
  allocationRanges: [{ start: '172.17.0.10', end: '172.17.0.12' }],
  ...change,
});

export const netConfig = (...subnets: NetConfigSubnet[]): NetConfig => ({
  apiVersion: GROUP,
  kind: 'NetConfig',
  metadata: metadata('netconfig'),
  spec: { networks: [{ name: 'InternalApi', mtu: 1500, subnets: subnets.length === 0 ? [subnet()] : subnets }] },
});

/** One that waits since ten minutes, unless told otherwise. */
export const ipSet = (name: string, request: Partial<NetworkRequest> = {}, meta: Partial<ObjectMeta> = {}): IPSet => ({
  apiVersion: GROUP,
  kind: 'IPSet',
  metadata: metadata(name, meta),
  spec: { immutable: false, networks: [{ name: 'InternalApi', subnetName: 'subnet1', ...request }] },
  status: {
    observedGeneration: 1,
    conditions: [
      { type: 'Ready', status: 'False', message: 'no address', reason: 'Error', lastTransitionTime: before(600) },
    ],
  },
});

export const readyIpSet = (name: string, address: string, meta: Partial<ObjectMeta> = {}): IPSet => ({
  ...ipSet(name, {}, meta),
  status: {
    observedGeneration: 1,
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: before(600) }],
    reservations: [{ network: 'InternalApi', subnet: 'subnet1', address }],
  },
});

export const reservation = (name: string, address: string): Reservation => ({
  apiVersion: GROUP,
  kind: 'Reservation',
  metadata: metadata(name, { uid: `uid-reservation-${name}` }),
  spec: {
    ipSetRef: { kind: 'IPSet', name, uid: `uid-${name}` },
    reservation: { InternalApi: { network: 'InternalApi', subnet: 'subnet1', address } },
  },
});

/** The block of these addresses, each held by an IPSet. */
export function block(holders: Readonly<Record<string, string>>, space = 'underlay'): AddressBlock {
  const prefix = blockPrefix(address(Object.keys(holders)[0] ?? '172.17.0.1'));
  return {
    apiVersion: 'netloom.io/v1alpha1',
    kind: 'AddressBlock',
    metadata: metadata(blockName(space, prefix)),
    spec: {
      space,
      prefix: `${prefix}`,
      holdings: Object.entries(holders).map(([text, name]) => ({
        address: text,
        holder: { apiGroup: 'network.openstack.org', kind: 'IPSet', name, uid: `uid-${name}` },
        network: 'InternalApi',
        subnet: 'subnet1',
        since: before(600),
      })),
    },
  };
}

export const pool = (name: string, addresses: string[], spec: Partial<IPAddressPool['spec']> = {}): IPAddressPool => ({
  apiVersion: 'metallb.io/v1beta1',
  kind: 'IPAddressPool',
  metadata: metadata(name, { namespace: 'metallb-system' }),
  spec: { addresses, autoAssign: true, avoidBuggyIPs: false, ...spec },
});

export const service = (annotations: Record<string, string> = {}, ...ingress: string[]): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata('keystone', { annotations }),
  spec: { type: 'LoadBalancer' },
  status: { loadBalancer: { ingress: ingress.map((ip) => ({ ip })) } },
});

export function address(text: string): Address {
  const parsed = Address.parse(text);
  if (parsed === undefined) throw new Error(`"${text}" is not an address`);
  return parsed;
}

/** One that runs on node host-0 and is Ready, unless told otherwise. */
export const pod = (name: string, { spec = {}, status = {}, meta = {} }: PodChange = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: metadata(name, { labels: { app: 'web' }, ...meta }),
  spec: { nodeName: 'host-0', containers: [{ name: 'web' }], ...spec },
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: before(60) }],
    ...status,
  },
});

interface PodChange {
  readonly spec?: Partial<Pod['spec']>;
  readonly status?: PodStatus;
  readonly meta?: Partial<ObjectMeta>;
}

/** Of a pod that is not Ready, because of what its container is doing. */
export const notReady = (status: Partial<ContainerStatus>): PodStatus => ({
  conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: before(60) }],
  containerStatuses: [{ name: 'web', image: '', imageID: '', ready: false, restartCount: 0, ...status }],
});

/** Well, unless told otherwise. */
export const node = (name = 'host-0', conditions: NodeCondition[] = [], spec: Partial<Node['spec']> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: metadata(name, { namespace: '' }),
  spec,
  status: {
    conditions:
      conditions.length > 0 ? conditions : [{ type: 'Ready', status: 'True', lastTransitionTime: before(600) }],
  },
});

/** How a finding reads, with what is behind it. */
export const told = (findings: readonly Finding[]): string[] =>
  findings.flatMap(({ severity, says, because }) => [
    `${severity}: ${says}`,
    ...told(because).map((line) => `  ${line}`),
  ]);
