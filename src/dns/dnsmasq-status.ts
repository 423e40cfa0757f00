import type { Deployment } from '../api/apps/workloads.ts';
import type { Pod } from '../api/core/pod.ts';
import type { Service } from '../api/core/service.ts';
import type { DNSMasq, DNSMasqStatus } from '../api/network.openstack.org/dnsmasq.ts';
import { Conditions, readyOf } from '../runtime/conditions.ts';
import { refOf } from '../runtime/ref.ts';
import { nextStatus } from '../runtime/status.ts';
import { fingerprint } from './fingerprint.ts';
import { leftOut } from './hosts-file.ts';
import { obstacleOf } from './obstacle.ts';
import { optionLines, optionsOf } from './options.ts';
import { type Placement, topologyOf } from './placement.ts';

/** What there is of a DNSMasq now. */
export interface Found {
  readonly services: readonly Service[];
  readonly workload: Deployment | undefined;
  readonly pods: readonly Pod[];
  /** ConfigMaps with hosts, by name, and what tells their contents apart. */
  readonly hosts: readonly (readonly [name: string, hash: string])[];
  /** What is left out of ConfigMaps that people wrote themselves. */
  readonly faults: readonly string[];
}

interface Known {
  readonly object: DNSMasq;
  readonly found: Found;
  readonly placement: Placement;
  /** What keeps us from making anything. */
  readonly problem: string | undefined;
  readonly now: number;
}

/** What is said of it, and whether it is news. */
export function dnsMasqStatus(known: Known): { status: DNSMasqStatus; event?: { reason: string; message: string } } {
  const { object, found, placement, problem } = known;
  const conditions = conditionsOf(known).list();
  const { lastAppliedTopology: former, ...before } = object.status ?? {};
  const isPlaced = problem === undefined && placement.fault === undefined;
  const topology = isPlaced ? placement.topology && refOf(placement.topology) : former;
  const status = nextStatus(
    { ...object, status: before },
    {
      conditions,
      hash: { input: fingerprint([optionLines(optionsOf(object)), found.hosts]) },
      readyCount: found.workload?.status?.readyReplicas ?? 0,
      dnsAddresses: addressesOf(found.services),
      dnsClusterAddresses: clusterAddressesOf(found.services),
      // That of the pods there are, also while nobody knows where they would go now.
      ...(topology === undefined ? {} : { lastAppliedTopology: { ...topology } }),
    },
  );
  const { message = '', severity } = readyOf(conditions) ?? {};
  if (message === readyOf(object.status?.conditions)?.message) return { status };
  if (severity === 'Error') return { status, event: { reason: 'DNSMasqNotReady', message } };
  if (found.faults.length === 0) return { status };
  return { status, event: { reason: 'HostsLeftOut', message: leftOut(found.faults) } };
}

function conditionsOf({ object, found, placement, problem, now }: Known): Conditions {
  const about = topologyOf(object) === undefined ? ABOUT : { ...ABOUT, ...ABOUT_TOPOLOGY };
  const conditions = new Conditions({ about, before: object.status?.conditions, now });
  conditions.met('InputReady', 'Input data complete');
  conditions.met('HostsAccepted', 'All hosts are served');
  if (problem !== undefined) {
    conditions.failed('ServiceConfigReady', `Service config create error occurred ${problem}`, { severity: 'Error' });
  } else {
    conditions.met('ServiceConfigReady', 'Service config create completed');
    for (const kind of RIGHTS) conditions.met(`${kind}Ready`, `${kind} created`);
    sayServices(conditions, found.services);
    sayTopology(conditions, placement);
    if (placement.fault === undefined || found.workload !== undefined) sayDeployment(conditions, found);
  }
  // Hosts that cannot be served keep no other host from being served.
  if (found.faults.length > 0) {
    const message = leftOut(found.faults);
    if (conditions.allMet) conditions.set('Ready', { status: 'True', message: `Setup complete, but ${message}` });
    conditions.failed('HostsAccepted', message);
  }
  return conditions;
}

/** What the pods need in order to read hosts. */
const RIGHTS = ['ServiceAccount', 'Role', 'RoleBinding'] as const;

const ABOUT = {
  ...Object.fromEntries(RIGHTS.map((kind) => [`${kind}Ready`, `${kind} not created`])),
  InputReady: 'Input data not checked',
  ServiceConfigReady: 'Service config create not started',
  CreateServiceReady: 'Create service not started',
  DeploymentReady: 'Deployment not started',
  HostsAccepted: 'Hosts not checked',
};

const ABOUT_TOPOLOGY = { TopologyReady: 'Topology config create not started' };

function sayTopology(conditions: Conditions, { topology, fault }: Placement): void {
  if (fault !== undefined) {
    conditions.failed('TopologyReady', `Topology config create error occurred ${fault}`);
  } else if (topology !== undefined) {
    conditions.met('TopologyReady', 'Topology config create completed');
  }
}

function sayServices(conditions: Conditions, services: readonly Service[]): void {
  const pending = services.find(
    (service) => service.spec.type === 'LoadBalancer' && addressesOf([service]).length === 0,
  );
  if (pending === undefined) {
    conditions.met('CreateServiceReady', 'Create service completed');
  } else {
    const detail = `resource is not ready: ${pending.metadata.name} LoadBalancer IP still pending`;
    conditions.failed('CreateServiceReady', `Create service error occurred ${detail}`);
  }
}

function sayDeployment(conditions: Conditions, { workload, pods }: Found): void {
  const obstacle = obstacleOf(pods);
  if (workload !== undefined && isComplete(workload)) {
    conditions.met('DeploymentReady', 'Deployment completed');
  } else if (obstacle !== undefined) {
    const goingOn = (workload?.status?.readyReplicas ?? 0) > 0 ? '; the servers that run go on as they are' : '';
    const message = `Deployment error occurred ${obstacle}${goingOn}`;
    conditions.failed('DeploymentReady', message, { severity: 'Error' });
  } else {
    conditions.waiting('DeploymentReady', 'Deployment in progress');
  }
}

function isComplete({ metadata, spec, status = {} }: Deployment): boolean {
  const wanted = spec.replicas ?? 1;
  return (
    status.observedGeneration === metadata.generation &&
    (status.updatedReplicas ?? 0) === wanted &&
    (status.readyReplicas ?? 0) === wanted &&
    (status.replicas ?? 0) === wanted
  );
}

const addressesOf = (services: readonly Service[]): string[] =>
  unique(
    services.flatMap(({ status }) =>
      (status?.loadBalancer?.ingress ?? []).flatMap(({ ip = '' }) => (ip === '' ? [] : [ip])),
    ),
  );

const clusterAddressesOf = (services: readonly Service[]): string[] =>
  unique(
    services.flatMap(({ spec }) =>
      (spec.clusterIPs ?? [spec.clusterIP ?? '']).filter((ip) => ip !== '' && ip !== 'None'),
    ),
  );

const unique = (values: readonly string[]): string[] => [...new Set(values)];
