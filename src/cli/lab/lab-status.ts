import { LAB_LABEL, Node } from '../../api/core/node.ts';
import { MANAGEMENT_LINK } from '../../lab/document/names.ts';
import { hasCarrier, isManagementCut, type LabFaults } from '../../lab/faults.ts';
import { isReady } from '../../lab/hosts/nodes.ts';
import { isAgentOf, isSupervisorOf, RunningProcesses } from '../../lab/hosts/processes.ts';
import { portCounts } from '../../lab/network/port-counts.ts';
import type { LabPlan, PlannedHost, PlannedLink } from '../../lab/plan/lab-plan.ts';
import { isGone, type LabRecord, readFaults, upCommand } from '../../lab/state/record.ts';
import { LabClient } from '../../lab/works/api.ts';
import { keeperOf } from '../../lab/works/keeping.ts';
import { isNetworkNamespace, networkNamespacePath } from '../../linux/network-namespace.ts';
import { system } from '../../runtime/system.ts';

/** A lab as it is, for people and programs. */
export interface LabStatus {
  readonly name: string;
  readonly file: string;
  readonly complete: boolean;
  /** Whether there is nothing of it but its files, as after a reboot. */
  readonly gone: boolean;
  /** The command that finishes it, or brings it back. */
  readonly up: string;
  readonly management: { readonly subnet: string; readonly bridge: string };
  readonly api?: { readonly server: string; readonly problem?: string };
  readonly keeper?: number;
  readonly hosts: readonly HostStatus[];
  readonly switches: readonly {
    readonly name: string;
    readonly subnets: readonly string[];
    readonly vlans?: readonly number[];
  }[];
  readonly links: readonly LinkStatus[];
}

export interface HostStatus {
  readonly name: string;
  /** `Ready` and `NotReady` are what the API says; `Unknown` when it does not answer; `Dead` who was killed. */
  readonly state: 'Ready' | 'NotReady' | 'Unknown' | 'Dead' | 'Alive' | 'Gone';
  readonly namespace: string;
  readonly management: string;
  readonly underlay?: string;
  readonly agent?: number;
  readonly supervisor?: number;
}

export interface LinkStatus {
  readonly host: string;
  readonly name: string;
  readonly to: string;
  readonly addresses: readonly string[];
  readonly carrier: boolean;
  readonly vlans?: string;
  readonly bitsPerSecond?: number;
  readonly loss?: number;
  readonly delayMs?: number;
  readonly lost?: number;
  readonly refused?: number;
}

export async function statusOf(record: LabRecord): Promise<LabStatus> {
  const { plan, file, api, complete } = record;
  const faults = readFaults(plan.name);
  const isThere = ({ namespace }: PlannedHost) => isNetworkNamespace(networkNamespacePath(namespace));
  const known = api === undefined ? undefined : await nodesOf(plan, api.kubeconfig);
  const running = new RunningProcesses();
  const counts = portCounts(plan);
  const keeper = keeperOf(plan.name);
  return {
    name: plan.name,
    file,
    complete,
    gone: isGone(record),
    up: upCommand(record),
    management: { subnet: plan.management.subnet, bridge: plan.management.bridge },
    ...(api === undefined ? {} : { api: { server: api.server, ...problemOf(known) } }),
    ...(keeper === undefined ? {} : { keeper }),
    hosts: plan.hosts.map((host) =>
      isThere(host) ? hostStatus(host, known, running) : hostWithout(host, faults.dead.includes(host.name)),
    ),
    switches: plan.switches.map(({ name, subnets, vlans }) => ({
      name,
      subnets,
      ...(vlans === undefined ? {} : { vlans }),
    })),
    links: plan.hosts.flatMap((host) => [
      managementStatus(plan, host, { faults, isThere: isThere(host) }),
      ...host.links.map((link) =>
        linkStatus(host, link, { faults, isThere: isThere(host), counts: counts.get(link.port) }),
      ),
    ]),
  };
}

type Known = { readonly nodes: ReadonlyMap<string, Node> } | { readonly problem: string };

async function nodesOf({ name }: LabPlan, kubeconfig: string): Promise<Known> {
  try {
    using api = await LabClient.open(kubeconfig, system);
    const { items } = await api.client.snapshot(Node, { labelSelector: `${LAB_LABEL}=${name}` });
    return { nodes: new Map(items.map((node) => [node.metadata.name, node])) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

const problemOf = (known: Known | undefined) =>
  known !== undefined && 'problem' in known ? { problem: known.problem } : {};

function hostStatus(host: PlannedHost, known: Known | undefined, running: RunningProcesses): HostStatus {
  const processes = running.inHost({ host });
  const agent = processes.find(isAgentOf(host))?.pid;
  const supervisor = processes.find(isSupervisorOf(host))?.pid;
  return {
    ...placeOf(host),
    state: stateOf(host, known),
    ...(agent === undefined ? {} : { agent }),
    ...(supervisor === undefined ? {} : { supervisor }),
  };
}

const hostWithout = (host: PlannedHost, isDead: boolean): HostStatus => ({
  ...placeOf(host),
  state: isDead ? 'Dead' : 'Gone',
});

function placeOf({ name, namespace, management, underlay }: PlannedHost) {
  const [address = ''] = management.address.split('/', 1);
  return { name, namespace, management: address, ...(underlay === undefined ? {} : { underlay }) };
}

function stateOf({ name, agent }: PlannedHost, known: Known | undefined): HostStatus['state'] {
  if (!agent || known === undefined) return 'Alive';
  if ('problem' in known) return 'Unknown';
  return isReady(known.nodes.get(name)) ? 'Ready' : 'NotReady';
}

interface LinkState {
  readonly faults: LabFaults;
  readonly isThere: boolean;
}

const managementStatus = ({ management }: LabPlan, host: PlannedHost, { faults, isThere }: LinkState): LinkStatus => ({
  host: host.name,
  name: MANAGEMENT_LINK,
  to: management.bridge,
  addresses: [host.management.address],
  carrier: isThere && !isManagementCut(faults, host.name),
});

function linkStatus(
  host: PlannedHost,
  link: PlannedLink,
  { faults, isThere, counts }: LinkState & { counts: { lost: number; refused: number } | undefined },
): LinkStatus {
  const { name, addresses, bitsPerSecond, loss, delayMs, to } = link;
  return {
    host: host.name,
    name,
    to: 'switch' in to ? to.switch : `${to.host}:${to.link}`,
    addresses,
    carrier: isThere && hasCarrier(faults, host.name, link),
    ...('switch' in to && to.vlans !== undefined ? { vlans: vlansText(to.vlans) } : {}),
    ...(bitsPerSecond === undefined ? {} : { bitsPerSecond }),
    ...(loss === 0 ? {} : { loss }),
    ...(delayMs === undefined ? {} : { delayMs }),
    ...counts,
  };
}

/** `20` for a port in VLAN 20, `-,20,21` for one that also passes what has no tag. */
function vlansText({ untagged, tagged }: { untagged: number | 'native'; tagged: readonly number[] }): string {
  return untagged === 'native' ? ['untagged', ...tagged].join(',') : `${untagged}`;
}
