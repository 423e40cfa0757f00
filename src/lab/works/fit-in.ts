import { existsSync } from 'node:fs';
import { Prefix } from '../../api/prefix.ts';
import { conflicts } from '../claims.ts';
import type { LabDocument } from '../document/lab-document.ts';
import type { Fault } from '../document/written.ts';
import { foreignNodes } from '../hosts/nodes.ts';
import { LabError } from '../lab-error.ts';
import { chooseManagementSubnet, type UsedNetwork, whoUses } from '../management-subnet.ts';
import { usedNetworks } from '../network/used-networks.ts';
import { managementBridge } from '../plan/kernel-names.ts';
import type { LabPlan, PlannedHost } from '../plan/lab-plan.ts';
import { planLab } from '../plan/plan-lab.ts';
import type { LabRecord } from '../state/record.ts';
import type { LabClient } from './api.ts';

export interface Surroundings {
  readonly file: string;
  readonly api: LabClient | undefined;
  /** The same lab as it was made before. */
  readonly before: LabRecord | undefined;
  readonly others: readonly LabRecord[];
}

/** The plan of a lab that fits in with everything else on this machine and in the API; or a refusal that says with what it does not. */
export async function fitIn(document: LabDocument, around: Surroundings): Promise<LabPlan> {
  const { file, api, before, others } = around;
  refuseOtherApi(before, api);
  const planned = planLab(document, managementFor(document, around));
  if ('faults' in planned) throw LabError.of(file, planned.faults);
  const { plan } = planned;
  const sentences = [
    ...conflicts(plan, api?.connection.server, others),
    ...plan.hosts
      .filter((host) => api !== undefined && isMachine(host))
      .map(({ name }) => `this machine itself is the host ${name}: rename the one in the lab`),
    ...(api === undefined ? [] : await foreignNodes(api.client, plan.name, notYetSaid(plan, api, others))),
  ];
  if (sentences.length > 0) throw new LabError(sentences.join('\n'));
  return plan;
}

/** Without those that are hosts of another lab here, which has been said: their Nodes are not to be deleted. */
function notYetSaid({ hosts }: LabPlan, { connection }: LabClient, others: readonly LabRecord[]): PlannedHost[] {
  const theirs = others.filter(({ api }) => api?.server === connection.server).flatMap(({ plan }) => plan.hosts);
  return hosts.filter(({ name }) => !theirs.some((other) => other.agent && other.name === name));
}

/** What does not fit together within a document, whatever else there is. */
export function ownFaults(document: LabDocument): readonly Fault[] {
  const management = document.management?.subnet ?? chooseManagementSubnet(document.name, ownNetworks(document));
  const planned = management === undefined ? undefined : planLab(document, management);
  return planned !== undefined && 'faults' in planned ? planned.faults : [];
}

/** Nodes in one API would be left behind by a lab that moves to another. */
function refuseOtherApi(before: LabRecord | undefined, api: LabClient | undefined): void {
  if (before?.api === undefined) return;
  const { name } = before.plan;
  if (api === undefined)
    throw new LabError(`the lab ${name} has agents: take it down first, with "netloom lab down ${name}"`);
  if (before.api.server !== api.api.server && before.api.kubeconfig !== api.api.kubeconfig) {
    throw new LabError(
      `the hosts of the lab ${name} are nodes of ${before.api.server}, not of ${api.api.server}: take it down first, with "netloom lab down ${name}"`,
    );
  }
}

function managementFor(document: LabDocument, { file, before, others }: Surroundings): Prefix {
  const used: UsedNetwork[] = [
    ...usedNetworks(managementBridge(document.name)),
    ...ownNetworks(document),
    ...others.flatMap(({ plan }) => {
      const subnet = Prefix.parse(plan.management.subnet);
      return subnet === undefined ? [] : [{ subnet, by: `the lab ${plan.name}` }];
    }),
  ];
  if (document.management !== undefined) {
    const { subnet, at } = document.management;
    const user = whoUses(subnet, used);
    if (user === undefined) return subnet;
    throw LabError.of(file, [
      { ...at, sentence: `${subnet} overlaps ${user.subnet} of ${user.by}: choose another one` },
    ]);
  }
  const kept = before === undefined ? undefined : Prefix.parse(before.plan.management.subnet);
  const chosen =
    kept !== undefined && whoUses(kept, used) === undefined ? kept : chooseManagementSubnet(document.name, used);
  if (chosen !== undefined) return chosen;
  throw new LabError(
    'no network of 198.18.0.0/15 is free on this machine: say one for the lab, such as management: 10.99.0.0/24',
  );
}

function ownNetworks({ switches, cables }: LabDocument): UsedNetwork[] {
  const ofSwitches = switches.flatMap(({ name, subnets, vlans = [] }) =>
    [...subnets, ...vlans.flatMap((vlan) => vlan.subnets)].map((subnet) => ({ subnet, by: `the switch ${name}` })),
  );
  const ofCables = cables.flatMap(({ subnets }) => subnets.map((subnet) => ({ subnet, by: 'a link between hosts' })));
  return [...ofSwitches, ...ofCables].filter(({ subnet }) => subnet.family === 4);
}

/** An agent of the machine itself would be the same Node. */
const isMachine = ({ name, agent }: PlannedHost): boolean =>
  agent && existsSync(`/run/netloom/hosts/${name}/agent.lock`);
