import { isDeepStrictEqual } from 'node:util';
import type { LabPlan, PlannedHost } from './lab-plan.ts';

/** What has to go before a lab can become what another plan says. */
export interface Changes {
  /** That are another thing in the new plan, or nothing; all of them when what they are plugged into is another. */
  readonly hosts: readonly PlannedHost[];
  /** Whether switches, or the management network, are not what they were. */
  readonly isWhole: boolean;
}

export function changesBetween(before: LabPlan, after: LabPlan): Changes {
  const frame = ({ hosts: _, ...rest }: LabPlan) => rest;
  if (!isDeepStrictEqual(frame(before), frame(after))) return { hosts: before.hosts, isWhole: true };
  const hosts = before.hosts.filter(
    (host) => !after.hosts.some((other) => other.name === host.name && isDeepStrictEqual(other, host)),
  );
  return { hosts, isWhole: false };
}

/** Those that the new plan does not know at all. */
export const goneHosts = (before: LabPlan, after: LabPlan): PlannedHost[] =>
  before.hosts.filter(({ name }) => !after.hosts.some((host) => host.name === name));
