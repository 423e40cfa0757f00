import { Prefix } from '../api/prefix.ts';
import type { LabPlan } from './plan/lab-plan.ts';
import type { LabRecord } from './state/record.ts';

/** What keeps a new lab from being made beside those that are there: each a sentence that says who has it. */
export function conflicts(plan: LabPlan, server: string | undefined, others: readonly LabRecord[]): string[] {
  return others.flatMap((other) => [
    ...(server !== undefined && server === other.api?.server ? sharedNodes(plan, other.plan) : []),
    ...sharedNames(plan, other.plan),
    ...sharedManagement(plan, other.plan),
    ...(server !== undefined && server === other.api?.server ? sharedNetworks(plan, other.plan) : []),
  ]);
}

/** Labs with an API each, or with none, may have hosts of the same names. */
function sharedNodes({ hosts }: LabPlan, other: LabPlan): string[] {
  return hosts
    .filter(({ name, agent }) => agent && other.hosts.some((host) => host.agent && host.name === name))
    .map(
      ({ name }) =>
        `the host ${name} of the lab ${other.name} is a Node of the same cluster: rename one of them, or give this lab an API of its own with --kubeconfig`,
    );
}

/** `netloom-lab-a-b-c` is the host c of a lab a-b, or the host b-c of a lab a. */
function sharedNames(plan: LabPlan, other: LabPlan): string[] {
  const theirs = namespacesOf(other);
  return [...namespacesOf(plan)].flatMap(([namespace, ours]) => {
    const who = theirs.get(namespace);
    return who === undefined
      ? []
      : [`${ours} would have the namespace ${namespace}, which is that of ${who}: rename one of them`];
  });
}

function sharedManagement({ management }: LabPlan, other: LabPlan): string[] {
  return overlap(management.subnet, other.management.subnet)
    ? [
        `the management network ${management.subnet} overlaps ${other.management.subnet}, that of the lab ${other.name}: choose another one`,
      ]
    : [];
}

/** Hosts that are nodes of one cluster would take each other's addresses for their own. */
function sharedNetworks(plan: LabPlan, other: LabPlan): string[] {
  return plan.switches.flatMap(({ name, subnets }) =>
    subnets.flatMap((subnet) =>
      other.switches.flatMap((theirs) =>
        theirs.subnets
          .filter((each) => overlap(subnet, each))
          .map(
            (each) =>
              `${subnet} of the switch ${name} overlaps ${each} of the switch ${theirs.name} in the lab ${other.name}, whose hosts are in the same cluster: choose another network`,
          ),
      ),
    ),
  );
}

function namespacesOf({ name, namespace, hosts }: LabPlan): Map<string, string> {
  return new Map([
    [namespace, `the lab ${name}`],
    ...hosts.map((host): [string, string] => [host.namespace, `the host ${host.name} of the lab ${name}`]),
  ]);
}

function overlap(one: string, other: string): boolean {
  const [a, b] = [Prefix.parse(one), Prefix.parse(other)];
  return a !== undefined && b !== undefined && a.overlaps(b);
}
