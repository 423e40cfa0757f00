import { isDeepStrictEqual } from 'node:util';
import type { LabPlan, PlannedHost, PlannedLink, PlannedSwitch } from './lab-plan.ts';

/** What has to go before a lab can become what another plan says. All else is made so in place, and what runs there does not notice. */
export interface Changes {
  /** That are another thing in the new plan, or nothing; all of them when the network to the API is another. */
  readonly hosts: readonly PlannedHost[];
  /** Of hosts that stay: links that are another thing in the new plan, or nothing. */
  readonly links: readonly { readonly host: PlannedHost; readonly link: PlannedLink }[];
  /** That are gone, or know of VLANs now and did not before, or the other way round. */
  readonly switches: readonly PlannedSwitch[];
  /** Whether the network to the API is another: then nothing stays. */
  readonly isWhole: boolean;
}

export function changesBetween(before: LabPlan, after: LabPlan): Changes {
  const frame = ({ name, namespace, management }: LabPlan) => ({ name, namespace, management });
  if (!isDeepStrictEqual(frame(before), frame(after))) {
    return { hosts: before.hosts, links: [], switches: before.switches, isWhole: true };
  }
  const stays = (host: PlannedHost): PlannedHost | undefined =>
    after.hosts.find((other) => other.name === host.name && isDeepStrictEqual(coreOf(other), coreOf(host)));
  return {
    hosts: before.hosts.filter((host) => stays(host) === undefined),
    links: before.hosts.flatMap((host) => {
      const now = stays(host)?.links.map(wireOf);
      if (now === undefined) return [];
      const changed = host.links.filter((link) => !now.some((other) => isDeepStrictEqual(other, wireOf(link))));
      return changed.map((link) => ({ host, link }));
    }),
    switches: before.switches.filter(
      ({ name, vlans }) =>
        !after.switches.some((other) => other.name === name && (other.vlans === undefined) === (vlans === undefined)),
    ),
    isWhole: false,
  };
}

/** Those that the new plan does not know at all. */
export const goneHosts = (before: LabPlan, after: LabPlan): PlannedHost[] =>
  before.hosts.filter(({ name }) => !after.hosts.some((host) => host.name === name));

/** Those that are Nodes no more. */
export const goneNodes = (before: LabPlan, after: LabPlan): PlannedHost[] =>
  before.hosts.filter(({ name, agent }) => agent && !after.hosts.some((host) => host.name === name && host.agent));

/** Of hosts that stay: taints that the new plan does not have. */
export const goneTaints = (before: LabPlan, after: LabPlan): { host: PlannedHost; taints: PlannedHost['taints'] }[] =>
  before.hosts.flatMap((host) => {
    const now = after.hosts.find(({ name }) => name === host.name);
    const taints = host.taints.filter((taint) => !now?.taints.some((other) => isDeepStrictEqual(other, taint)));
    return now === undefined || taints.length === 0 ? [] : [{ host, taints }];
  });

/** Whether an agent that was started on one of them is right for the other. */
export const isSameForAgent = (one: PlannedHost, other: PlannedHost): boolean =>
  isDeepStrictEqual([one.resources, one.links.map(wireOf)], [other.resources, other.links.map(wireOf)]);

/** Without what can change while its pods run. */
const coreOf = ({ links: _, labels: _labels, taints: _taints, resources: _resources, ...core }: PlannedHost) => core;

/** Without what it is like. */
const wireOf = ({ bitsPerSecond: _, loss: _loss, delayMs: _delay, ...wire }: PlannedLink) => wire;
