import { customResourceDefinition } from '../../src/api/crd.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { allKinds } from '../../src/api/kinds.ts';
import type { Load } from '../shared/load.ts';

export const NETWORKS = ['CtlPlane', 'InternalApi', 'Storage', 'Tenant', 'External'];

const NAMESPACED = '/apis/network.openstack.org/v1beta1/namespaces/default';
export const IPSETS = `${NAMESPACED}/ipsets`;
export const RESERVATIONS = `${NAMESPACED}/reservations`;
export const NETCONFIGS = `${NAMESPACED}/netconfigs`;
export const BLOCKS = '/apis/netloom.io/v1alpha1/namespaces/default/addressblocks';
export const SERVICES = '/api/v1/namespaces/default/services';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const POOLS = '/apis/metallb.io/v1beta1/namespaces/metallb-system';

/** Room for a quarter of a million hosts on each network. */
const netConfig: JsonObject = {
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'NetConfig',
  metadata: { name: 'netconfig' },
  spec: {
    networks: NETWORKS.map((name, i) => ({
      name,
      dnsDomain: `${name.toLowerCase()}.example.com`,
      subnets: [
        {
          name: 'subnet1',
          cidr: `10.${i * 4}.0.0/14`,
          allocationRanges: [{ start: `10.${i * 4}.0.1`, end: `10.${i * 4 + 3}.255.254` }],
        },
      ],
    })),
  },
};

const ipSet = (name: string): JsonObject => ({
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'IPSet',
  metadata: { name },
  spec: { networks: NETWORKS.map((network) => ({ name: network, subnetName: 'subnet1' })) },
});

const service = (name: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: {
    type: 'LoadBalancer',
    // There are fewer node ports than Services here.
    allocateLoadBalancerNodePorts: false,
    selector: { app: name },
    ports: [{ name: 'api', port: 80, targetPort: 8080 }],
  },
});

/** The kinds of Netloom, on an engine without controllers. */
export async function defineKinds(load: Load): Promise<void> {
  for (const kind of allKinds) {
    await load.ask('POST', DEFINITIONS, JSON.parse(JSON.stringify(customResourceDefinition(kind))));
  }
}

export const createNetConfig = (load: Load) => load.ask('POST', NETCONFIGS, netConfig);
export const createIPSet = (load: Load, name: string) => load.ask('POST', IPSETS, ipSet(name));
export const createService = (load: Load, name: string) => load.ask('POST', SERVICES, service(name));

/** Room for 65 000 Services. */
export async function createPool(load: Load): Promise<void> {
  const apiVersion = 'metallb.io/v1beta1';
  await load.ask('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'metallb-system' },
  });
  await load.ask('POST', `${POOLS}/ipaddresspools`, {
    apiVersion,
    kind: 'IPAddressPool',
    metadata: { name: 'pool' },
    spec: { addresses: ['10.200.0.0/16'], avoidBuggyIPs: true },
  });
  await load.ask('POST', `${POOLS}/l2advertisements`, {
    apiVersion,
    kind: 'L2Advertisement',
    metadata: { name: 'all' },
    spec: {},
  });
}

/** Whether an event of a watch shows the object with its addresses. */
export const isReady = (line: string): boolean => line.includes('"message":"Setup complete"');
export const isServed = (line: string): boolean => line.includes('"ingress":[{"ip":');

/** How many writes there were so far. */
export async function revision(load: Load): Promise<number> {
  const found = /^netloom_engine_revision (\d+)$/m.exec(await load.ask('GET', '/metrics'));
  return Number(found?.[1]);
}
