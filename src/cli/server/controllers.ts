import { hostname } from 'node:os';
import { customResourceDefinition } from '../../api/crd.ts';
import { builtinKind } from '../../api/kind.ts';
import { allKinds } from '../../api/kinds.ts';
import { IPAddressPool } from '../../api/metallb.io/ip-address-pool.ts';
import { dnsControllers } from '../../dns/index.ts';
import { ipamControllers } from '../../ipam/index.ts';
import { podsControllers } from '../../pods/index.ts';
import { Client } from '../../runtime/client.ts';
import { kindIsServed } from '../../runtime/kind-arrival.ts';
import type { Log } from '../../runtime/log.ts';
import { Manager } from '../../runtime/manager.ts';
import { managerMetrics } from '../../runtime/manager-metrics.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { system } from '../../runtime/system.ts';
import type { Transport } from '../../runtime/transport.ts';
import { servicesControllers } from '../../services/index.ts';
import { vipsControllers } from '../../vips/index.ts';
import type { AddressOptions } from './address-options.ts';
import type { WorkloadOptions } from './workload-options.ts';

export interface Controllers {
  /** Of the capabilities that run. */
  readonly names: readonly string[];
  stop(): Promise<void>;
}

export interface ControllersOptions {
  readonly transport: Transport;
  readonly log: Log;
  /** Where controllers say what they measure. */
  readonly metrics: Metrics;
  readonly addresses: AddressOptions;
  readonly workloads: WorkloadOptions;
}

const Definition = builtinKind(
  'apiextensions.k8s.io',
  'v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  'Cluster',
);
const FIELD_MANAGER = 'netloom';

/** A server that takes longer is not waited for: controllers do without a kind until it is there. */
const UNTIL_SERVED = 30_000;
/** Of the five seconds that whoever stops us allows, what the controllers get. */
const GRACE = 2_000;

/** Makes the API serve our kinds, and starts everything that acts on them. */
export async function startControllers({
  transport,
  log,
  metrics,
  addresses,
  workloads,
}: ControllersOptions): Promise<Controllers> {
  const client = new Client({ transport, fieldManager: FIELD_MANAGER });
  // Where MetalLB gives the addresses, its kinds are its own.
  const kinds = allKinds.filter(({ group }) => addresses.poolsOf !== 'metallb' || group !== IPAddressPool.group);
  await Promise.all(kinds.map((kind) => client.apply(Definition, customResourceDefinition(kind), { force: true })));
  // Whoever reads that we are ready applies objects of these kinds at once, and some servers publish them a moment later.
  const signal = AbortSignal.timeout(UNTIL_SERVED);
  await Promise.all(kinds.map((kind) => kindIsServed({ client, kind, system, signal })));
  const manager = new Manager({
    transport,
    system,
    log,
    controllers: [
      ...ipamControllers({ ...addresses, metrics }),
      ...vipsControllers({ ...addresses, metrics }),
      ...dnsControllers(),
      ...(workloads.pods === undefined ? [] : podsControllers(workloads.pods)),
      ...(workloads.services ? servicesControllers() : []),
    ],
    fieldManager: FIELD_MANAGER,
    instance: hostname(),
  });
  metrics.collect(() => managerMetrics(manager.report()));
  manager.start();
  const own = [...(workloads.pods === undefined ? [] : ['pods']), ...(workloads.services ? ['services'] : [])];
  const names = ['ipam', 'vips', 'dns', ...own];
  return { names, stop: () => manager.stop({ within: GRACE }) };
}
