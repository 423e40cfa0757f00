import packageFile from '../../package.json' with { type: 'json' };
import type { Node, NodeCondition } from '../api/core/node.ts';
import { leftOf, scarceOn } from '../pods/host/storage/disk-space.ts';
import { amountsOf } from '../pods/scheduling/requests.ts';
import { timestamp } from '../runtime/timestamp.ts';
import type { Machine, Supplies } from './host-facts.ts';

/** What a host is to others, besides what was measured of it. */
export interface Presence {
  readonly name: string;
  /** Under which others reach it; the first of each family counts. */
  readonly addresses: readonly string[];
  /** Where its agent listens; absent as long as it does not. */
  readonly port: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** What it says it has, whatever the machine has. */
  readonly resources: Readonly<Record<string, string>>;
}

/** Something that keeps the host from doing its work, or some of it. */
export interface Trouble {
  /** Of the condition: one CamelCase word. */
  readonly reason: string;
  readonly message: string;
  /** Whether pods cannot run because of it. */
  readonly isFatal: boolean;
}

const MOST_PODS = '110';
/** As often a host says that its status is still the same. */
const REPORT_EVERY = 60_000;

/** Labels and annotations that are ours to set. */
export function nodeMetadata({ name, labels, annotations }: Presence, { architecture, features }: Machine) {
  const platform = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': architecture };
  const can = [...features].map(([feature, has]) => [`netloom.io/feature-${feature}`, String(has)]);
  return {
    labels: { 'kubernetes.io/hostname': name, ...platform, ...Object.fromEntries(can), ...labels },
    annotations,
  };
}

/** What the host says of itself now; what others say of it stays. */
export function nodeStatus(
  { name, addresses, port, resources }: Presence,
  { machine, supplies, troubles }: { machine: Machine; supplies: Supplies; troubles: readonly Trouble[] },
  before: Node['status'],
  now: number,
): NonNullable<Node['status']> {
  const disk = { 'ephemeral-storage': `${Math.floor(supplies.diskBytes / 1024)}Ki` };
  const capacity = { ...disk, ...lasting(resources, machine) };
  return {
    ...before,
    capacity: { ...before?.capacity, ...capacity },
    allocatable: { ...before?.allocatable, ...capacity },
    conditions: conditionsOf([...pressures(supplies), ready(troubles)], before?.conditions ?? [], now),
    addresses: [
      ...addresses.map((address) => ({ type: 'InternalIP' as const, address })),
      { type: 'Hostname', address: name },
    ],
    ...(port === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: port } } }),
    nodeInfo: {
      machineID: machine.machineId,
      systemUUID: machine.systemUuid,
      bootID: machine.bootId,
      kernelVersion: machine.kernel,
      osImage: machine.osImage,
      containerRuntimeVersion: `netloom://${packageFile.version}`,
      // Tools read the version of Kubernetes in it, whose kubelet this agent stands in for.
      kubeletVersion: `v1.33.0+netloom-${packageFile.version}`,
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: machine.architecture,
    },
    features: { supplementalGroupsPolicy: true },
  };
}

/** What a host has as long as its agent runs. */
const lasting = (resources: Presence['resources'], { cpus, memoryBytes }: Machine): Record<string, string> => ({
  cpu: String(cpus),
  memory: `${Math.floor(memoryBytes / 1024)}Ki`,
  pods: MOST_PODS,
  ...resources,
});

/** Whether the Node says what its host has now, and not what it had under an agent before. */
export function saysWhatThereIs({ status }: Node, { resources }: Presence, machine: Machine): boolean {
  const said = amountsOf(status?.allocatable);
  return [...amountsOf(lasting(resources, machine))].every(([resource, amount]) => said.get(resource) === amount);
}

type Statement = Pick<NodeCondition, 'type' | 'status' | 'reason' | 'message'>;

function ready(troubles: readonly Trouble[]): Statement {
  const worst = troubles.find(({ isFatal }) => isFatal);
  if (worst !== undefined) return { type: 'Ready', status: 'False', reason: worst.reason, message: worst.message };
  const message = ['The agent is at work', ...troubles.map((trouble) => trouble.message)].join('; ');
  return { type: 'Ready', status: 'True', reason: troubles[0]?.reason ?? 'AgentReady', message };
}

const MIB = 1024 ** 2;

function pressures(supplies: Supplies): Statement[] {
  const { memoryAvailable, threads, mostThreads } = supplies;
  const scarce = scarceOn(supplies);
  return [
    pressure('Memory', memoryAvailable < 100 * MIB, `${Math.round(memoryAvailable / MIB)} MiB are available`),
    pressure('Disk', scarce !== undefined, `${leftOf(scarce ?? 'bytes', supplies)} are available`),
    pressure('PID', threads > mostThreads * 0.9, `${threads} of ${mostThreads} threads are in use`),
  ];
}

function pressure(of: 'Memory' | 'Disk' | 'PID', isLow: boolean, measured: string): Statement {
  const enough = { Memory: 'SufficientMemory', Disk: 'NoDiskPressure', PID: 'SufficientPID' }[of];
  return {
    type: `${of}Pressure`,
    status: isLow ? 'True' : 'False',
    reason: isLow ? `HasLittle${of}` : enough,
    // What is measured differs each time: it is news only when there is too little.
    message: isLow ? `Only ${measured}` : `There is enough of it`,
  };
}

function conditionsOf(statements: readonly Statement[], before: readonly NodeCondition[], now: number) {
  const foreign = before.filter(({ type }) => !statements.some((statement) => statement.type === type));
  const known = statements.map((statement) => ({
    statement,
    old: before.find(({ type }) => type === statement.type),
  }));
  const isSame = known.every(
    ({ statement: { status, reason, message }, old }) =>
      old?.status === status && old.reason === reason && old.message === message,
  );
  const heartbeat = known.map(({ old }) => old?.lastHeartbeatTime ?? '').sort()[0] ?? '';
  const isFresh = isSame && now - Date.parse(heartbeat) < REPORT_EVERY;
  const own = known.map(
    ({ statement, old }): NodeCondition => ({
      ...statement,
      lastHeartbeatTime: isFresh ? heartbeat : timestamp(now),
      lastTransitionTime: old?.status === statement.status ? old.lastTransitionTime : timestamp(now),
    }),
  );
  return [...foreign, ...own];
}
